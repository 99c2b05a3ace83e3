"""A world without propensities: clicks with popular and rare items, a training log, lists of three models."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl

from tests.worlds import listed

USERS, ITEMS, K = 160, 25, 5


@cache
def world(seed: int = 3) -> dict[str, Any]:
    """Clicks of two periods, both skewed towards popular items, ratings of the same pairs, and lists."""
    rng = np.random.default_rng(seed)
    liked = rng.random((USERS, ITEMS)) < np.linspace(0.5, 0.2, ITEMS)
    shown = rng.random((USERS, ITEMS)) < np.linspace(0.9, 0.15, ITEMS)
    early = rng.random((USERS, ITEMS)) < 0.5
    lists = {}
    for name, taste in (("popular", -0.2), ("plain", 0.0), ("rare", 0.2)):
        score = liked + taste * np.arange(ITEMS) + rng.normal(0.0, 1.0, liked.shape) - 9.0 * (early & shown)
        lists[name] = listed(np.argsort(-score, axis=1)[:, :K])
    every = {"train": early & shown, "test": ~early & shown}
    logs = {name: _rows(mask & liked) for name, mask in every.items()}
    graded = {f"{name}_ratings": _rows(mask, liked) for name, mask in every.items()}
    return {**logs, **graded, "lists": lists}


def _rows(mask: Any, liked: Any = None) -> pl.DataFrame:
    user, item = np.nonzero(mask)
    found = pl.DataFrame({"user": user, "item": item, "country": np.where(user % 2 == 0, "n", "s")})
    return found if liked is None else found.with_columns(value=np.where(liked[user, item], 5.0, 2.0))
