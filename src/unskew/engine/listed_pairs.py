"""An outcome model's predictions for listed pairs, block by block: the cost is that of the lists, never users × items.

Only candidates count: an item of the user's training data can be listed but not be a hit. An item that no log shows is
a candidate as well, since it may merely not have been seen, unless a catalogue was given that lacks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.kernels.arrays import Bools, Floats, Ints32
from unskew.kernels.coding import known, unseen
from unskew.log import Log, Recommendations


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Which listed pairs are candidates, and what an outcome model predicts for them.

    Args:
        logged: which items the catalogue holds.
        closed: whether that is all there is, so that other listed items are no candidates.
        excluded: the users' training rows, where only unseen items are candidates.
        predict: q of pairs of codes, ascending by user; ``None`` without an outcome model.
        users: the codes of the users, where they are some of those that ``excluded`` and ``predict`` know.
        depth: the deepest rank that is worth something: entries below it get no prediction.
        outcomes: the least and the largest outcome, which predictions are compared with.
    """

    logged: Bools
    closed: bool = True
    excluded: Log | None = None
    predict: Callable[[Ints32, Ints32], Floats] | None = None
    users: Ints32 | None = None
    depth: int | None = None
    outcomes: tuple[float, float] = (0.0, 1.0)

    def candidates(self, lists: Recommendations, low: int, high: int) -> Bools:
        """Which entries of the lists of users ``low`` … ``high − 1`` are candidates."""
        first, last = lists.indptr[low], lists.indptr[high]
        item, candidate = lists.item[first:last], np.empty(last - first, dtype=np.bool_)
        known(item, self.logged if self.closed else np.ones_like(self.logged), candidate)
        if self.excluded is not None:
            free = np.empty(len(item), dtype=np.bool_)
            stamp = np.full(len(self.logged), -1, dtype=np.int64)
            users = self._codes(low, high)
            start = lists.indptr[low : high + 1] - first
            unseen(start, item, users, self.excluded.indptr, self.excluded.item, stamp, free)
            candidate &= free
        return candidate

    def of_users(self, users: Ints32) -> ListedPairs:
        """The same for some of the users."""
        return replace(self, users=users if self.users is None else self.users[users])

    def inside(self, lists: Recommendations, low: int, high: int) -> Bools | None:
        """Which entries are items of the catalogue; ``None`` where all candidates are."""
        if self.closed:
            return None
        item = lists.item[lists.indptr[low] : lists.indptr[high]]
        found = np.empty(len(item), dtype=np.bool_)
        known(item, self.logged, found)
        return None if found.all() else found

    def pairs(self, lists: Recommendations, low: int, high: int, candidate: Bools) -> tuple[Ints32, Ints32]:
        """Users and items of the entries that are candidates, as ``predict`` takes them."""
        item = lists.item[lists.indptr[low] : lists.indptr[high]]
        user = np.repeat(self._codes(low, high), np.diff(lists.indptr[low : high + 1]))
        return (user, item) if candidate.all() else (user[candidate], item[candidate])

    def predictions(
        self, lists: Recommendations, low: int, high: int, candidate: Bools
    ) -> tuple[Floats | None, PredictionRange]:
        """q of each entry, 0 where it is no candidate or too deep to count, and how far all of them reach."""
        if self.predict is None:
            return None, NO_PREDICTIONS
        if self.depth is not None:
            candidate = candidate & (lists.rank[lists.indptr[low] : lists.indptr[high]] <= self.depth)
        predicted = self.predict(*self.pairs(lists, low, high, candidate))
        reach = PredictionRange.of(predicted, self.outcomes)
        if len(predicted) == len(candidate):
            return predicted, reach
        q = np.zeros(len(candidate))
        q[candidate] = predicted
        return q, reach

    def _codes(self, low: int, high: int) -> Ints32:
        return np.arange(low, high, dtype=np.int32) if self.users is None else self.users[low:high]
