"""Logs, lists and predictions that were put together by hand: what does not fit together is refused, not computed with.

Readers of ours give nothing else than what fits. Arrays of a caller may point beyond the users and items that there
are, and compiled kernels would follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from unskew.bounds import LARGEST, SMALLEST
from unskew.errors import InputError
from unskew.log import Ids, Log, Predictions, Recommendations
from unskew.plain import plain

RANKS = 2**31 - 1


def check_log(log: Log, name: str) -> Log:
    """The log, if its arrays fit together and its numbers can be reckoned with."""
    _rows(log, name, least=0)
    keys = log.user.astype(np.int64) * len(log.items) + log.item
    if (keys[1:] <= keys[:-1]).any():
        raise _unfit(name, "inside a user, items must ascend, each once")
    for column, low, high in (("value", -LARGEST, LARGEST), ("propensity", SMALLEST, 1.0), ("gain", 0.0, LARGEST)):
        _numbers(getattr(log, column), len(log), f"{name}: '{column}'", low, high)
    for column, values in {"time": log.time, "policy": log.policy, **log.columns}.items():
        if values is not None and len(values) != len(log):
            raise _unfit(name, f"'{plain(column)}' has {len(values):,} rows, and there are {len(log):,}")
    return log


def check_lists(lists: Recommendations, name: str) -> Recommendations:
    """The lists, if their arrays fit together, ranks ascend from 1, and no list holds an item twice."""
    _rows(lists, name, least=-1)
    rank = _whole(lists.rank, f"{name}: 'rank'")
    if len(rank) != len(lists.item):
        raise _unfit(name, f"there are {len(rank):,} ranks for {len(lists.item):,} listed items")
    if len(rank) and not (rank.min() >= 1 and rank.max() <= RANKS):
        raise _unfit(name, f"ranks must lie between 1 and {RANKS:,}")
    user = np.repeat(np.arange(len(lists.users)), np.diff(lists.indptr))
    if ((rank[1:] <= rank[:-1]) & (user[1:] == user[:-1])).any():
        raise _unfit(name, "inside a list, ranks must ascend, each once")
    known = lists.item >= 0
    keys = pl.Series(user[known] * max(len(lists.items), 1) + lists.item[known])
    if keys.n_unique() < len(keys):
        raise _unfit(name, "a list holds the same item twice")
    return lists


def check_predictions(found: Predictions, name: str) -> Predictions:
    """The predictions, if their arrays fit together and are numbers."""
    _rows(found, name, least=0)
    _numbers(found.value, len(found), f"{name}: 'prediction'", -LARGEST, LARGEST)
    if found.rank is not None and (len(found.rank) != len(found) or _whole(found.rank, name).min(initial=0) < 0):
        raise _unfit(name, "there must be a rank of at least 0 for every prediction")
    return found


def _rows(table: Log | Recommendations | Predictions, name: str, least: int) -> None:
    """Users own slices of the rows, and items are codes of the vocabulary."""
    for what, ids in (("users", table.users), ("items", table.items)):
        if not isinstance(ids, Ids):
            raise _unfit(name, f"{what} must be Ids, not {type(ids).__name__}")
    indptr, item = _whole(table.indptr, f"{name}: 'indptr'"), _whole(table.item, f"{name}: 'item'")
    if len(indptr) != len(table.users) + 1 or indptr[0] != 0 or indptr[-1] != len(item) or (np.diff(indptr) < 0).any():
        raise _unfit(name, "'indptr' must rise from 0 to the number of rows, one step for each user")
    if len(item) and not (least <= item.min() and item.max() < len(table.items)):
        raise _unfit(name, f"'item' must hold codes from {least} to {len(table.items) - 1:,}")


def _whole(array: Any, what: str) -> Any:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{what} must be an array of whole numbers, not {plain(type(array).__name__)}.")
    return array


def _numbers(array: Any, rows: int, what: str, low: float, high: float) -> None:
    """As many numbers as rows, all of them in the range."""
    if array is None:
        return
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.shape != (rows,):
        raise InputError(f"{what} must be an array of {rows:,} floating-point numbers, one for each row.")
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(f"{what} must lie between {low:g} and {high:g}; row {first + 1:,} has {array[first]:g}.")


def _unfit(name: str, problem: str) -> InputError:
    return InputError(
        f"{name}: its arrays do not fit together: {problem}.\n"
        "Give a file or a dataframe, which is checked and coded here."
    )
