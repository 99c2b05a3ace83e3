"""Parquet → ``{user: {item: number}}`` with ids as text, the way into pytrec_eval and its relatives."""

from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

Number = TypeVar("Number", int, float)
Ints = npt.NDArray[np.int64]
Dicts = dict[str, dict[str, float]]
Judged = dict[str, dict[str, int]]


def lists(path: Path) -> Dicts:
    """Lists as scores: the better the rank, the higher."""
    table = pq.read_table(path)
    score = (-table["rank"].to_numpy()).astype(np.float64).tolist()
    return grouped(table["user"].to_numpy(), table["item"].to_numpy(), score)


def held_out(path: Path) -> Judged:
    """Held-out items, each of relevance one."""
    table = pq.read_table(path)
    return grouped(table["user"].to_numpy(), table["item"].to_numpy(), [1] * table.num_rows)


def grouped(user: Ints, item: Ints, number: list[Number]) -> dict[str, dict[str, Number]]:
    """One dict per user; equal items share one string, so that each is hashed only once."""
    if len(user) and np.any(user[1:] < user[:-1]):
        order = np.argsort(user, kind="stable")
        user, item, number = user[order], item[order], [number[i] for i in order]
    names, codes = np.unique(item, return_inverse=True)
    text = np.array([str(name) for name in names.tolist()], dtype=object)[codes].tolist()
    starts = np.flatnonzero(np.r_[True, user[1:] != user[:-1]])
    ends = np.r_[starts[1:], len(user)]
    return {
        str(name): dict(zip(text[start:end], number[start:end], strict=True))
        for name, start, end in zip(user[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    }
