"""The naive metrics of one list straight from the library's kernels, the way its engine calls them."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from peers import common
from unskew.kernels import sums
from unskew.kernels.hits import over_hits, rate_hits
from unskew.kernels.ranks import find_listed

Floats = npt.NDArray[np.float64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]
BLOCK = 8192  # users


def prepare(folder: Path) -> Callable[[], common.Values]:
    """Code the files into arrays grouped by user, and return the job that is measured."""
    test, lists = pl.read_parquet(folder / "test.parquet"), pl.read_parquet(folder / "a.parquet")
    users = np.unique(test["user"].to_numpy())
    items = np.unique(np.concatenate([test["item"].to_numpy(), lists["item"].to_numpy()]))
    indptr, order = grouped(users, test, "item")
    item = coded(items, test["item"])[order]
    list_indptr, order = grouped(users, lists, "rank")
    list_item = coded(items, lists["item"])[order]
    list_rank = lists["rank"].to_numpy().astype(np.int32)[order]

    cuts = np.array(common.CUTS, dtype=np.int64)
    gain, discount = tables(max(common.CUTS))
    table = np.ascontiguousarray(np.hstack([gain, discount, gain]))
    divisor = np.concatenate([0 * cuts, 1 + np.arange(len(cuts)), 0 * cuts])
    ones = np.ones(len(item))
    pool = ThreadPoolExecutor(os.cpu_count() or 1)

    def block(low: int) -> Floats:
        high = min(low + BLOCK, len(users))
        rows = slice(indptr[low], indptr[high])
        own, weight = indptr[low : high + 1] - indptr[low], ones[rows]
        rank, precision = np.empty(len(weight), dtype=np.int32), np.empty(len(weight))
        starts, (row, place) = np.empty(high - low + 1, dtype=np.int64), np.empty((2, len(weight)), dtype=np.int64)
        find_listed(indptr, item, list_indptr, list_item, list_rank, low, high, rank, starts, row, place)
        rate_hits(starts, row, place, weight, len(table), precision)
        below = np.empty((1 + len(cuts), high - low))
        below[0] = np.diff(own)
        sums.ideal(own, weight, discount, below[1:])
        found = np.empty((3 * len(cuts), high - low))
        hits = starts, row, place, precision
        over_hits(*hits, weight, table, 2 * len(cuts), below, divisor, np.arange(3 * len(cuts)), found)
        return np.asarray(found.sum(axis=1))

    def metrics() -> common.Values:
        total = sum(pool.map(block, range(0, len(users), BLOCK)), start=np.zeros(len(common.METRICS)))
        return dict(zip(common.METRICS, (total / len(users)).tolist(), strict=True))

    return metrics


def grouped(users: Ints64, frame: pl.DataFrame, by: str) -> tuple[Ints64, Ints64]:
    """Where each user's rows start, and the order of the rows by user and then ``by``."""
    user = coded(users, frame["user"])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=len(users)))]).astype(np.int64)
    return indptr, np.lexsort((frame[by].to_numpy(), user))


def coded(ids: Ints64, column: pl.Series) -> Ints32:
    return np.searchsorted(ids, column.to_numpy()).astype(np.int32)


def tables(depth: int) -> tuple[Floats, Floats]:
    """Worth by [rank, cut-off] for recall and dcg; rank 0 means not listed."""
    rank = np.arange(depth + 1)[:, None]
    counts = (rank > 0) & (rank <= np.array(common.CUTS))
    return counts.astype(np.float64), np.where(counts, 1.0 / np.log2(np.maximum(rank, 1) + 1.0), 0.0)
