"""A split: which rows of a log train, which are held out and with what probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.bounds import SEED
from unskew.core.errors import InputError
from unskew.core.parts import Part
from unskew.kernels.arrays import Bools, Floats, Ints64, present
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.log.ids import stream_of
from unskew.split.rows import Masked, Rows

if TYPE_CHECKING:
    from unskew.split.windows import Window


class ChosenBy(StrEnum):
    """What decided to which part a row belongs."""

    CHANCE = "chance"
    USERS = "users"  # all rows of a user together, by chance
    TIME = "time"


@dataclass(frozen=True, eq=False)
class Split:
    """Two parts of one log; unpacks as ``train, test = split``.

    The parts are masks over the rows of the log, ``kept`` and ``held_out``. The logs ``train`` and ``test`` are made
    from them each time that they are asked for, so that a list of folds does not hold the log as often as it has folds.

    Args:
        test_rows: the rows that are held out: a mask, or a rule that makes one.
        share: the probability with which a row was held out; None where time decided, or where it differs between rows.
        train_rows: the rows that train, where they are not all the others; likewise.
        label: what the fold is called among the folds of its splitter: a number, or when its window begins.
        window: from when to when the fold judges, and how far back it learns, where time decides.
        users: how many users are judged, where that was counted.
        left_out: rows that could have been held out and are not, counted by their reason.
        chosen_by: what decided; time, where there is no share and nothing else is said.
        sampled_by: the way of drawing, where rows have unequal chances: only naive estimates are made of the parts.
    """

    log: Log
    test_rows: Rows | Bools
    share: float | None
    train_rows: Rows | Bools | None = None
    label: str = ""
    window: Window | None = None
    users: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    chosen_by: ChosenBy | None = None
    sampled_by: str = ""

    def __post_init__(self) -> None:
        if self.chosen_by is None:
            object.__setattr__(self, "chosen_by", ChosenBy.TIME if self.share is None else ChosenBy.CHANCE)
        for name in ("test_rows", "train_rows"):
            if isinstance(mask := getattr(self, name), np.ndarray):
                object.__setattr__(self, name, Masked(mask))
        if not (self.test_count and self.train_count):
            part = "test" if not self.test_count else "training"
            raise InputError(
                f"{self.log.account.source}: the {part} part of this split would be empty "
                f"(the log has {len(self.log):,} rows).\nUse another share or another seed, or a larger log.",
                code="empty-part",
                part=part,
            )

    def __repr__(self) -> str:
        return f"<Split {self.label} of {len(self.log):,} rows: {self.train_count:,} train, {self.test_count:,} test>"

    @property
    def test_count(self) -> int:
        """How many rows are held out."""
        return _rows(self.test_rows).count

    @property
    def train_count(self) -> int:
        """How many rows train."""
        return len(self.log) - self.test_count if self.train_rows is None else _rows(self.train_rows).count

    @property
    def held_out(self) -> Bools:
        """Which rows of the log are test rows."""
        return _rows(self.test_rows).mask()

    @property
    def kept(self) -> Bools:
        """Which rows of the log train."""
        return ~self.held_out if self.train_rows is None else _rows(self.train_rows).mask()

    @property
    def train(self) -> Log:
        """The rows that train, as a log over the same users and items; none is as late as a window that is judged."""
        part = self._part(self.kept, None if self.share is None else 1.0 - self.share)
        if self.window is not None and present(part.time).max() >= self.window.start:
            raise AssertionError(f"a row of the window {self.window.text} would train")
        return part

    @property
    def test(self) -> Log:
        """The rows that are held out, as a log over the same users and items."""
        return self._part(_rows(self.test_rows).chosen(), self.share)

    def __iter__(self) -> Iterator[Log]:
        yield self.train
        yield self.test

    def added(self, since: Split) -> Log | None:
        """The training rows that ``since`` did not have, if it had no others: what a model can be updated with.

        None where ``since`` trained on rows that this split does not train on.
        """
        before, now = since.kept, self.kept
        if (before & ~now).any():
            return None
        return self._part(now & ~before, None if self.share is None else 1.0 - self.share)

    def plot(self) -> Any:
        """A picture of the two parts (needs the extra ``report``)."""
        from unskew.split.splits import Splits

        return Splits(self.log, self.label, (self,)).plot()

    def _part(self, rows: Bools | Ints64, share: float | None) -> Log:
        """A part of a part has the product of both shares; what time has cut has none, and neither have its parts.

        Parts with other users carry no share: a pair of theirs was as likely to be seen as in the whole.
        """
        part = self.log.take(rows)
        if self.sampled_by:
            part = replace(part, share=None, sampled_by=self.sampled_by)
        if self.chosen_by is ChosenBy.TIME:
            return replace(part, share=None, cut_by_time=True)
        if share is None:
            return part
        if self.chosen_by is ChosenBy.USERS or part.cut_by_time:
            return replace(part, drawn=part.drawn * share)
        whole = 1.0 if part.share is None else part.share
        return replace(part, share=whole * share, drawn=part.drawn * share)


class Splitter(Part, ABC):
    """A way of holding out rows of a log."""

    @property
    def question(self) -> str:
        """What models are asked when they are judged by this splitter, in a sentence."""
        return "How well do models predict the rows that this splitter holds out?"

    @abstractmethod
    def splits(self, log: Log) -> Sequence[Split]:
        """The splits of a log: one for a hold-out, one per fold for cross-validation, in the order of time.

        Ours are ``Splits``, which also tell what was skipped; a list will do (``split.of`` makes ``Splits`` of it).
        """


def timed(log: Log, what: str) -> Ints64:
    """The times of a log; ``what`` cannot do without."""
    if log.time is None:
        raise InputError(
            f"{log.account.source}: {what} needs a column 'time', and the log has none.\n"
            "Say which column it is with columns={'time': '...'}, or split at random.",
            code="missing-column",
            column="time",
        )
    if not len(log):
        raise InputError(f"{log.account.source}: {what} needs rows, and the log has none.", code="empty-log")
    return log.time


def draws(log: Log, purpose: str, seed: int, rows: Ints64 | None = None) -> Floats:
    """A uniform number for each row that depends on (purpose, seed, the log's share, user, item) and nothing else.

    The purpose keeps splits apart from each other and from the hash that breaks ties between equal scores: if both
    were one, a recommender that scores everything alike would list exactly the held-out items first. The share keeps
    a split of a part independent of the split that made the part; a part that time has cut has no share, but what
    random splits drew before and after the cut.

    Args:
        rows: the places of the rows that draw; all of them by default.
    """
    log, seed = a_log(log), int(SEED.of(seed, "the seed"))
    past = f"{log.drawn} cut by time" if log.cut_by_time else log.share
    stream = stream_of(f"{purpose} {seed} {past}")
    user, item = (log.user, log.item) if rows is None else (log.user[rows], log.item[rows])
    return pair_uniform(stream, log.users.hashes[user], log.items.hashes[item])


def _rows(given: Rows | Bools) -> Rows:
    assert isinstance(given, Rows)  # masks were wrapped when the split was made
    return given
