"""The rows of a simulation as they come, and as logs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unskew.log import Account, Feedback, Ids, Log
from unskew_papers.arrays import Codes, Floats, Ints64, starts_of


@dataclass(eq=False)
class ShopRows:
    """Rows in the order of visits; those of a user hang together by ``head`` and ``link``.

    Args:
        user: of each visit.
        visit, item, time, place, chance: of each row, as far as ``count``; behind it is room.
    """

    users: Ids
    items: Ids
    user: Codes
    head: Ints64
    link: Ints64
    visit: Ints64
    item: Codes
    time: Ints64
    place: Codes
    chance: Floats
    count: int = 0

    @classmethod
    def empty(cls, users: Ids, items: Ids, user: Codes) -> ShopRows:
        """No rows yet."""
        whole, codes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        return cls(users, items, user, np.full(len(users), -1), whole, whole, codes, whole, codes, np.empty(0))

    def reserve(self, more: int) -> None:
        """Make room for so many more."""
        if self.count + more > len(self.link):
            for name in ("link", "visit", "item", "time", "place", "chance"):
                setattr(self, name, np.resize(getattr(self, name), 2 * self.count + more))

    def log(self, since: int = 0) -> Log:
        """The rows from ``since`` on as a log with everything but policies."""
        rows = slice(since, self.count)
        user, item = self.user[self.visit[rows]], self.item[rows]
        order = np.lexsort((item, user))
        return Log(
            self.users,
            self.items,
            starts_of(np.bincount(user, minlength=len(self.users))),
            item[order],
            time=self.time[rows][order],
            propensity=self.chance[rows][order],
            columns={"place": pl.Series("place", self.place[rows][order])},
            feedback=Feedback.IMPLICIT,
            clock=pl.Datetime("us"),
            account=Account("simulated", self.count - since),
        )


def rows_of(log: Log, users: Codes) -> Log:
    """The rows of some users, who are its only users."""
    sizes = np.diff(log.indptr)[users]
    indptr = starts_of(sizes)
    order = np.repeat(log.indptr[users] - indptr[:-1], sizes) + np.arange(indptr[-1])
    names = Ids(log.users.values.gather(users))
    return Log(names, log.items, indptr, log.item[order], feedback=Feedback.IMPLICIT)
