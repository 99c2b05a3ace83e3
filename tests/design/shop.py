"""A world whose relevance is fixed and known, a log with zeros or of positives only, and three models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tests.worlds import listed, pairs_of


class Shop(NamedTuple):
    """What is known, and what a plan is given.

    Args:
        truth: y of every pair.
        seen, log: rows ``user, item, value``.
        lists: by model, (users, k) items in order.
    """

    truth: np.ndarray
    seen: pl.DataFrame
    log: pl.DataFrame
    lists: dict[str, np.ndarray]

    @property
    def models(self) -> dict[str, pl.DataFrame]:
        """The lists as tables."""
        return {name: listed(items) for name, items in self.lists.items()}

    def positives(self) -> pl.DataFrame:
        """The log without zeros."""
        return self.log.filter(pl.col("value") > 0).select("user", "item")


def shop(users: int = 300, items: int = 60, k: int = 8, seed: int = 0, **options: Any) -> Shop:
    """Taste by popularity and chance; ``good`` knows more of it than ``fair``, and ``poor`` knows nothing."""
    random = np.random.default_rng(seed)
    rate = options.get("rate", 0.25)
    taste = random.normal(0.0, 1.0, (users, items)) + random.normal(0.0, 0.7, items)
    chance = 1.0 / (1.0 + np.exp(-(taste + np.log(rate / (1.0 - rate)))))
    truth = (random.random((users, items)) < chance).astype(np.float64)
    shown = random.random((users, items))
    early, late = shown < 0.1, (shown >= 0.1) & (shown < 0.2)

    def ranked(noise: float) -> np.ndarray:
        score = taste + random.normal(0.0, noise, (users, items))
        score[early] = -np.inf
        return np.argsort(-score, axis=1)[:, :k]

    lists = {"good": ranked(1.0), "fair": ranked(2.0), "poor": ranked(50.0)}
    return Shop(truth, pairs_of(early, value=truth), pairs_of(late, value=truth), lists)
