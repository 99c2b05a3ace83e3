"""Whom may be asked about what: all users and items, less what a user has had, less what must not be asked.

Logs with zeros tell the relevance of all that they hold, so that only pairs outside them are asked about. A log of
positives only is selected on success (a shown item is clicked by chance): it cannot stand for its pairs, and answers
are drawn from all candidates, those in the log included (MATHS §16).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.kernels.arrays import Bools, Ints32, Ints64
from unskew.kernels.design import merge_rows
from unskew.log import Ids, Log
from unskew.log.recommendations import exclusions


@dataclass(frozen=True, eq=False)
class Candidates:
    """All pairs that may be asked about, without a matrix of users × items.

    Args:
        gone_start, gone: items of each user that are no candidates, ascending (CSR).
        pool: codes of the items that may be shown, ascending; ``place`` is where an item stands there, or −1.
        asked: which users may be asked.
    """

    users: Ids
    items: Ids
    gone_start: Ints64
    gone: Ints32
    pool: Ints32
    place: Ints64
    asked: Bools

    @classmethod
    def of(
        cls,
        users: Ids,
        items: Ids,
        had: tuple[Log | None, ...],
        shown: Bools | None = None,
        asked: Bools | None = None,
    ) -> Candidates:
        """The candidates that remain.

        Args:
            had: logs whose pairs are no candidates.
            shown: which items may be shown; all by default.
            asked: which users may be asked; all by default.
        """
        start, gone = exclusions(had[0], users, items)
        for log in had[1:]:
            start, gone = _merged((start, gone), exclusions(log, users, items))
        pool = np.arange(len(items)) if shown is None else np.flatnonzero(shown)
        place = np.full(len(items), -1, dtype=np.int64)
        place[pool] = np.arange(len(pool))
        everybody = np.ones(len(users), dtype=np.bool_)
        return cls(users, items, start, gone, pool.astype(np.int32), place, everybody if asked is None else asked)

    def sizes(self) -> Ints64:
        """How many candidates each user has; none where the user may not be asked."""
        number = np.diff(self.gone_start)
        if len(self.pool) < len(self.items):
            user = np.repeat(np.arange(len(number), dtype=np.int32), number)
            number = np.bincount(user[(self.place >= 0)[self.gone]], minlength=len(number))
        left = len(self.pool) - number
        return np.where(self.asked, left, 0).astype(np.int64)

    def may_ask(self, user: Ints32 | Ints64, item: Ints32 | Ints64) -> Bools:
        """Which of these pairs (codes) are candidates."""
        found = self.asked[user] & (self.place[item] >= 0)
        if not len(self.gone):
            return np.asarray(found, dtype=np.bool_)
        low, end = self.gone_start[user], self.gone_start[np.asarray(user) + 1]
        high = end.copy()
        while (open_ := low < high).any():  # bisection of all rows at once, each inside its own user's items
            middle = (low + high) // 2
            below = self.gone[np.minimum(middle, len(self.gone) - 1)] < item
            low, high = np.where(open_ & below, middle + 1, low), np.where(open_ & ~below, middle, high)
        gone = (low < end) & (self.gone[np.minimum(low, len(self.gone) - 1)] == item)
        return np.asarray(found & ~gone, dtype=np.bool_)


def _merged(a: tuple[Ints64, Ints32], b: tuple[Ints64, Ints32]) -> tuple[Ints64, Ints32]:
    if not len(a[1]) or not len(b[1]):
        return a if len(a[1]) else b
    start, out = np.zeros(len(a[0]), dtype=np.int64), np.empty(len(a[1]) + len(b[1]), dtype=np.int32)
    size = merge_rows(*a, *b, start, out)
    return start, out[:size]
