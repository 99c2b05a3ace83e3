"""The setting of schnabel16 §6.2: ML-100K completed, five predictors, ratings seen with P(y).

A rating's propensity depends on the rating alone, in truth and in the naive Bayes model. So one draw of O is fully
described, for every estimator and every such propensity, by

    n_r          how many seen pairs have the rating r
    S_r(m, δ)    Σ δ over those pairs, for each predictor m and metric δ

    naive = Σ_r S_r / Σ_r n_r        ips = Σ_r S_r/P_r / (U·I)        snips = Σ_r S_r/P_r / Σ_r n_r/P_r
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unskew import load
from unskew.core import Progress, Store
from unskew.simulate import NAMES, RatingWorld
from unskew_papers.arrays import Floats, present
from unskew_papers.digest import digest
from unskew_papers.repeated import Repeated
from unskew_papers.schnabel16 import completion

ALPHAS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
METRICS = ("mae", "mse", "dcg@50")
SHOWN = {"mae": "MAE", "mse": "MSE", "dcg@50": "DCG@50"}
PREDICTOR_SEED = 0
VERSION = "3"  # of the code that makes the numbers below; what they are made from stands in the units' keys


@dataclass(frozen=True, eq=False)
class Draw:
    """What a draw of O tells: n[r] and sums[metric, predictor, r], r = 0 … R (0 is empty)."""

    count: Floats
    sums: Floats

    def naive(self) -> Floats:
        """[metric, predictor]: the average over what was seen."""
        return np.asarray(self.sums.sum(axis=-1) / self.count.sum())

    def ips(self, propensity: Floats, pairs: int) -> Floats:
        """[metric, predictor], P by rating from 1 upwards (schnabel16 Eq. 10)."""
        return np.asarray((self.sums[..., 1:] / propensity).sum(axis=-1) / pairs)

    def snips(self, propensity: Floats) -> Floats:
        """[metric, predictor] (schnabel16 Eq. 11)."""
        return np.asarray((self.sums[..., 1:] / propensity).sum(axis=-1) / (self.count[1:] / propensity).sum())


class Setting:
    """The world, its predictors, and draws that are kept.

    Args:
        world: by default ML-100K's, completed by the paper's criterion.
    """

    def __init__(self, store: Store, world: Callable[[], RatingWorld] | None = None, *, workers: int = 1) -> None:
        self.store, self.workers = store, workers
        self._make = world or (lambda: completion.world(store, load("ml-100k").mnar, workers))

    @cached_property
    def world(self) -> RatingWorld:
        """The world at α = .25."""
        return self._make()

    @cached_property
    def costs(self) -> Floats:
        """δ of every pair: [metric, predictor, pair]."""
        made = self.world.predictions(PREDICTOR_SEED)
        return np.stack([[self.world.costs(metric, made[name]).reshape(-1) for name in NAMES] for metric in METRICS])

    @property
    def truth(self) -> Floats:
        """[metric, predictor]: averages over all pairs."""
        return np.asarray(self._moments["mean"])

    @property
    def spread(self) -> Floats:
        """[metric, predictor]: the standard deviation of δ over all pairs."""
        return np.asarray(self._moments["spread"])

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What every unit depends on: the world (O and ties come from hashes of ids) and α aside, how it is shown."""
        world = self.world
        return {
            "ratings": digest(world.truth),
            "ids": digest(world.users.hashes, world.items.hashes),
            "levels": world.levels,
            "share": world.share,
        }

    @property
    def _judging(self) -> dict[str, Any]:
        """What is judged, and by which metrics, in the order of the arrays."""
        return {"metrics": list(METRICS), "predictors": list(NAMES), "predictor_seed": PREDICTOR_SEED}

    @cached_property
    def _moments(self) -> dict[str, Any]:
        return self.store.once(
            {"unit": "moments", "world": self.identity, **self._judging},
            lambda: {"mean": self.costs.mean(axis=-1), "spread": self.costs.std(axis=-1)},
        )

    @property
    def pairs(self) -> int:
        """U·I."""
        return self.world.truth.size

    def at(self, alpha: float) -> RatingWorld:
        """The same ratings, seen with another α."""
        return replace(self.world, alpha=alpha)

    def draws(
        self, alphas: Sequence[float], seeds: Sequence[int], progress: Progress | None = None
    ) -> dict[float, list[Draw]]:
        """The draws of each α, seed by seed; those that are kept are not drawn again."""
        keys = [self.draw_key(alpha, seed) for alpha in alphas for seed in seeds]
        found = self.store.map(keys, self._draw, workers=self.workers, progress=progress, stage="drawing what is seen")
        each = iter(Draw(record["count"], record["sums"]) for record in found)
        return {alpha: [next(each) for _ in seeds] for alpha in alphas}

    def estimates(self, draws: Sequence[Draw], propensity: Floats) -> dict[str, Floats]:
        """By estimator: [draw, metric, predictor]."""
        return {
            "naive": np.array([draw.naive() for draw in draws]),
            "ips": np.array([draw.ips(propensity, self.pairs) for draw in draws]),
            "snips": np.array([draw.snips(propensity) for draw in draws]),
        }

    def draw_key(self, alpha: float, seed: int) -> dict[str, Any]:
        """The description of one draw's unit."""
        chances = self.at(alpha).propensity_of[1:].tolist()
        shared = {"unit": "draw", "world": self.identity, **self._judging}
        return {"draw": seed, "alpha": alpha, "propensity": chances, **shared}

    def _draw(self, key: Mapping[str, Any]) -> dict[str, Any]:
        log = self.at(key["alpha"]).draw(key["draw"])
        rating, levels = present(log.value).astype(np.int64), self.world.levels + 1
        pair = log.user.astype(np.int64) * len(log.items) + log.item
        flat = self.costs.reshape(-1, self.pairs)
        sums = [np.bincount(rating, weights=cost[pair], minlength=levels) for cost in flat]
        return {
            "count": np.bincount(rating, minlength=levels).astype(np.float64),
            "sums": np.array(sums).reshape(*self.costs.shape[:2], levels),
        }


def rmse(estimates: Floats, truth: Floats) -> list[Repeated]:
    """The RMSE over draws, averaged over predictors, by metric.

    Args:
        estimates: [draw, metric, predictor].
        truth: [metric, predictor].
    """
    squared = np.square(estimates - truth)
    total, runs = squared.sum(axis=0), len(squared)
    value = np.sqrt(total / runs).mean(axis=-1)
    without = np.empty((0, len(value)))
    if runs > 1:
        without = np.sqrt(np.maximum(total - squared, 0.0) / (runs - 1)).mean(axis=-1)
    return [Repeated(float(all_draws), left) for all_draws, left in zip(value, without.T, strict=True)]
