"""Worlds of conversions whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.propensity.worlds import Bools, Floats, all_pairs, features_of, log_of
from unskew.log import Log

__all__ = ["Floats", "World", "all_pairs", "features_of", "log_of"]


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
