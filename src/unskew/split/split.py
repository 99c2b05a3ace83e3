"""A split: which rows of a log are held out, with what probability, and what every way of splitting shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unskew.bounds import SEED
from unskew.errors import InputError
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.log.ids import stream_of
from unskew.parts import Part


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows of a log are held out; unpacks as ``train, test = split``.

    Args:
        held_out: a mask over its rows, true for the test part.
        share: the probability with which a row was held out; None where time decided: the parts of such a split have
            no share, and neither have their parts.
    """

    log: Log
    held_out: npt.NDArray[np.bool_]
    share: float | None

    def __post_init__(self) -> None:
        held_out = int(np.count_nonzero(self.held_out))
        if not 0 < held_out < len(self.held_out):
            part = "test" if not held_out else "training"
            raise InputError(
                f"{self.log.account.source}: the {part} part of this split would be empty "
                f"(the log has {len(self.log):,} rows).\nUse another share or another seed, or a larger log."
            )

    @cached_property
    def train(self) -> Log:
        """The rows that stay."""
        return self._part(~self.held_out, None if self.share is None else 1.0 - self.share)

    @cached_property
    def test(self) -> Log:
        """The rows that are held out."""
        return self._part(self.held_out, self.share)

    def __iter__(self) -> Iterator[Log]:
        return iter((self.train, self.test))

    def _part(self, rows: npt.NDArray[np.bool_], share: float | None) -> Log:
        """A part of a part has the product of both shares; a part cut by time has none, and neither have its parts."""
        part = self.log.take(rows)
        if share is None:
            return replace(part, share=None, cut_by_time=True)
        if part.cut_by_time:
            return replace(part, drawn=part.drawn * share)
        whole = 1.0 if part.share is None else part.share
        return replace(part, share=whole * share, drawn=part.drawn * share)


class Splitter(Part, ABC):
    """A way of holding out rows of a log."""

    @abstractmethod
    def splits(self, log: Log) -> list[Split]:
        """The splits of a log: one for a hold-out, one per fold for cross-validation."""


def draws(log: Log, purpose: str, seed: int) -> npt.NDArray[np.float64]:
    """A uniform number for each row that depends on (purpose, seed, the log's share, user, item) and nothing else.

    The purpose keeps splits apart from each other and from the hash that breaks ties between equal scores: if both
    were one, a recommender that scores everything alike would list exactly the held-out items first. The share keeps
    a split of a part independent of the split that made the part; a part that time has cut has no share, but what
    random splits drew before and after the cut.
    """
    log, seed = a_log(log), int(SEED.of(seed, "the seed"))
    past = f"{log.drawn} cut by time" if log.cut_by_time else log.share
    stream = stream_of(f"{purpose} {seed} {past}")
    return pair_uniform(stream, log.users.hashes[log.user], log.items.hashes[log.item])
