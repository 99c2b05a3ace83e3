"""How were the training and test logs divided? Users and times say what cannot be meant.

A random split of interactions leaves most users in both parts, and mixes the times of both. So:

- logs without a common user were divided by users (then propensities carry over, and the population is that of the
  test log: ``share="users"``), or the ids are written differently;
- a test log that is earlier than the training log is the training log: the two were swapped;
- a test log that is later than the training log is no random share of both.

Splits of ours remember how they were made, and are not doubted; of a handful of rows anything may come by chance.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.alignment.inputs import Share
from unskew.errors import InputError
from unskew.kernels.arrays import Bools, Ints64, present
from unskew.log import Log
from unskew.plain import plain
from unskew.propensity import Propensity, Scope

FEW = 10  # rows or users of which a random split may put all on one side
MOST = 0.9  # of the common users, whose test rows are all earlier than their training rows


def check_division(test: Log, train: Log | None, share: Share, propensity: Propensity | None) -> None:
    """Refuse two logs that cannot be the training and test parts of anything, or not those of the given share."""
    if isinstance(share, float) and test.cut_by_time:
        raise InputError(
            f"share {share:g}: the test log was cut off by time, so it is no random share of the whole.\nLeave the "
            "share out; a propensity that was written for the test period is used with known(part=test)."
        )
    if isinstance(share, float) and getattr(propensity, "part", None) == Scope.TEST:
        raise InputError(
            f"share {share:g} says that propensities are of the whole log, and '{propensity}' that they are of the "
            "test rows.\nLeave one of them out."
        )
    if train is None or test.share is not None or not len(test) or not len(train):
        return
    random = isinstance(share, float) or getattr(propensity, "share", None) is not None
    _common_users(test, train, share, random)
    _times(test, train, random)


def _common_users(test: Log, train: Log, share: Share, random: bool) -> None:
    tested, trained = _active(test), _active(train)
    if random and min(tested.sum(), trained.sum()) < FEW:
        return
    known = train.users.into(test.users)[trained]
    common = int(np.count_nonzero(tested[known[known >= 0]]))
    if share == "users" or common:
        return
    mine, theirs = (log.users.values.filter(pl.Series(active))[0] for log, active in ((test, tested), (train, trained)))
    raise InputError(
        f"{test.account.source}: none of its {int(tested.sum()):,} users has a row in the training log "
        f"{train.account.source} ({int(trained.sum()):,} users).\n"
        "If the two logs hold different users on purpose, say so with share='users': the users of the "
        f"test log alone are then the population. Else compare how ids are written: '{plain(mine)}' in the test log, "
        f"'{plain(theirs)}' in the training log."
    )


def _times(test: Log, train: Log, random: bool) -> None:
    if test.time is None or train.time is None or (test.clock is None) != (train.clock is None):
        return
    if random and min(len(test), len(train)) < FEW:
        return
    if test.time.max() < train.time.min() or _earlier_by_user(test, train):
        tested, trained = _span(test), _span(train)
        raise InputError(
            f"{test.account.source}: the test log is earlier than the training log {train.account.source}: the one "
            f"goes from {tested[0]} to {tested[1]}, the other from {trained[0]} to {trained[1]}.\n"
            "What is judged must not come before what was learnt from: swap the two logs, or check that both columns "
            "'time' have the same unit."
        )
    if random and test.time.min() > train.time.max():
        tested, trained = _span(test), _span(train)
        raise InputError(
            f"{test.account.source}: all its rows (from {tested[0]} on) are later than those of the training log "
            f"{train.account.source} (up to {trained[1]}), so it is no random share of both.\n"
            "Leave the share out. Propensities of the test period give a level to ips and dr; with others use snips."
        )


def _earlier_by_user(test: Log, train: Log) -> bool:
    """Whether, inside nearly every user that both logs have, test rows come before training rows."""
    into = train.users.into(test.users)
    latest, first = _extreme(test, np.maximum), _extreme(train, np.minimum)
    both = np.flatnonzero((into >= 0) & _active(train))
    both = both[_active(test)[into[both]]]
    if len(both) < FEW:
        return False
    return bool(np.mean(latest[into[both]] < first[both]) >= MOST)


def _extreme(log: Log, which: np.ufunc) -> Ints64:
    """The first or last time of every user; of users without rows nothing that means anything."""
    time = present(log.time)
    return np.asarray(which.reduceat(np.append(time, time[-1]), log.indptr[:-1]), dtype=np.int64)


def _active(log: Log) -> Bools:
    return np.asarray(np.diff(log.indptr) > 0)


def _span(log: Log) -> tuple[str, str]:
    """The first and the last time of a log, as they were written."""
    time = present(log.time)
    ends = pl.Series([int(time.min()), int(time.max())])
    if log.clock is not None:
        zone = log.clock.time_zone if isinstance(log.clock, pl.Datetime) else None
        ends = ends.cast(pl.Datetime("us", zone)).cast(log.clock)
    return str(ends[0]), str(ends[1])
