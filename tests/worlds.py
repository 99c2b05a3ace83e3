"""How many worlds a Monte Carlo test draws, and matrices of users × items as tables.

A test draws enough to fail in ``make test``, all of a study in ``make verify``: tests whose number of worlds depends on
this are marked ``study``, and ``make verify`` runs them again with all worlds.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import polars as pl

ALL = os.environ.get("UNSKEW_WORLDS") == "all"


def worlds(few: int, all_of_them: int) -> int:
    """So many worlds."""
    return all_of_them if ALL else few


def monte_carlo_error(share: float, worlds: int) -> float:
    """The standard error of a share that was counted over so many worlds."""
    return math.sqrt(share * (1.0 - share) / worlds)


def pairs_of(mask: Any, **columns: Any) -> pl.DataFrame:
    """The pairs of a mask as a log, with what matrices (or one row for all users) say of them."""
    user, item = np.nonzero(mask)
    taken = {name: np.broadcast_to(matrix, mask.shape)[user, item] for name, matrix in columns.items()}
    numbers = {name: row.astype(np.float64) if row.dtype == np.bool_ else row for name, row in taken.items()}
    return pl.DataFrame({"user": user, "item": item, **numbers})


def listed(items: Any, users: int | None = None) -> pl.DataFrame:
    """Lists from a matrix, one row of items per user; or one row for so many users."""
    found = np.asarray(items) if users is None else np.tile(items, (users, 1))
    rank = np.tile(np.arange(1, found.shape[1] + 1), len(found))
    return pl.DataFrame({"user": np.repeat(np.arange(len(found)), found.shape[1]), "item": found.ravel(), "rank": rank})
