"""Rows in compressed form: grouped by user, and ascending by a second code inside each user."""

from __future__ import annotations

from threading import Lock
from typing import TypeVar
from weakref import ref

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.coding import (
    ASCENDING,
    GATHERED,
    MIXED,
    compress,
    count_codes,
    count_up,
    gather,
    place,
    place_by_rank,
    place_entries,
    sort_entries,
    tally,
)
from unskew.kernels.radix import fits, order_by
from unskew.log.ids import Codes, changed

_closed: list[tuple[Rows, ref[Codes]]] = []  # starts of lists and their ranks, as long as somebody has them
_making = Lock()
MANY = 1 << 16  # rows for which the tables of a radix sort are small

Rows = npt.NDArray[np.int64]
Column = TypeVar("Column", npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.float64], pl.Series)


def group(user: Codes, key: Codes, users: int, keys: int) -> tuple[Rows, Rows | None]:
    """``indptr`` over the users, and the order of the rows by (user, key, row); None if they are in that order already.

    Many rows are sorted by their codes packed into words, few by two passes of a counting sort, first by key, then by
    user; all are stable. Lists mostly come user by user, and only the users are in another order than their codes: then
    one pass does.
    """
    indptr, lie = _tallied(user, key, users, keys)
    if lie == ASCENDING:
        return indptr, None
    if lie == MIXED and _many(user, users, keys):
        return indptr, order_by(user, key, users, keys)
    order = np.empty(len(user), dtype=np.int64)
    if lie == GATHERED:
        gather(user, indptr, order)
        return indptr, order
    by_key = np.empty(len(user), dtype=np.int64)
    place(key, np.arange(len(key)), starts_of(counts_of(key, keys)), by_key)
    place(user, by_key, indptr.copy(), order)
    return indptr, order


def group_keys(user: Codes, key: Codes, users: int, keys: int) -> tuple[Rows, Rows | None, Codes]:
    """The same, and the keys in that order: where many rows are sorted, these need not be looked up again."""
    if len(user) >= MANY:
        indptr, lie = _tallied(user, key, users, keys)
        if lie == MIXED and _many(user, users, keys):
            ordered = np.empty_like(key)
            return indptr, order_by(user, key, users, keys, ordered), ordered
    indptr, order = group(user, key, users, keys)
    return indptr, order, pick(key, order)


def _tallied(user: Codes, key: Codes, users: int, keys: int) -> tuple[Rows, int]:
    """Where every user's rows begin, and how rows lie."""
    counts = np.zeros(users, dtype=np.int64)
    lie = tally(user, key, counts, keys)
    if lie < 0:
        raise changed()
    return starts_of(counts), int(lie)


def _many(user: Codes, users: int, keys: int) -> bool:
    return len(user) >= MANY and fits(len(user), users, keys)


def counts_of(codes: Codes, size: int) -> Rows:
    """How often every code occurs; all must be below ``size``."""
    out = np.zeros(size, dtype=np.int64)
    if not count_codes(codes, out):
        raise changed()
    return out


def group_entries(user: Codes, item: Codes, rank: Codes, users: int) -> tuple[Rows, Codes, Codes]:
    """``indptr`` over the users, and the entries of lists by (user, rank, row); as they are if they lie so already.

    Mostly ranks run 1, 2, 3, … and say where an entry belongs. Else one pass brings the entries of every user together,
    and another one orders each list by itself, which is short.
    """
    indptr, lie = _tallied(user, rank, users, 2**31)
    if lie == ASCENDING:
        return indptr, item, rank
    items, ranks = np.empty_like(item), np.zeros_like(rank)
    if not place_by_rank(user, item, rank, indptr, items, ranks):
        place_entries(user, item, rank, indptr.copy(), items, ranks)
        if lie == MIXED:
            sort_entries(indptr, items, ranks)
    return indptr, items, ranks


def closed_ranks(indptr: Rows) -> Codes:
    """1, 2, 3, … in every list; models whose lists are as long share one array, which takes as much room as the items.

    Nobody changes ranks in place (``Recommendations``).
    """
    with _making:
        for kept in [kept for kept in _closed if kept[1]() is None]:
            _closed.remove(kept)
        for lengths, made in _closed:
            if (ranks := made()) is not None and np.array_equal(lengths, indptr):
                return ranks
        ranks = np.empty(int(indptr[-1]), dtype=np.int32)
        count_up(indptr, ranks)
        _closed.append((indptr, ref(ranks)))
        return ranks


def starts_of(counts: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Rows:
    """Where each group begins, followed by the end of the last one."""
    out = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def starts_among(indptr: Rows, source: Codes) -> tuple[Rows, bool]:
    """``indptr`` of rows of other users, of whom u has row ``source[u]`` (−1: none), and whether all rows stay."""
    sizes = np.append(np.diff(indptr), 0)[source]
    target = starts_of(sizes)
    return target, bool(target[-1] == indptr[-1] and (np.diff(source[sizes > 0]) > 0).all())


def regroup(indptr: Rows, source: Codes) -> tuple[Rows, Rows | None]:
    """Rows of other users: row u of the result is row ``source[u]`` (empty where that is −1).

    Gives back the new ``indptr`` and the order of the rows, None if all rows stay where they are.
    """
    target, stay = starts_among(indptr, source)
    if stay:
        return target, None
    shift = np.append(indptr[:-1], 0)[source] - target[:-1]
    return target, np.arange(target[-1]) + np.repeat(shift, np.diff(target))


def pick(column: Column, order: Rows | npt.NDArray[np.bool_] | None) -> Column:
    """The rows of a column in the given order, or those that a mask chooses."""
    if order is None:
        return column
    if order.dtype != np.bool_:
        return column[order]
    if isinstance(column, pl.Series):
        return column.filter(pl.Series(order))
    out = np.empty(np.count_nonzero(order) + 1, dtype=column.dtype)
    compress(column, order, out)
    return out[:-1]
