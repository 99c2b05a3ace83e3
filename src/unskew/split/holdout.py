"""Hold-out: one part of the log is kept back for the test."""

from __future__ import annotations

from typing import Literal

import numpy as np

from unskew.bounds import SHARE, word
from unskew.errors import InputError
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.split.draws import draws
from unskew.split.split import Split


def holdout(log: Log, test_size: float = 0.3, *, by: Literal["random", "time"] = "random", seed: int = 0) -> Split:
    """Hold out a share of the rows: ``train, test = holdout(log, 0.3)``.

    By ``random`` each interaction goes to the test part with probability ``test_size``, independently of all others,
    by a hash of the seed and the texts of its user and item. So the split depends neither on the order of rows nor on
    which other rows there are, and a test row has been seen with probability P·s exactly: that is what the share
    rules of docs/estimators.md scale by. (A split of exactly ⌊s·n⌋ rows would make rows depend on each other.)

    By ``time`` the last ``test_size`` of the rows in time order is held out. Rows of the same time are never
    separated: all rows from the cut-off on are test rows, so no training row is as late as a test row. A part cut by
    time has no share of the whole, and neither have the parts of such a part: how likely a pair was to be seen in one
    period is not told by how likely it was to be seen at all. Estimators that need the level of a propensity refuse
    such parts, unless the propensity was written for that period (``known(part=test)``).

    Args:
        log: what to split.
        test_size: the share of the test part, between 0 and 1.
        by: ``random`` or ``time``.
        seed: a whole number ≥ 0 that picks one of the random splits.
    """
    test_size = float(SHARE.of(test_size, "test_size"))
    word(by, ("random", "time"), "a hold-out's by")
    if by == "random":
        return Split(log, draws(log, "holdout", seed) < test_size, test_size)
    log = a_log(log)
    if log.time is None:
        raise InputError(
            f"{log.account.source}: a hold-out by time needs a column 'time', and the log has none.\n"
            "Say which column it is with columns={'time': '...'}, or hold out at random."
        )
    first = min(round(len(log) * (1.0 - test_size)), len(log) - 1)
    cutoff = np.partition(log.time, first)[first]
    return Split(log, log.time >= cutoff, None)
