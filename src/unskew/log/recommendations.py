"""Recommendations: per user an ordered list, rank 1 first. Ranks are taken as given; gaps are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.coding import unseen
from unskew.log.expected import a_log, some_ids
from unskew.log.ids import Codes, Ids
from unskew.log.log import Account, Integers, Invalid, Log
from unskew.log.order import pick, regroup, starts_of


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Lists of one recommender; entry e of user u stands at ``indptr[u] ≤ e < indptr[u + 1]``, ranks ascending.

    Args:
        item: item code of each entry; −1 only after ``recode``, for items that the new catalogue lacks.
        rank: of each entry; never changed in place, as lists of several models may share the array.
        tied: users whose cut-off fell between equal scores (the hash of user and item decided); None if unknown.
    """

    users: Ids
    items: Ids
    indptr: Integers
    item: Codes
    rank: Codes
    tied: int | None = None
    account: Account = field(default_factory=lambda: Account("memory", 0))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        invalid: Invalid = "error",
        source: str = "frame",
    ) -> Recommendations:
        """The lists in a dataframe: pandas, polars (eager or lazy), pyarrow, DuckDB, whatever narwhals knows.

        Args:
            frame: one row per entry; columns as in ``read_recommendations``, which explains the other arguments too.
            source: what messages call the frame.
        """
        from unskew.log.lists import OPTIONAL, REQUIRED, lists_of
        from unskew.log.sources import table_of_frame

        return lists_of(table_of_frame(frame, source, REQUIRED, OPTIONAL, columns=columns, invalid=invalid))

    def __repr__(self) -> str:
        lists = int(np.count_nonzero(np.diff(self.indptr)))
        return f"<Recommendations {len(self.item):,} entries, {lists:,} lists, longest rank {self.depth}>"

    @property
    def depth(self) -> int:
        """The largest rank in any list (0 if there is none); the last of each is its largest."""
        return int(self.rank[self.indptr[1:][np.diff(self.indptr) > 0] - 1].max(initial=0))

    def only(self, keep: npt.NDArray[np.bool_], *, close: bool) -> Recommendations:
        """The entries that a mask keeps; ``close`` numbers the ranks of each list 1, 2, 3, … afterwards."""
        before = starts_of(keep)  # how many entries are kept before each
        indptr = before[self.indptr]
        rank = self.rank[keep]
        if close:
            lengths = np.diff(indptr)
            rank = (np.arange(1, len(rank) + 1) - np.repeat(indptr[:-1], lengths)).astype(np.int32)
        return replace(self, indptr=indptr, item=self.item[keep], rank=rank)

    def drop_seen(self, seen: Log) -> Recommendations:
        """The lists without items of the user's row in ``seen``, ranks closed up to 1, 2, 3, …

        For evaluations in which only new items count. The number of removed entries is in
        ``account.dropped["already seen"]``.
        """
        keep, found = self._unseen(seen)
        account = replace(self.account, dropped={**self.account.dropped, "already seen": found})
        return replace(self.only(keep, close=True), account=account)

    def count_seen(self, seen: Log) -> int:
        """How many entries are in the user's row of ``seen``."""
        return self._unseen(seen)[1]

    def _unseen(self, seen: Log) -> tuple[npt.NDArray[np.bool_], int]:
        keep = np.empty(len(self.item), dtype=np.bool_)
        seen_item = seen.item if seen.items is self.items else seen.items.into(self.items)[seen.item]
        stamp = np.full(len(self.items), -1, dtype=np.int64)
        row = self.users.into(seen.users)
        return keep, int(unseen(self.indptr, self.item, row, seen.indptr, seen_item, stamp, keep))

    def of_users(self, users: Codes) -> Recommendations:
        """The lists of some users, by their codes."""
        indptr, order = regroup(self.indptr, users)
        names = Ids(self.users.values.gather(users))
        return replace(self, users=names, indptr=indptr, item=pick(self.item, order), rank=pick(self.rank, order))

    def recode(self, users: Ids, items: Ids) -> Recommendations:
        """The same lists over other vocabularies: one list per given user, empty where we have none.

        Lists of other users are left out; items that the new vocabulary lacks keep their place in the list with the
        code −1, so that ranks do not change.
        """
        if users is self.users and items is self.items:
            return self
        indptr, order = regroup(self.indptr, users.into(self.users))
        item = pick(self.item, order)
        if items is not self.items:
            item = np.append(self.items.into(items), np.int32(-1))[item]  # −1 looks up the −1 at the end
        return replace(self, users=users, items=items, indptr=indptr, item=item, rank=pick(self.rank, order))

    def to_frame(self) -> pl.DataFrame:
        """The lists as a table ``user, item, rank`` with the original ids (null for items without a code)."""
        user = np.repeat(np.arange(len(self.users)), np.diff(self.indptr))
        item = pl.select(pl.when(pl.Series(self.item) >= 0).then(pl.Series(self.item))).to_series()
        return pl.DataFrame(
            {"user": self.users.values[user], "item": self.items.values.gather(item), "rank": self.rank}
        )


def exclusions(seen: Log | None, users: Ids, items: Ids) -> tuple[Integers, Codes]:
    """Items of ``seen`` in the codes of ``users`` and ``items``, per user and strictly ascending (CSR).

    They are what a user has already had, and is not recommended or counted again.
    """
    users = some_ids(users)
    if seen is None:
        return np.zeros(len(users) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    if a_log(seen).users is users and seen.items is items and _ascending(seen):
        return seen.indptr, seen.item
    rows, codes = seen.users.into(users), seen.items.into(items)
    if _the_same(rows, users) and _the_same(codes, items) and _ascending(seen):
        return seen.indptr, seen.item
    user, item = rows[seen.user], codes[seen.item]
    known = (user >= 0) & (item >= 0)
    pair = user[known].astype(np.int64) * len(items) + item[known]
    if not np.all(pair[1:] > pair[:-1]):
        pair = np.unique(pair)
    counts = np.bincount(pair // max(1, len(items)), minlength=len(users))
    return starts_of(counts), (pair % max(1, len(items))).astype(np.int32)


def _the_same(codes: Codes, other: Ids) -> bool:
    """Whether a vocabulary is the other one, by these codes of its ids."""
    return len(codes) == len(other) and np.array_equal(codes, np.arange(len(other)))


def _ascending(log: Log) -> bool:
    """Whether the items of every user ascend, each once, as readers of ours write them."""
    rising = log.item[1:] > log.item[:-1]
    rising[log.indptr[1:-1][(log.indptr[1:-1] > 0) & (log.indptr[1:-1] < len(log))] - 1] = True
    return bool(rising.all())


class Recommender(Protocol):
    """Anything that can make lists: for each of these users the k best items that are not in ``seen``."""

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The lists of the given users, k long where the catalogue suffices."""
        ...
