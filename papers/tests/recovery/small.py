"""A small study that takes a second or two: forty users, thirty items, ratings that people chose and random ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.log import Ids, Log, Recommendations
from unskew_papers.recovery import Paired, Question

USERS, ITEMS = 60, 30
MODELS = ("most_popular", "item_knn(neighbours=5)", "random")
QUESTIONS = (
    Question("popularity", ("naive", "snips"), "popularity(gamma=1)"),
    Question("values", ("gs(strata=3)",), "popularity(gamma=1)", verdicts=False),
)


@cache
def ratings() -> tuple[pl.DataFrame, pl.DataFrame]:
    """What people chose, and random pairs of theirs."""
    rng = np.random.default_rng(5)
    taste = rng.standard_normal((USERS, 3)) @ rng.standard_normal((3, ITEMS)) + rng.standard_normal(ITEMS)
    rating = 1 + np.searchsorted([-1.5, -0.4, 0.4, 1.5], taste)
    chosen = rng.random((USERS, ITEMS)) < np.clip(0.08 * rating * rng.random(ITEMS) * 2, 0.0, 1.0)
    shown = rng.random((USERS, ITEMS)) < 0.3
    return _frame(chosen, rating), _frame(shown, rating)


def _frame(there: Any, rating: Any) -> pl.DataFrame:
    user, item = np.nonzero(there)
    return pl.DataFrame({"user": user, "item": item, "value": rating[user, item].astype(float)})


def paired(**options: Any) -> Paired:
    """The two as a source of draws."""
    log, random = (Log.from_frame(frame, feedback="ratings") for frame in ratings())
    return Paired(log, random, relevant=">=4", **{"likes": True, **options})


def write(folder: Path) -> tuple[Path, Path]:
    """The two as files."""
    paths = folder / "chosen.parquet", folder / "random.parquet"
    for frame, path in zip(ratings(), paths, strict=True):
        frame.write_parquet(path)
    return paths


class Backwards:
    """A recommender of somebody else's: the last items first."""

    def __init__(self, seed: int = 0, shift: int = 0) -> None:
        self.seed, self.shift = seed, shift

    def fit(self, log: Log) -> Backwards:
        self.items = log.items
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        order = np.roll(np.arange(len(self.items))[::-1], self.shift)[:k]
        rows = pl.DataFrame({"user": users.values}).join(
            pl.DataFrame({"item": self.items.values.gather(order), "rank": np.arange(1, len(order) + 1)}), how="cross"
        )
        lists = Recommendations.from_frame(rows)
        return lists if seen is None else lists.drop_seen(seen)


class Broken(Backwards):
    """One that fails, on some draws only."""

    def fit(self, log: Log) -> Broken:
        if self.seed == 1:
            raise ZeroDivisionError("the second draw is too much")
        super().fit(log)
        return self
