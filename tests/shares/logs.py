"""Logs with zeros whose column of propensities is right in the strict sense, and ordinary mistakes made of it.

A column is right where it is the chance that the pair is in the log at all, however rows hang together: here pairs come
alone, or a page is drawn as a whole, or every user is shown the same number of items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us
from tests.worlds import listed, pairs_of

Floats = npt.NDArray[np.float64]
Generator = np.random.Generator

USERS, ITEMS, K = 500, 40, 5
LISTS = {name: listed(np.arange(first, first + K), USERS) for name, first in (("head", 0), ("next", K))}


@dataclass(frozen=True, eq=False)
class Shown:
    """Which pairs are in the log, and the chance of each to be there; ``visit`` is that of one of several visits."""

    seen: npt.NDArray[np.bool_]
    p: Floats
    visit: Floats

    def frame(self, column: Floats | None = None, seed: int = 0) -> pl.DataFrame:
        """The log, with the right column or another; a fifth of the pairs are relevant."""
        rng = np.random.default_rng(seed)
        y = (rng.random(self.p.shape) < np.linspace(0.3, 0.1, self.p.shape[1])).astype(float)
        return pairs_of(self.seen, value=y, propensity=self.p if column is None else column)


def alone(rng: Generator, users: int = USERS, items: int = ITEMS, low: float = 0.08) -> Shown:
    """Every pair by itself: popular items, active users, three visits."""
    visit = rng.uniform(0.2, 1.0, (users, 1)) * np.linspace(0.4, low, items) * rng.uniform(0.5, 1.0, (users, items))
    p = 1.0 - (1.0 - visit) ** 3
    return Shown(rng.random(p.shape) < p, p, visit)


def pages(rng: Generator) -> Shown:
    """One to four visits: of each the page is the user's own ranking, or now and then ten items at random."""
    random, places = 0.4, 10
    liked = np.linspace(2.0, 0.0, ITEMS) + rng.normal(size=(USERS, ITEMS))
    ranking = np.argsort(-liked, axis=1)
    top = np.zeros((USERS, ITEMS), dtype=bool)
    np.put_along_axis(top, ranking[:, :places], True, axis=1)
    visits = rng.integers(1, 5, USERS)
    visit = random * places / ITEMS + (1.0 - random) * top
    seen = np.zeros((USERS, ITEMS), dtype=bool)
    for user in range(USERS):
        for _ in range(visits[user]):
            drawn = rng.random() < random
            seen[user, rng.permutation(ITEMS)[:places] if drawn else ranking[user, :places]] = True
    return Shown(seen, 1.0 - (1.0 - visit) ** visits[:, None], visit)


def slates(rng: Generator) -> Shown:
    """Twelve items for everybody, no more and no less, with chances that differ: systematic draws in random order."""
    size = 12
    raw = np.linspace(1.0, 0.2, ITEMS) * rng.uniform(0.5, 1.0, (USERS, ITEMS))
    p = size * raw / raw.sum(axis=1, keepdims=True)
    seen = np.zeros((USERS, ITEMS), dtype=bool)
    for user in range(USERS):
        order = rng.permutation(ITEMS)
        ends = np.cumsum(p[user, order]) + rng.random()
        seen[user, order] = np.floor(ends) > np.floor(ends - p[user, order])
    return Shown(seen, p, p)


RIGHT: dict[str, Callable[[Generator], Shown]] = {"alone": alone, "pages": pages, "slates": slates}


def _factor(p: Floats) -> Floats:
    """A factor by popularity that leaves the level as it is: Σ P/P' over all pairs is their number."""
    wrong = np.linspace(0.5, 2.5, p.shape[1])
    return np.asarray(wrong * np.mean(1.0 / wrong))


WRONG: dict[str, Callable[[Shown], Floats]] = {
    "one impression": lambda world: world.visit / 10.0,
    "one visit": lambda world: world.visit,
    "half": lambda world: world.p / 2.0,
    "a factor of the item": lambda world: np.minimum(world.p * _factor(world.p), 1.0),
    "without activity": lambda world: np.broadcast_to(world.p.mean(axis=0), world.p.shape),
    "counted in this log": lambda world: np.broadcast_to(np.maximum(world.seen.mean(axis=0), 1e-3), world.p.shape),
}


EVERYBODY = pl.DataFrame({"user": np.arange(USERS)})
ASKED: dict[str, Any] = {
    "feedback": "conversions",
    "metrics": ["recall@5"],
    "target": "pooled",
    "estimators": ["snips"],
    "users": EVERYBODY,
    "propensity": "known",
}


def evaluated(frame: pl.DataFrame | us.Log, **options: Any) -> us.Result:
    """A call that keeps zeros, of two lists that are the same for everybody."""
    return us.evaluate(frame, options.pop("models", LISTS), **(ASKED | options))


def column(frame: pl.DataFrame, **options: Any) -> dict[str, Any]:
    """What was found of the column."""
    found: dict[str, Any] = evaluated(frame, **options).inputs["propensity_column"]
    return found
