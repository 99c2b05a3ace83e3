"""How full lists are: a place that a list leaves empty counts as missed, whatever would have stood there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Floats, Ints64


def added_by_rank(a: Ints64, b: Ints64) -> Ints64:
    """The sum of two tables by [model, rank], of which one may go deeper; the table of nobody has no models."""
    if not a.size or not b.size:
        return a if a.size else b
    deep, flat = (a, b) if a.shape[1] >= b.shape[1] else (b, a)
    found = deep.copy()
    found[:, : flat.shape[1]] += flat
    return found


@dataclass(frozen=True, eq=False)
class ListPlaces(Mergeable):
    """How many of some users have an item at each rank; those of other users are added.

    Args:
        users: those with held-out rows; nobody else is counted.
        filled: by [model, rank]; rank 0 counts the users who have a list that is not empty.
        unserved: users who have one from no model.
    """

    users: int
    filled: Ints64 = merged_by(added_by_rank)
    unserved: int = 0

    @classmethod
    def of(cls, held: EvaluationData, low: int, high: int, depth: int) -> ListPlaces:
        """Of the users ``low`` … ``high − 1``, down to a rank."""
        counted = np.diff(held.indptr[low : high + 1]) > 0
        filled = np.zeros((len(held.lists), depth + 1), dtype=np.int64)
        served = np.zeros(len(counted), dtype=np.bool_)
        for own, lists in zip(filled, held.lists, strict=True):
            starts = lists.indptr[low : high + 1]
            lengths = np.where(counted, np.diff(starts), 0)
            served |= lengths > 0
            last = lists.rank[np.maximum(starts[1:] - 1, 0)] if len(lists.rank) else lengths
            gaps = (lengths > 0) & (last > lengths)  # ranks ascend, each once, so that the last tells
            closed = np.bincount(np.minimum(lengths[~gaps], depth), minlength=depth + 1)
            own[1:] = closed[::-1].cumsum()[::-1][1:]  # a list without gaps fills all ranks down to its length
            own[0] = np.count_nonzero(lengths)
            if gaps.any():
                entries = np.repeat(gaps, np.diff(starts))
                ranks = lists.rank[starts[0] : starts[-1]][entries]
                own[1:] += np.bincount(ranks[ranks <= depth], minlength=depth + 1)[1:]
        return cls(int(np.count_nonzero(counted)), filled, int(np.count_nonzero(counted & ~served)))

    @property
    def missing(self) -> Floats:
        """The share of users without a list, by model, besides those who have none from any model."""
        without = self.users - self.unserved - self.filled[:, 0]
        return np.asarray(without / max(self.users, 1), dtype=np.float64)

    def empty(self, k: int | None) -> Floats:
        """The share of places up to a rank that lists leave empty, by model; ``None`` is the deepest that any fills."""
        deepest = int(np.flatnonzero(self.filled[:, 1:].any(axis=0)).max(initial=0)) + 1
        k = deepest if k is None else k
        places = k * np.maximum(self.filled[:, 0], 1)
        return np.asarray(1.0 - self.filled[:, 1 : k + 1].sum(axis=1) / places, dtype=np.float64)


NO_PLACES = ListPlaces(0, np.zeros((0, 1), dtype=np.int64))
