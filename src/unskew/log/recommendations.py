"""Recommendations: per user an ordered list, rank 1 first. Ranks are taken as given; gaps are allowed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl

from unskew.log.ids import Codes, Ids
from unskew.log.log import Account, Integers, Log


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Lists of one recommender; entry e of user u stands at ``indptr[u] ≤ e < indptr[u + 1]``, ranks ascending.

    Args:
        tied: users whose cut-off fell between equal scores (the hash of user and item decided); None if unknown.
    """

    users: Ids
    items: Ids
    indptr: Integers
    item: Codes
    rank: Codes
    tied: int | None = None
    account: Account = field(default_factory=lambda: Account("memory", 0))

    def __repr__(self) -> str:
        lists = int(np.count_nonzero(np.diff(self.indptr)))
        return f"<Recommendations {len(self.item):,} entries, {lists:,} lists, longest rank {self.depth}>"

    @property
    def depth(self) -> int:
        """The largest rank in any list (0 if there is none)."""
        return int(self.rank.max(initial=0))

    def to_frame(self) -> pl.DataFrame:
        """The lists as a table ``user, item, rank`` with the original ids."""
        user = np.repeat(np.arange(len(self.users)), np.diff(self.indptr))
        return pl.DataFrame(
            {"user": self.users.values[user], "item": self.items.values[self.item], "rank": self.rank}
        )


class Recommender(Protocol):
    """Anything that can make lists: for each of these users the k best items that are not in ``seen``."""

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations: ...
