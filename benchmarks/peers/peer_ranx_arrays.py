"""ranx without ``Qrels`` and ``Run``: its ``evaluate`` also takes arrays of (item, score) pairs per user.

The quickest way in, but only for lists of one length and items that are numbers; the caller has to align users.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from ranx import evaluate  # type: ignore[import-not-found]

from peers import common

Ints = npt.NDArray[np.int64]
Pairs = npt.NDArray[np.float64]


def test(folder: Path) -> Pairs:
    table = pq.read_table(folder / "test.parquet")
    item = table["item"].to_numpy()
    return aligned(table["user"].to_numpy(), item, np.ones(len(item)))


def listed(folder: Path, name: str) -> Pairs:
    table = pq.read_table(folder / f"{name}.parquet")
    return aligned(table["user"].to_numpy(), table["item"].to_numpy(), -table["rank"].to_numpy().astype(np.float64))


def metrics(test: Pairs, lists: Pairs) -> common.Values:
    return {name: float(value) for name, value in evaluate(test, lists, list(common.METRICS)).items()}


def aligned(user: Ints, item: Ints, score: Pairs) -> Pairs:
    """Sort by user, best score first, unless the file already is, and cut into equal lists."""
    same = user[1:] == user[:-1]
    if np.any(user[1:] < user[:-1]) or np.any(same & (score[1:] > score[:-1])):
        order = np.lexsort((-score, user))
        user, item, score = user[order], item[order], score[order]
    users = 1 + np.count_nonzero(user[1:] != user[:-1])
    return np.column_stack([item, score]).reshape(users, -1, 2)


if __name__ == "__main__":
    common.main(("ranx", "numba", "numpy"), test, listed, metrics)
