"""Leave one out: one row of each user is held out, drawn at random or the last one (LOOCV, jeunen18 §2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.core.bounds import SEED, Whole
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.parts import Words, option
from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.split.rows import Listed
from unskew.split.split import ChosenBy, Split, Splitter, draws, timed
from unskew.split.splits import Splits

ONE_ROW = Notice("users with one row only", code="one-row")
PASSED = 2.0  # above every draw


@dataclass(frozen=True)
class LeaveOneOut(Splitter):
    """Hold out one row of each user who has several, at random or the last one.

    A draw is a hash of the seed and the texts of user and item, so that it depends on no other user. Users with one row
    only would have no past: they stay in training, and are counted. A row of a user with n rows is held out with
    probability 1/n, so that the parts have no share, and propensities of the log do not hold for them: only naive
    estimates are made of them. Recall is then the hit rate, and leaving out a row of the past lets the future predict
    it: ``sliding_window`` does not.

    >>> import polars as pl
    >>> from unskew.log import Log
    >>> log = Log.from_frame(pl.DataFrame({"user": [1, 1, 1, 2, 2, 3], "item": [1, 2, 3, 1, 3, 2], "time": range(6)}))
    >>> folds = LeaveOneOut("random", repeats=10).splits(log)
    >>> len(folds), folds[0].train_count, folds[0].test_count, dict(folds[0].left_out)
    (10, 4, 2, {'users with one row only': 1})
    >>> LeaveOneOut("last").splits(log)[0].test.to_frame().select("user", "item").rows()
    [(1, 3), (2, 3)]
    """

    which: str = option("random", Words(("random", "last")), "of each user's rows", unnamed=True)
    repeats: int = option(1, Whole(1, 1000, "Every repetition is a fit of its own."), "draws, each a fold")
    seed: int = option(0, SEED, "picks one of the random draws", changed=True)

    name = "leave_one_out"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.which == "last" and self.repeats > 1:
            raise InputError(
                "'leave_one_out': repeats are other random draws, and the last row is the same in all of them. Leave "
                "repeats out, or draw at random.",
                code="conflicting-arguments",
                option="repeats",
            )

    @property
    def question(self) -> str:
        """What models are asked."""
        if self.which == "last":
            return "What is each user's last item, from everything else, which for other users may be later?"
        return "Which item is missing among those of a user, from everything else, later rows included?"

    def splits(self, log: Log) -> Splits:
        """One split per repetition."""
        log = a_log(log)
        alone = int(np.count_nonzero(np.diff(log.indptr) == 1))
        left_out: dict[str, int] = {ONE_ROW: alone} if alone else {}
        notes: tuple[str, ...] = ()
        last = None
        if self.which == "last":
            last = _last(log, timed(log, "leaving the last row out"))
            if tied := int(np.count_nonzero(np.bincount(log.user[last]) > 1)):
                users = "1 user has" if tied == 1 else f"{tied:,} users have"
                notes = (
                    Notice(
                        f"{users} several rows at their last time: one of them is drawn, and the others train.",
                        code="tied-times",
                        users=tied,
                    ),
                )
        folds = tuple(self._fold(log, repeat, last, left_out) for repeat in range(self.repeats))
        return Splits(log, str(self), folds, notes=notes)

    def _fold(self, log: Log, repeat: int, last: Bools | None, left_out: dict[str, int]) -> Split:
        rows = Listed(_one_each(log, draws(log, f"leave_one_out {repeat}", self.seed), last), len(log))
        return Split(
            log,
            rows,
            None,
            label=f"{repeat + 1}" if last is None else "last",
            users=rows.count,
            left_out=left_out,
            chosen_by=ChosenBy.CHANCE if last is None else ChosenBy.TIME,
            sampled_by=str(self),
        )


def _last(log: Log, time: Ints64) -> Bools:
    """The rows that are the latest of their users who have several."""
    sizes = np.diff(log.indptr)
    latest = np.maximum.reduceat(time, log.indptr[:-1][sizes > 0])
    return np.asarray((time == np.repeat(latest, sizes[sizes > 0])) & np.repeat(sizes > 1, sizes))


def _one_each(log: Log, drawn: Floats, among: Bools | None) -> Ints64:
    """The place of the row with the least draw of each user who has several rows, among some of them."""
    sizes = np.diff(log.indptr)
    if among is not None:
        drawn = np.where(among, drawn, PASSED)
    least = np.minimum.reduceat(drawn, log.indptr[:-1][sizes > 0]) if len(log) else drawn
    best = np.flatnonzero((drawn == np.repeat(least, sizes[sizes > 0])) & np.repeat(sizes > 1, sizes))
    return best[np.diff(log.user[best], prepend=-1) > 0]


def leave_one_out(log: Log, which: Literal["random", "last"] = "random", *, repeats: int = 1, seed: int = 0) -> Splits:
    """Hold out one row of each user: ``for train, test in leave_one_out(log, repeats=10)``; see ``LeaveOneOut``."""
    return LeaveOneOut(which, repeats, seed).splits(log)
