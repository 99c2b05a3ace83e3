"""Does the share that was told fit the logs? A wrong one makes every absolute propensity wrong by the same factor.

Of a whole log a random s went to the test part and s_train to the training part (1 − s, unless a nested split says
otherwise), so among n rows of both about n·s/(s + s_train) are test rows, give or take √(n·p(1 − p)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from unskew.alignment.inputs import Rules
from unskew.alignment.rows import train_share
from unskew.log import Log

ERRORS = 4.0  # standard errors by which the rows must be off
OFF = 0.05  # and the share of the estimates' level that this must be: splits of exact sizes or inside users are rounded


@dataclass(frozen=True)
class ShareCheck:
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


def contradicted_share(test: Log, train: Log | None, used: float, rules: Rules) -> ShareCheck | None:
    """The share that is used, where the numbers of rows contradict it.

    ``None`` where rows say nothing of the share: without a training log, where a split of ours made the test log, and
    where only one of the logs has values (rows of the other were chosen by them).
    """
    if test.share is not None or train is None or (test.value is None) != (train.value is None):
        return None
    rest, rows = train_share(used, rules), _read(test)
    both = rows + _read(train)
    expected, seen = used / (used + rest), rows / both
    chance = ERRORS * math.sqrt(expected * (1.0 - expected) / both)
    if abs(seen - expected) <= max(chance, OFF * expected):
        return None
    return ShareCheck(used, rest, expected, seen, rows, both)


def _read(log: Log) -> int:
    """The rows as they came, with those that were dropped as wrong or repeated; of a part of a log its own rows."""
    read = len(log) + sum(log.account.dropped.values())
    return read if read == log.account.rows else len(log)
