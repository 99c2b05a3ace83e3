"""Hold-out: one part of the log is kept back for the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.bounds import SEED, SHARE
from unskew.errors import InputError
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.parts import Words, option
from unskew.split.split import Split, Splitter, draws
from unskew.split.splits import Splits


@dataclass(frozen=True)
class Holdout(Splitter):
    """Hold out a share of the rows, at random or the latest ones.

    By ``random`` each interaction goes to the test part with probability ``share``, independently of all others,
    by a hash of the seed and the texts of its user and item. So the split depends neither on the order of rows nor on
    which other rows there are, and a test row has been seen with probability P·s exactly: that is what the share
    rules of docs/estimators.md scale by. (A split of exactly ⌊s·n⌋ rows would make rows depend on each other.)

    By ``time`` the last ``share`` of the rows in time order is held out. Rows of the same time are never
    separated: all rows from the cut-off on are test rows, so no training row is as late as a test row. A part cut by
    time has no share of the whole, and neither have the parts of such a part: how likely a pair was to be seen in one
    period is not told by how likely it was to be seen at all. Estimators that need the level of a propensity refuse
    such parts, unless the propensity was written for that period (``known(part=test)``).
    """

    share: float = option(0.3, SHARE, "of the rows that are held out")
    by: str = option("random", Words(("random", "time")), "which rows: drawn at random, or the latest", changed=True)
    seed: int = option(0, SEED, "picks one of the random splits", changed=True)

    name = "holdout"

    def splits(self, log: Log) -> Splits:
        """One split."""
        return Splits(log, str(self), (self._split(a_log(log)),))

    def _split(self, log: Log) -> Split:
        if self.by == "random":
            return Split(log, draws(log, "holdout", self.seed) < self.share, self.share, label=self.by)
        if log.time is None:
            raise InputError(
                f"{log.account.source}: a hold-out by time needs a column 'time', and the log has none.\n"
                "Say which column it is with columns={'time': '...'}, or hold out at random."
            )
        first = min(round(len(log) * (1.0 - self.share)), len(log) - 1)
        cutoff = np.partition(log.time, first)[first]
        return Split(log, log.time >= cutoff, None, label=self.by)


def holdout(log: Log, share: float = 0.3, *, by: Literal["random", "time"] = "random", seed: int = 0) -> Split:
    """Hold out a share of the rows: ``train, test = holdout(log, 0.3)``; see ``Holdout``."""
    return Holdout(share, by, seed).splits(log)[0]
