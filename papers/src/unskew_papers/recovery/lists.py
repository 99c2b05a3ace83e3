"""The lists of one model on one draw, made once and kept: item codes by user and rank, in as few bytes as they need.

A model that fails leaves its traceback instead, and the study goes on without it.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.core import Threads
from unskew.log import Recommendations
from unskew_papers.arrays import Ints32, starts_of
from unskew_papers.recovery.draws import Draw
from unskew_papers.recovery.makers import Maker

Unit = dict[str, Any]


def make_lists(maker: Maker, draw: Draw, depth: int) -> Unit:
    """Fit and rank, with one thread; or say what went wrong."""
    try:
        with Threads(1, alone=True) as pool:
            found = pool.submit(maker.lists, draw, depth).result()
    except MemoryError:
        raise  # the machine's failure, not the model's
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}", "traceback": "".join(traceback.format_exception(error))}
    lists = found.recode(draw.users, draw.items)
    table = np.full((len(draw.users), depth), -1, dtype=np.int32)
    short = lists.rank <= depth
    user = np.repeat(np.arange(len(draw.users)), np.diff(lists.indptr))
    table[user[short], lists.rank[short] - 1] = lists.item[short]
    judged = np.zeros(len(draw.users), dtype=np.bool_)
    judged[draw.test.users.into(draw.users)[np.diff(draw.test.indptr) > 0]] = True
    return {
        "item": _smallest(table, len(draw.items)),
        "strangers": int(np.count_nonzero(lists.item[short] < 0)),
        "lacking": int(np.count_nonzero(judged & (table < 0).all(axis=1))),
    }


def read_lists(unit: Mapping[str, Any], draw: Draw) -> Recommendations:
    """What ``make_lists`` kept."""
    table = unit["item"].astype(np.int32)
    table[table == np.iinfo(unit["item"].dtype).max] = -1
    listed = table >= 0
    rank = np.broadcast_to(np.arange(1, table.shape[1] + 1, dtype=np.int32), table.shape)
    return Recommendations(
        draw.users, draw.items, starts_of(np.count_nonzero(listed, axis=1)), table[listed], rank[listed]
    )


def _smallest(table: Ints32, items: int) -> Any:
    """Codes in one, two or four bytes; the largest number says that nobody stands there."""
    kind = next(kind for kind in (np.uint8, np.uint16, np.int32) if items < np.iinfo(kind).max)
    out = table.astype(kind)
    out[table < 0] = np.iinfo(kind).max
    return out
