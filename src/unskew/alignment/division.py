"""How were the training and test logs divided? Users and times say what cannot be meant.

A random split of interactions leaves most users in both parts, and mixes the times of both. So:

- logs without a common user were divided by users (then propensities carry over, and the population is that of the
  test log: ``share="users"``), or the ids are written differently;
- a test log that is earlier than the training log is the training log: the two were swapped;
- a test log that is later than the training log is no random share of both: time divided them (``later``);
- where both logs have propensities and no order in time, these may speak of the log that was divided: its share is
  asked for, since the level and the candidates depend on it.

Splits of ours remember how they were made, and are not doubted; of a handful of rows anything may come by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unskew.alignment.inputs import Share
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Bools, Ints64, present
from unskew.log import Log
from unskew.log.ids import lesser
from unskew.propensity import Propensity, Scope

FEW = 10  # rows or users of which a random split may put all on one side
MOST = 0.9  # of the common users, whose test rows are all earlier than their training rows


Span = tuple[int, int]  # the first and the last time


def _wider(a: Span | None, b: Span | None) -> Span | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


@dataclass(frozen=True)
class DivisionFacts(Mergeable):
    """What the rows of some users in both logs say of the division; those of other users are added.

    Args:
        rows, train_rows: of the test log and of the training log.
        tested, trained, common: users with rows in either, and in both.
        user, train_user: the first user of either.
        times, train_times: the spans of both, where both have comparable times.
        earlier: common users whose test rows are all earlier than their training rows.
        trained_propensity: whether the training log has a column ``propensity``.
    """

    rows: int
    train_rows: int
    tested: int
    trained: int
    common: int
    earlier: int
    user: Any = merged_by(lesser)
    train_user: Any = merged_by(lesser)
    times: Span | None = merged_by(_wider)
    train_times: Span | None = merged_by(_wider)
    trained_propensity: bool = merged_by(max)

    @property
    def later(self) -> bool:
        """Whether all test rows are later than all training rows."""
        return _later(self.times, self.train_times, min(self.rows, self.train_rows))

    @classmethod
    def of(cls, test: Log, train: Log) -> DivisionFacts:
        """Of two logs."""
        tested, trained = _active(test), _active(train)
        into = train.users.into(test.users)
        both = np.flatnonzero((into >= 0) & trained)
        both = both[tested[into[both]]]
        timed, earlier = _timed(test, train), 0
        if timed and len(both):
            latest, first = _extreme(test, np.maximum), _extreme(train, np.minimum)
            earlier = int(np.count_nonzero(latest[into[both]] < first[both]))
        return cls(
            rows=len(test),
            train_rows=len(train),
            tested=int(tested.sum()),
            trained=int(trained.sum()),
            common=len(both),
            earlier=earlier,
            user=_first(test, tested),
            train_user=_first(train, trained),
            times=_span(test) if timed else None,
            train_times=_span(train) if timed else None,
            trained_propensity=train.propensity is not None,
        )


def later(test: Log, train: Log) -> bool:
    """Whether all rows of a test log are later than all of a training log, so that time divided them."""
    return _timed(test, train) and _later(_span(test), _span(train), min(len(test), len(train)))


def _later(times: Span | None, train_times: Span | None, rows: int) -> bool:
    return rows >= FEW and times is not None and train_times is not None and times[0] > train_times[1]


def _first(log: Log, active: Bools) -> Any:
    return log.users.values.filter(pl.Series(active))[0] if active.any() else None


def check_division(test: Log, train: Log | None, share: Share, propensity: Propensity | None) -> None:
    """Refuse two logs that cannot be the training and test parts of anything, or not those of the given share."""
    judge_division(test, train, share, propensity, lambda log: DivisionFacts.of(test, log))


def judge_division(
    test: Log, train: Log | None, share: Share, propensity: Propensity | None, facts: Callable[[Log], DivisionFacts]
) -> None:
    """The same where the rows are elsewhere: logs tell their marks only, and ``facts`` what is known of the rows."""
    if isinstance(share, float) and test.cut_by_time:
        raise InputError(
            f"share {share:g}: the test log was cut off by time, so it is no random share of the whole.\nLeave the "
            "share out; a propensity that was written for the test period is used with known(part=test).",
            code="share-of-time-cut",
        )
    if isinstance(share, float) and getattr(propensity, "part", None) == Scope.TEST:
        raise InputError(
            f"share {share:g} says that propensities are of the whole log, and '{propensity}' that they are of the "
            "test rows.\nLeave one of them out.",
            code="conflicting-arguments",
        )
    if train is None or test.share is not None:
        return
    found = facts(train)
    if not found.rows or not found.train_rows:
        return
    random = isinstance(share, float) or getattr(propensity, "share", None) is not None
    _common_users(test, train, found, share, random)
    _times(test, train, found, random)
    if share is None and propensity is not None and propensity.known and found.trained_propensity:
        _whose_propensities(test, train, found, propensity)


def _whose_propensities(test: Log, train: Log, facts: DivisionFacts, propensity: Propensity) -> None:
    """Refuse a column that both logs have, where nothing says whether it speaks of both together."""
    in_order = facts.times and facts.train_times and facts.times[0] >= facts.train_times[1]
    if in_order or test.cut_by_time or propensity.share_of(test) is not None:
        return
    if getattr(propensity, "part", None) is not None or "propensity" not in propensity.reads:
        return
    part = facts.rows / (facts.rows + facts.train_rows)
    raise InputError(
        f"{test.account.source}: the training log {train.account.source} has a column 'propensity' as well, and no "
        "times say how the two logs were divided: propensities of a whole log are not those of a part of it.\n"
        f"If one log was divided at random, say which share of it the test log is (share={part:.2g}, by the numbers of "
        "rows); share='users' if its users were divided; propensity='known(part=test)' if the column was written for "
        "the test log alone.",
        code="share-missing",
    )


def _timed(test: Log, train: Log) -> bool:
    """Whether both have times that can be compared."""
    return test.time is not None and train.time is not None and (test.clock is None) == (train.clock is None)


def _common_users(test: Log, train: Log, facts: DivisionFacts, share: Share, random: bool) -> None:
    if random and min(facts.tested, facts.trained) < FEW:
        return
    if share == "users" or facts.common:
        return
    raise InputError(
        f"{test.account.source}: none of its {facts.tested:,} users has a row in the training log "
        f"{train.account.source} ({facts.trained:,} users).\n"
        "If the two logs hold different users on purpose, say so with share='users': the users of the "
        f"test log alone are then the population. Else compare how ids are written: '{plain(facts.user)}' in the test "
        f"log, '{plain(facts.train_user)}' in the training log.",
        code="no-common-users",
    )


def _times(test: Log, train: Log, facts: DivisionFacts, random: bool) -> None:
    if facts.times is None or facts.train_times is None:
        return
    if random and min(facts.rows, facts.train_rows) < FEW:
        return
    nearly_all = facts.common >= FEW and facts.earlier / facts.common >= MOST
    if facts.times[1] < facts.train_times[0] or nearly_all:
        tested, trained = _written(test, facts.times), _written(train, facts.train_times)
        raise InputError(
            f"{test.account.source}: the test log is earlier than the training log {train.account.source}: the one "
            f"goes from {tested[0]} to {tested[1]}, the other from {trained[0]} to {trained[1]}.\n"
            "What is judged must not come before what was learnt from: swap the two logs, or check that both columns "
            "'time' have the same unit.",
            code="test-before-training",
        )
    if random and facts.later:
        tested, trained = _written(test, facts.times), _written(train, facts.train_times)
        raise InputError(
            f"{test.account.source}: all its rows (from {tested[0]} on) are later than those of the training log "
            f"{train.account.source} (up to {trained[1]}), so it is no random share of both.\n"
            "Leave the share out. Propensities of the test period give a level to ips and dr; with others use snips.",
            code="share-of-time-cut",
        )


def _extreme(log: Log, which: np.ufunc) -> Ints64:
    """The first or last time of every user; of users without rows nothing that means anything."""
    time = present(log.time)
    return np.asarray(which.reduceat(np.append(time, time[-1]), log.indptr[:-1]), dtype=np.int64)


def _active(log: Log) -> Bools:
    return np.asarray(np.diff(log.indptr) > 0)


def _span(log: Log) -> Span | None:
    """The first and the last time of a log; ``None`` without rows."""
    time = present(log.time)
    return (int(time.min()), int(time.max())) if len(time) else None


def _written(log: Log, span: Span) -> tuple[str, str]:
    """A span as the times of a log were written."""
    ends = pl.Series(span)
    if log.clock is not None:
        zone = log.clock.time_zone if isinstance(log.clock, pl.Datetime) else None
        ends = ends.cast(pl.Datetime("us", zone)).cast(log.clock)
    return str(ends[0]), str(ends[1])
