"""Small logs with times, and how tests split and judge them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import unskew as us
from unskew import models

MODELS = ("most_popular", "item_knn(neighbours=10)", "user_knn(neighbours=7)")
WEEKS = "sliding_window(width=1w, folds=4, min_users=5)"
WEEK = 7 * 86_400
START = 1_600_000_000


def frame(users: int = 150, items: int = 60, rows: int = 2_400, weeks: int = 7, seed: int = 0) -> pl.DataFrame:
    """Clicks on popular items, users coming back week after week; each pair once."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, items + 1)
    taste = rng.dirichlet(popularity * 8.0, size=users)
    user = rng.integers(0, users, rows)
    item = np.array([rng.choice(items, p=taste[u]) for u in user])
    time = START + rng.integers(0, weeks * WEEK, rows)
    found = pl.DataFrame({"user": user, "item": item, "time": time})
    return found.sort("time").unique(["user", "item"], keep="first", maintain_order=True)


def log(**options: Any) -> us.Log:
    return us.Log.from_frame(frame(**options))


def valued(feedback: str) -> us.Log:
    """Seen pairs that brought something or not, or stars, with propensities of their own."""
    rng, seen = np.random.default_rng(0), frame()
    stars = rng.integers(1, 6, len(seen)).astype(float)
    value = stars if feedback == "ratings" else (stars <= 2.0).astype(float)
    columns = {"value": value, "propensity": rng.uniform(0.1, 0.9, len(seen))}
    return us.Log.from_frame(seen.with_columns(**{n: pl.Series(c) for n, c in columns.items()}), feedback=feedback)


def compact(log: us.Log) -> us.Log:
    """The same rows, with the users and items that they have: models know nothing else."""
    return us.Log.from_frame(log.to_frame(), feedback=log.feedback)


def fitted(names: tuple[str, ...], train: us.Log, relevant: str | None = None) -> dict[str, Any]:
    found = {}
    for name in names:
        model = models.make(name)
        found[name] = model.fit(models.training_rows(model, train, relevant))
    return found
