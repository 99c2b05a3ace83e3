"""Predictions: what a model says a pair's value is, for some pairs or for all; with ranks where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.kernels.ranks import find_ranks
from unskew.log.columns import LARGEST, check_ids, code_pairs, numbers
from unskew.log.ids import Codes, Ids
from unskew.log.lists import ranks, ranks_by_score
from unskew.log.log import Account, Floats, Integers, Invalid, Log
from unskew.log.order import group, pick, regroup, starts_of
from unskew.log.paths import Paths
from unskew.log.recommendations import Recommendations
from unskew.log.sources import table_of_file, table_of_frame
from unskew.log.table import Table, show

REQUIRED = ("user", "item", "prediction")
OPTIONAL = ("rank",)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of one model; entry e of user u stands at ``indptr[u] ≤ e < indptr[u + 1]``, items ascending.

    Args:
        rank: where the model would list the entry's item (0 = nowhere); ``None`` where it does not say.
    """

    users: Ids
    items: Ids
    indptr: Integers
    item: Codes
    value: Floats
    rank: Codes | None = None
    account: Account = field(default_factory=lambda: Account("memory", 0))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        invalid: Invalid = "error",
        source: str = "frame",
    ) -> Predictions:
        """The predictions in a dataframe with the columns ``user``, ``item``, ``prediction`` and perhaps ``rank``."""
        return predictions_of(table_of_frame(frame, source, REQUIRED, OPTIONAL, columns=columns, invalid=invalid))

    @classmethod
    def from_array(
        cls, matrix: npt.ArrayLike, users: Any = None, items: Any = None, *, source: str = "array"
    ) -> Predictions:
        """Predictions of all pairs, one row per user and one column per item.

        Args:
            users, items: their ids in the order of rows and columns; 0, 1, 2, … by default.
            source: what messages call the array.
        """
        try:
            given = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"{source}: predictions as an array must be numbers, a row per user.", code="not-a-number"
            ) from None
        if given.ndim != 2:
            raise InputError(
                f"{source}: predictions as an array need a row per user and a column per item.", code="wrong-shape"
            )
        rows = pl.Series("user", np.arange(given.shape[0]) if users is None else users)
        columns = pl.Series("item", np.arange(given.shape[1]) if items is None else items)
        if (len(rows), len(columns)) != given.shape:
            raise InputError(
                f"{source}: the array is {given.shape[0]} × {given.shape[1]}, the ids are {len(rows)} users and "
                f"{len(columns)} items.",
                code="wrong-shape",
            )
        if rows.n_unique() < len(rows) or columns.n_unique() < len(columns):
            raise InputError(f"{source}: an id of a row or column occurs twice.", code="repeated-id")
        wrong = ~(np.abs(given) <= LARGEST)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(
                f"{source}: the prediction for user {show(rows[int(row)])} and item {show(columns[int(column)])} is "
                f"{given[row, column]:g}. Predictions must be finite numbers (up to {LARGEST:g}); give a frame "
                "if only some pairs have one.",
                code="out-of-range",
            )
        (people, user), (things, item) = Ids.code(rows), Ids.code(columns)
        matrix = given[np.argsort(user)][:, np.argsort(item)]
        indptr = np.arange(given.shape[0] + 1, dtype=np.int64) * given.shape[1]
        codes = np.tile(np.arange(given.shape[1], dtype=np.int32), given.shape[0])
        return cls(people, things, indptr, codes, matrix.ravel(), account=Account(source, given.size))

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        ranks = "" if self.rank is None else ", with ranks"
        return f"<Predictions of {len(self):,} pairs, {len(self.users):,} users, {len(self.items):,} items{ranks}>"

    def recode(self, users: Ids, items: Ids) -> Predictions:
        """The predictions of these users and items, over these vocabularies; others are left out."""
        source, table = users.into(self.users), self.items.into(items)
        indptr, order = regroup(self.indptr, source)
        item = table[pick(self.item, order)]
        value, rank = pick(self.value, order), None if self.rank is None else pick(self.rank, order)
        user = np.repeat(np.arange(len(users), dtype=np.int32), np.diff(indptr))
        known = item >= 0
        user, item, value = user[known], item[known], value[known]
        indptr, resort = group(user, item, len(users), len(items))
        rank = None if rank is None else pick(rank[known], resort)
        return replace(
            self, users=users, items=items, indptr=indptr, item=pick(item, resort), value=pick(value, resort), rank=rank
        )

    def of(self, log: Log) -> Floats:
        """The prediction of every row of a log over the same vocabularies; NaN where there is none."""
        place = np.empty(len(log), dtype=np.int32)
        entries = np.arange(1, len(self) + 1, dtype=np.int32)
        find_ranks(log.indptr, log.item, self.indptr, self.item, entries, 0, len(log.users), place)
        return np.where(place > 0, self.value[place - 1], np.nan) if len(self) else np.full(len(log), np.nan)

    def lists(self) -> Recommendations:
        """The lists that the ranks make; without ranks, all entries by value downwards, ties by the hash of the ids."""
        user = np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.indptr))
        rank, listed = self.rank, None
        if rank is None:
            hashes = self.users.hashes[user], self.items.hashes[self.item]
            rank = ranks_by_score(*hashes, user, pl.Series(self.value))
        else:
            listed = rank > 0
            user, rank = user[listed], rank[listed]
        order = np.lexsort((rank, user))
        item = (self.item if listed is None else self.item[listed])[order]
        indptr = starts_of(np.bincount(user, minlength=len(self.users)))
        return Recommendations(self.users, self.items, indptr, item, rank[order], account=self.account)


def read_predictions(
    path: Paths, *, columns: Mapping[str, Any] | None = None, invalid: Invalid = "error"
) -> Predictions:
    """Read predictions from a file, or from several (docs/files.md says which formats).

    Args:
        path: one row per pair with the columns ``user``, ``item`` and ``prediction``, and ``rank`` (1 = best) where
            the model says where it would list the item.
        columns: our names → the names in the file, where they are not recognised: ``{"prediction": "p"}``.
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them in ``account``.
    """
    return predictions_of(table_of_file(path, REQUIRED, OPTIONAL, columns=columns, invalid=invalid))


def predictions_of(table: Table) -> Predictions:
    """Check, code and order the entries of a table."""
    columns = table.kept(check_entries(table))
    return ordered_predictions(table, *code_pairs(table, columns), columns)


def check_entries(table: Table) -> dict[str, pl.Series]:
    """The columns that are used, each checked."""
    columns = {}
    for name in ("user", "item"):
        check_ids(table, name)
        table.refuse_nulls(name)
        columns[name] = table.frame[name]
    columns["prediction"] = numbers(table, "prediction")
    if "rank" in table:
        columns["rank"] = _ranks(table)
    return columns


def ordered_predictions(
    table: Table, of_users: tuple[Ids, Codes], of_items: tuple[Ids, Codes], columns: Mapping[str, pl.Series]
) -> Predictions:
    """The predictions of coded entries: ordered, and every pair once."""
    (users, user), (items, item) = of_users, of_items
    indptr, order = group(user, item, len(users), len(items))
    user, item = pick(user, order), pick(item, order)
    again = np.flatnonzero((item[1:] == item[:-1]) & (user[1:] == user[:-1])) + 1
    keep = np.ones(len(item), dtype=np.bool_)
    if len(again):
        if not table.drop:
            rows = np.arange(len(item)) if order is None else order
            at = int(again[np.argmin(rows[again])])
            who, what = users.values[int(user[at])], items.values[int(item[at])]
            both = table.place(table.origin(int(rows[at - 1])), table.origin(int(rows[at])))
            raise InputError(
                f"{table.source}: the pair of user {show(who)} and item {show(what)} is there twice, in {both}.\n"
                "Give one prediction per pair, or keep the first of each with invalid='drop'; the result will say how "
                "many were dropped.",
                code="repeated-pair",
            )
        table.count("repeated pair", len(again))
        keep[again] = False
        indptr = starts_of(np.bincount(user[keep], minlength=len(users)))
    value: Floats = pick(columns["prediction"], order).to_numpy()[keep]
    rank = None
    if "rank" in columns:
        rank = pick(columns["rank"].cast(pl.Int32), order).to_numpy()[keep]
        refuse_shared_ranks(table.source, users, user[keep], rank)
    return Predictions(users, items, indptr, item[keep], value, rank, table.account())


def _ranks(table: Table) -> pl.Series:
    """The column of ranks; 0 where it says none: a prediction of an item that is not listed."""
    unlisted = table.frame["rank"].is_null()
    if unlisted.any():
        table.frame = table.frame.with_columns(pl.col("rank").cast(pl.String).fill_null("1"))
        note = f"{unlisted.sum():,} predictions have no rank: their items are not listed"
        table.notes.append(Notice(note, code="missing-rank", rows=unlisted.sum()))
    return ranks(table, ", or nothing where the item is not listed").set(unlisted, 0)


def refuse_shared_ranks(source: str, users: Ids, user: npt.NDArray[Any], rank: Codes) -> None:
    """Two items of one user cannot share a rank."""
    listed = np.flatnonzero(rank)
    order = listed[np.lexsort((rank[listed], user[listed]))]
    twice = np.flatnonzero((np.diff(rank[order]) == 0) & (np.diff(user[order]) == 0))
    if len(twice):
        at = order[twice[0]]
        raise InputError(
            f"{source}: column 'rank' says {int(rank[at])} twice for user {show(users.values[int(user[at])])}.\n"
            "Give each item of a user a rank of its own, or leave the column out: predictions of all candidates are "
            "ranked by themselves.",
            code="repeated-rank",
        )
