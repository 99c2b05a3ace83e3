"""Which held-out rows are judged, and with which propensities; what is left out is counted by its reason.

A wrong share of the whole makes every absolute propensity wrong by the same factor, so it is held against the logs: of
a whole log a random s went to the test part and s_train to the training part (1 − s, unless a nested split says
otherwise), so among n rows of both about n·s/(s + s_train) are test rows, give or take √(n·p(1 − p)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from unskew.alignment.inputs import Rules
from unskew.core.bounds import SMALLEST
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Bools, Floats
from unskew.kernels.coding import unseen
from unskew.log import Ids, Log
from unskew.log.relevance import gains
from unskew.propensity import Level, Propensity, Scope, Scored, part_propensity
from unskew.propensity.base import checked

IN_TRAINING = "already in training"  # why rows were dropped
ERRORS = 4.0  # standard errors by which the rows must be off
OFF = 0.05  # and the share of the estimates' level that this must be: splits of exact sizes or inside users are rounded


def inside(log: Log, users: Ids) -> Bools:
    """Which rows belong to users of the population."""
    there = log.users.into(users) >= 0
    return np.ones(len(log), dtype=np.bool_) if there.all() else np.asarray(there[log.user])


def those_inside(log: Log, users: Ids) -> Log:
    """The rows of users of the population: the log itself, where all of them are."""
    return log if (log.users.into(users) >= 0).all() else log.take(inside(log, users))


def judged(test: Log, train: Log | None, users: Ids, items: Ids, rules: Rules, dropped: dict[str, int]) -> Log:
    """The held-out rows inside the population and among the candidates, with their gains and their share, coded."""
    test = with_share(test, rules)
    test = replace(test, gain=gains(test, rules.feedback, rules.relevant) if rules.ranks else np.ones(len(test)))
    keep = inside(test, users)
    if not keep.all():
        if not rules.drop_invalid:
            who = test.users.values[int(test.user[np.argmin(keep)])]
            raise InputError(
                f"{test.account.source}: user '{plain(who)}' has rows but is not in the population (users=…).\n"
                "Add the user there, or drop such rows with invalid='drop'; the result will say how many were dropped.",
                code="outside-population",
            )
        dropped["user outside the population"] = int(np.count_nonzero(~keep))
        test = test.take(keep)
    test = test.recode(users, items)
    return test if train is None or not rules.unseen else _outside_training(test, train, dropped)


def _outside_training(test: Log, train: Log, dropped: dict[str, int]) -> Log:
    """Held-out pairs that are not in training: with unseen candidates nothing else can be recommended."""
    keep = np.empty(len(test), dtype=np.bool_)
    everyone = np.arange(len(test.users), dtype=np.int32)
    stamp = np.full(len(test.items), -1, dtype=np.int64)
    again = int(unseen(test.indptr, test.item, everyone, train.indptr, train.item, stamp, keep))
    if not again:
        return test
    dropped[IN_TRAINING] = again
    return test.take(keep)


@dataclass(frozen=True)
class ColdItems:
    """Rows on items that training never showed: how many, and the shares of rows and of weight, where known."""

    count: int
    of_rows: float | None = None
    of_weight: float | None = None


@dataclass(frozen=True, eq=False)
class WeighedFacts(Mergeable):
    """What became of some rows when they got their propensities; those of other users are added.

    Args:
        missing: rows without a propensity, which were left out.
        rows: those that are left; ``weight`` is their Σ 1/P.
        floored: rows whose propensity is a guess, as the model says.
        cold, cold_weight: rows on items that training never showed, where its counts are known, and their Σ 1/P.
        capped: rows that the model set to 1; ``above`` those that the share of the training part did.
        doubted: what the propensity's own doubts rest on.
    """

    missing: int
    rows: int
    weight: float
    floored: int
    cold: int
    cold_weight: float
    capped: int
    above: int
    doubted: Floats | None

    @property
    def cold_items(self) -> ColdItems | None:
        """Rows whose propensity is a guess."""
        if self.missing or not self.floored:
            return None
        if not self.cold:
            return ColdItems(self.floored)
        return ColdItems(self.cold, self.cold / self.rows, self.cold_weight / self.weight)


class WeighedRows(NamedTuple):
    """The rows that have a propensity, and P of each in the test part."""

    rows: Log
    propensity: Floats
    facts: WeighedFacts


class Weighed(NamedTuple):
    """What a reader should know of the propensities of all rows.

    Args:
        cold: rows whose propensity is a guess.
        capped: how many propensities came out above 1 and were set to 1.
        doubts: what the propensity itself says of them.
    """

    cold: ColdItems | None
    capped: int
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, facts: WeighedFacts, doubts: Sequence[str]) -> Weighed:
        """From the facts of all users."""
        return cls(facts.cold_items, max(facts.capped, facts.above), tuple(doubts))


def with_propensities(test: Log, model: Propensity, rules: Rules, shown: Floats | None = None) -> WeighedRows:
    """The rows that have a propensity, and P of each; ``shown`` are the training positives of every item."""
    scored = checked(model, test)
    above = _above(scored, model, test, rules)
    rows = in_test_part(scored.rows, model, test, rules)
    if (least := float(np.nanmin(rows, initial=1.0))) < SMALLEST:
        raise InputError(
            f"'{model}': the test log's share of P is {least:g} for some rows: too small to weigh by. Is the share of "
            "the test log in the whole (share=…) right?",
            code="too-small",
        )
    missing = np.isnan(rows)
    if missing.any():
        test, rows = test.take(~missing), rows[~missing]
    inverse, cold = 1.0 / rows, np.zeros(len(rows), dtype=np.bool_)
    if shown is not None and scored.floored:
        cold = shown[test.item] == 0.0
    facts = WeighedFacts(
        missing=int(np.count_nonzero(missing)),
        rows=len(rows),
        weight=float(inverse.sum()),
        floored=scored.floored,
        cold=int(np.count_nonzero(cold)),
        cold_weight=float(inverse[cold].sum()),
        capped=scored.capped,
        above=above,
        doubted=model.doubted(test),
    )
    return WeighedRows(test, rows, facts)


def cut_by_time(test: Log, rules: Rules) -> bool:
    """Whether time decided which rows are in one of the logs: a split of ours remembers it, or their times show it."""
    return test.cut_by_time or rules.train_cut or rules.later


def split_assumption(test: Log, rules: Rules) -> str:
    """What weights that are known up to a factor assume of the split, in words that go on after "and".

    After a random split of which s went to the test part, a pair outside training had the chance P·s/(1 − P(1 − s)):
    that is proportional to P only where P is small. Empty where training says nothing of the test rows: all items are
    candidates, users were split, or time split the log.
    """
    share = share_of(None, test, rules)
    if not rules.unseen or rules.by_users or cut_by_time(test, rules) or (share is not None and share >= 1.0):
        return ""
    when = "before the split" if share is not None else "unless time split the log"
    return f"all chances to be seen were small {when}"


def with_share(test: Log, rules: Rules) -> Log:
    """The test log with the share that it was said to have, where no split of ours says it."""
    if rules.share is None or test.share is not None or test.cut_by_time:
        return test
    return replace(test, share=rules.share, drawn=rules.share)


def in_test_part(rows: Floats, model: Propensity, test: Log, rules: Rules) -> Floats:
    """Absolute propensities of the whole log or of its training part, scaled to its test part; others as they are."""
    part, share = model.refers(test), share_of(model, test, rules)
    if part is Scope.TEST or rules.by_users or share is None or not has_level(model, test, rules):
        return rows
    train = train_share(share, rules)
    whole = rows if part is Scope.LOG else np.minimum(rows / train, 1.0)
    return part_propensity(whole, share, unseen=rules.unseen, train=train)


def _above(scored: Scored, model: Propensity, test: Log, rules: Rules) -> int:
    """Rows set to 1 because P of the training part over its share, P of the whole log, exceeds 1."""
    share = share_of(model, test, rules)
    if model.refers(test) is not Scope.TRAIN or rules.by_users or share is None or not has_level(model, test, rules):
        return 0
    return int(np.count_nonzero(scored.rows > train_share(share, rules)))


def train_share(share: float, rules: Rules) -> float:
    """The training part's share of the whole: as its split says, else the rest."""
    return rules.train_share if rules.train_share is not None else 1.0 - share


def has_level(model: Propensity, test: Log, rules: Rules) -> bool:
    """Whether the level of the test rows' propensities means something.

    They must be absolute, and speak of the test log itself, or of other users of the same kind, or of a log of which
    the test log is a random part with a known share. Neither may time have cut off the test log; nor the training log,
    where P of the rest given training is asked for, or P was fitted there.
    """
    if model.level is Level.RELATIVE:
        return False
    part = model.refers(test)
    if part is Scope.TEST:
        return True
    if test.cut_by_time or (rules.train_cut and (rules.unseen or part is Scope.TRAIN)):
        return False
    return rules.by_users or share_of(model, test, rules) is not None


def share_of(model: Propensity | None, test: Log, rules: Rules) -> float | None:
    """The test part's share of the whole: as the propensity or the split knows it, else as it was given."""
    if test.cut_by_time:
        return None
    known = test.share if model is None else model.share_of(test)
    return rules.share if known is None else known


class ShareCheck(NamedTuple):
    """A share of the whole that the numbers of rows contradict.

    Args:
        share, rest: of the test log and of the training log, as they were told.
        expected, seen: the test log's part of the rows of both, as it should be and as it is.
        test, both: how many rows there are.
    """

    share: float
    rest: float
    expected: float
    seen: float
    test: int
    both: int


def contradicted_share(
    test: Log, train: Log | None, rows: tuple[int, int], used: float, rules: Rules
) -> ShareCheck | None:
    """The share that is used, where the numbers of rows contradict it.

    ``None`` where rows say nothing of the share: without a training log, where a split of ours made the test log, and
    where only one of the logs has values (rows of the other were chosen by them).

    Args:
        rows: of the test log and of the training log, as they came.
    """
    if test.share is not None or train is None or (test.value is None) != (train.value is None):
        return None
    rest, both = train_share(used, rules), sum(rows)
    expected, seen = used / (used + rest), rows[0] / both
    chance = ERRORS * math.sqrt(expected * (1.0 - expected) / both)
    if abs(seen - expected) <= max(chance, OFF * expected):
        return None
    return ShareCheck(used, rest, expected, seen, rows[0], both)


def read_rows(log: Log) -> int:
    """The rows as they came, with those that were dropped as wrong or repeated; of a part of a log its own rows."""
    read = len(log) + sum(log.account.dropped.values())
    return read if read == log.account.rows else len(log)
