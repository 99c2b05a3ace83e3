"""Does the share that was told fit the logs? A wrong one makes every absolute propensity wrong by the same factor.

Of a whole log a random s went to the test part and s_train to the training part (1 − s, unless a nested split says
otherwise), so among n rows of both about n·s/(s + s_train) are test rows, give or take √(n·p(1 − p)).
"""

from __future__ import annotations

import math

from unskew.alignment.inputs import Rules
from unskew.alignment.rows import share_of, train_share
from unskew.log import Log
from unskew.propensity import Propensity

ROUNDED = 0.01  # 0.33 for a third is the same share
ERRORS = 4.0  # standard errors by which the rows must be off
OFF = 0.05  # and the share of the estimates' level that this must be: splits of exact sizes or inside users are rounded


def doubts(test: Log, train: Log | None, propensity: Propensity | None, rules: Rules) -> list[str]:
    """A told share that is not the one used, or that the numbers of rows contradict.

    Quiet where rows say nothing of the share: without a training log, where the parts hold different users, where a
    split of ours made the test log, and where only one of the logs has values (rows of the other were chosen by them).
    """
    used = share_of(propensity, test, rules)
    if rules.by_users or used is None:
        return []
    found = []
    if rules.share is not None and not math.isclose(rules.share, used, rel_tol=ROUNDED):
        found.append(
            f"--share {rules.share:g} is not used: "
            + ("the test log comes from a split that" if used == test.share else f"'{propensity}' says that it")
            + f" holds {used:g} of the whole."
        )
    if test.share is None and train is not None and (test.value is None) == (train.value is None):
        found += _contradicted(_read(test), _read(train), used, train_share(used, rules))
    return found


def _contradicted(test: int, train: int, share: float, rest: float) -> list[str]:
    both = test + train
    expected, seen = share / (share + rest), test / both
    chance = ERRORS * math.sqrt(expected * (1.0 - expected) / both)
    if abs(seen - expected) <= max(chance, OFF * expected):
        return []
    nested = f" and the training log {rest:g}" if not math.isclose(share + rest, 1.0) else ""
    wanted = f", which makes {expected:.3g} of the rows of both" if nested else ""
    return [
        f"The test log is said to hold {share:g} of the whole{nested}{wanted}; but {test:,} of {both:,} rows in the "
        f"two logs, {seen:.3g}, are test rows. Absolute propensities are scaled by the share: tell the one by which "
        "the log was split. (If rows were left out of one of the logs afterwards, the share of the split is right.)"
    ]


def _read(log: Log) -> int:
    """The rows as they came, with those that were dropped as wrong or repeated; of a part of a log its own rows."""
    read = len(log) + sum(log.account.dropped.values())
    return read if read == log.account.rows else len(log)
