"""Hold-out: one part of the log is kept back for the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.core.bounds import SEED, SHARE
from unskew.core.errors import InputError
from unskew.core.parts import Words, option
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.clock import Clock
from unskew.log.expected import a_log
from unskew.log.ids import stream_of
from unskew.split.split import ChosenBy, Split, Splitter, draws, timed
from unskew.split.splits import Splits
from unskew.split.windows import Window


@dataclass(frozen=True)
class Holdout(Splitter):
    """Hold out a share of the rows or of the users at random, or the latest rows.

    By ``random`` each interaction goes to the test part with probability ``share``, independently of all others,
    by a hash of the seed and the texts of its user and item. So the split depends neither on the order of rows nor on
    which other rows there are, and a test row has been seen with probability P·s exactly: that is what the share
    rules of docs/estimators.md scale by. (A split of exactly ⌊s·n⌋ rows would make rows depend on each other.)

    By ``user`` all rows of a user go the same way. The two parts then hold other people: propensities carry over as
    they are, which an evaluation wants to be told (``share="users"``), and the parts carry no share.

    By ``time`` the last ``share`` of the rows in time order is held out. Rows of the same time are never
    separated: all rows from the cut-off on are test rows, so no training row is as late as a test row. A part cut by
    time has no share of the whole, and neither have the parts of such a part: how likely a pair was to be seen in one
    period is not told by how likely it was to be seen at all. Estimators that need the level of a propensity refuse
    such parts, unless the propensity was written for that period (``known(part=test)``).

    >>> import polars as pl
    >>> from unskew.log import Log
    >>> frame = pl.DataFrame({"user": [1, 2] * 50, "item": range(100), "time": [t // 10 for t in range(100)]})
    >>> train, test = Holdout(0.25, seed=1).splits(Log.from_frame(frame))[0]
    >>> len(train), len(test), train.share, test.share
    (81, 19, 0.75, 0.25)
    >>> train, test = Holdout(0.25, by="time").splits(Log.from_frame(frame))[0]
    >>> len(train), len(test), int(train.time.max()), int(test.time.min()), test.share
    (70, 30, 6, 7, None)
    """

    share: float = option(0.3, SHARE, "of the rows, or users, that are held out")
    by: str = option(
        "random", Words(("random", "user", "time")), "rows or users drawn at random, or the latest rows", changed=True
    )
    seed: int = option(0, SEED, "picks one of the random splits", changed=True)

    name = "holdout"

    @property
    def question(self) -> str:
        """What models are asked."""
        return {
            "random": "Which items are missing where rows were removed at random, from the others, later included?",
            "user": "What do users like of whom the model knows nothing?",
            "time": "What comes after one point in time, from everything before it?",
        }[self.by]

    def splits(self, log: Log) -> Splits:
        """One split."""
        log = a_log(log)
        split = {"random": self._at_random, "user": self._by_user, "time": self._by_time}[self.by](log)
        return Splits(log, str(self), (split,))

    def _at_random(self, log: Log) -> Split:
        return Split(log, draws(log, "holdout", self.seed) < self.share, self.share, label=self.by)

    def _by_user(self, log: Log) -> Split:
        if log.share is not None:
            raise InputError(
                f"{log.account.source}: this log is a random part of another one, and its users cannot be divided "
                "without losing its share.\nDivide the users of the whole log first, and then split the parts.",
                code="sampled-already",
            )
        stream = stream_of(f"holdout user {self.seed} {log.drawn}")
        drawn = pair_uniform(stream, log.users.hashes, np.zeros(len(log.users), dtype=np.uint64))
        return Split(log, (drawn < self.share)[log.user], self.share, label=self.by, chosen_by=ChosenBy.USERS)

    def _by_time(self, log: Log) -> Split:
        time = timed(log, "a hold-out by time")
        first = min(round(len(log) * (1.0 - self.share)), len(log) - 1)
        cutoff, last = int(np.partition(time, first)[first]), int(time.max())
        clock = Clock.of(log, int(time.min()), last)
        text = f"{clock.text(cutoff)} to {clock.text(last)} (included)"
        return Split(log, time >= cutoff, None, label=clock.text(cutoff), window=Window(cutoff, last + 1, None, text))


def holdout(log: Log, share: float = 0.3, *, by: Literal["random", "user", "time"] = "random", seed: int = 0) -> Split:
    """Hold out a share of the rows: ``train, test = holdout(log, 0.3)``; see ``Holdout``."""
    return Holdout(share, by, seed).splits(log)[0]
