"""Worlds of conversions whose truth is known, and slow references."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log import Features, Log, read_features

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def log_of(seen: Bools, y: Floats) -> Log:
    """The seen pairs of a users × items matrix of outcomes, every user and item in the vocabulary."""
    user, item = np.nonzero(np.ones_like(seen))
    frame = pl.DataFrame({"user": user, "item": item, "value": y.ravel()})
    return Log.from_frame(frame, feedback="conversions").take(seen.ravel())


def pairs_of(shape: tuple[int, ...]) -> tuple[pl.Series, pl.Series]:
    """The ids of all pairs, row by row."""
    user, item = np.nonzero(np.ones(shape))
    return pl.Series(user), pl.Series(item)


def features_of(matrix: Floats, key: str) -> Features:
    """Covariates of the users (items) 0, 1, …"""
    columns = {f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}
    return read_features(pl.DataFrame({key: np.arange(len(matrix)), **columns}), key)


@dataclass(frozen=True, eq=False)
class World:
    """What is liked is shown: E[y] = ``chance``, P(seen) = ``p`` grows with it."""

    chance: Floats
    p: Floats
    seen: Bools
    y: Floats

    @classmethod
    def draw(cls, users: int = 600, items: int = 200, rate: float = 0.25, seed: int = 0) -> World:
        """Three factors and offsets of either side."""
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(users, 3)) @ rng.normal(0.0, 0.6, (items, 3)).T - 0.5
        z += rng.normal(0.0, 0.5, (users, 1)) + rng.normal(0.0, 0.7, items)
        chance = 1.0 / (1.0 + np.exp(-z))
        p = 0.02 + rate * chance**1.5 * rng.uniform(0.3, 1.0, chance.shape)
        return cls(chance, p, rng.random(p.shape) < p, (rng.random(p.shape) < chance).astype(np.float64))

    @property
    def log(self) -> Log:
        """What was seen."""
        return log_of(self.seen, self.y)

    def error(self, q: Floats) -> float:
        """Mean squared error over all pairs, seen or not."""
        return float(((q.reshape(self.chance.shape) - self.chance) ** 2).mean())
