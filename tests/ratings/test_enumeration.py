"""Unbiasedness, design variance, bias and bounds, by trying every set of pairs that could have been seen.

With n pairs there are 2ⁿ masks, each with a known probability: expectations are sums, not simulations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from unskew.log import Log
from unskew_papers.bounds import hoeffding, learning, learning_estimated, lemma_bias

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Full:
    """All pairs of a tiny world: values, propensities and predictions as matrices."""

    value: Floats
    propensity: Floats
    predicted: Floats

    @property
    def shape(self) -> tuple[int, int]:
        users, items = self.value.shape
        return users, items

    def delta(self, metric: str) -> Floats:
        """δ of all pairs."""
        error = np.abs(self.predicted - self.value)
        if metric == "dcg@2":
            order = np.argsort(-self.predicted, axis=1)
            rank = np.argsort(order, axis=1) + 1
            return self.shape[1] * np.where(rank <= 2, self.value / np.log2(rank + 1.0), 0.0)
        return {"mae": error, "mse": error**2, "accuracy": (error < 0.5).astype(float)}[metric]

    def log(self, assumed: Floats | None = None) -> Log:
        """The log in which everything was seen; masks take rows of it and keep its users and items."""
        user, item = (index.ravel() for index in np.indices(self.shape))
        p = self.propensity if assumed is None else assumed
        frame = pl.DataFrame({"user": user, "item": item, "value": self.value.ravel(), "propensity": p.ravel()})
        return Log.from_frame(frame, feedback="ratings")

    def masks(self) -> Iterator[tuple[float, npt.NDArray[np.bool_]]]:
        """Every mask with at least one pair, and its probability; the empty one's estimate is 0 (ips) or none."""
        p = self.propensity.ravel()
        for bits in itertools.product([False, True], repeat=len(p)):
            mask = np.array(bits)
            chance = float(np.prod(np.where(mask, p, 1.0 - p)))
            if mask.any() and chance > 0.0:
                yield chance, mask


def full(seed: int, users: int = 2, items: int = 3) -> Full:
    rng = np.random.default_rng(seed)
    value = rng.integers(1, 6, (users, items)).astype(float)
    propensity = rng.choice([0.15, 0.3, 0.6, 0.9, 1.0], (users, items))
    propensity[0, 0] = 0.3
    return Full(value, propensity, value + rng.choice([-1.4, -0.3, 0.2, 1.1, 2.0], (users, items)))


def estimates(world: Full, log: Log, metrics: list[str], estimator: str) -> tuple[Floats, Floats]:
    """The chances of all masks, and evaluate()'s estimates on each, (masks, metrics)."""
    chances, found = [], []
    for chance, mask in world.masks():
        result = us.evaluate(
            log.take(mask), {"m": world.predicted}, metrics=metrics, estimators=[estimator], propensity="known",
            target="per_pair", threads=1,
        )  # fmt: skip
        chances.append(chance)
        found.append([e.value for e in result.estimates])
    return np.array(chances), np.array(found)


METRICS = ["mae", "mse", "accuracy", "dcg@2"]


@pytest.mark.parametrize("seed", [0, 1])
def test_ips_is_unbiased_with_the_design_variance(seed: int) -> None:
    """E over all masks is the mean over all pairs; the variance is Σ (1/P − 1) δ² / (UI)²."""
    world = full(seed)
    chance, found = estimates(world, world.log(), METRICS, "ips")
    for t, metric in enumerate(METRICS):
        delta = world.delta(metric)
        truth = delta.mean()
        mean = float(chance @ found[:, t])  # the empty mask adds 0
        assert mean == pytest.approx(truth, abs=1e-12)
        spread = float(chance @ found[:, t] ** 2) - mean**2
        assert spread == pytest.approx(float(np.sum((1.0 / world.propensity - 1.0) * delta**2)) / delta.size**2)


def test_the_bias_with_wrong_propensities_is_lemma_5_1() -> None:
    """R − E[R̂] = (1/UI) Σ δ (1 − P/P̂) for ips over propensities that are wrong."""
    world = full(2)
    assumed = np.clip(world.propensity * np.random.default_rng(3).choice([0.5, 0.8, 1.5], world.shape), 0.05, 1.0)
    chance, found = estimates(world, world.log(assumed), ["mae", "mse"], "ips")
    for t, metric in enumerate(["mae", "mse"]):
        delta = world.delta(metric)
        bias = delta.mean() - float(chance @ found[:, t])
        assert abs(bias) > 0.01
        assert lemma_bias(delta, world.propensity, assumed) == pytest.approx(bias, abs=1e-12)
    assert lemma_bias(world.delta("mae"), world.propensity, world.propensity) == 0.0


def ips_of_masks(propensity: Floats, delta: Floats, weigh: Floats) -> tuple[Floats, Floats]:
    """Chances of all masks of a few pairs, and Σ_O δ/P̂ / n, by matrix products: the formula itself."""
    masks = np.array(list(itertools.product([0.0, 1.0], repeat=len(propensity))))
    chances = np.prod(np.where(masks > 0.0, propensity, 1.0 - propensity), axis=1)
    return chances, masks @ (delta / weigh) / len(propensity)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_hoeffding_covers(level: float) -> None:
    """Prop. 3.1: the chance that ips strays no farther than the bound is at least the level; sure pairs add nothing."""
    rng = np.random.default_rng(5)
    tight = 0.0
    for _ in range(30):
        p = rng.choice([0.2, 0.5, 0.8, 1.0], 12)
        p[0] = 0.5
        delta = rng.uniform(0.0, 4.0, 12)
        chances, found = ips_of_masks(p, delta, p)
        reach = hoeffding(p, delta, level=level)
        covered = float(chances[np.abs(found - delta.mean()) <= reach].sum())
        assert covered >= level - 1e-12
        tight = max(tight, 1.0 - float(chances[np.abs(found - delta.mean()) <= reach / 3.0].sum()))
        rho = np.where(p < 1.0, delta / p, 0.0)
        assert reach == pytest.approx(math.sqrt(math.log(2.0 / (1.0 - level)) / 2.0 * (rho**2).sum()) / 12)
        assert hoeffding(p, 4.0, level=level) >= reach
    assert tight > 1.0 - level  # a third of the bound would not cover: it is a bound of this quantity


def test_learning_bounds_are_their_formulas() -> None:
    """(Δ/UI) √(log(2|H|/η)/2 · Σ 1/P²), and the bias Σ |1 − P/P̂| on top."""
    p, guess = np.array([0.1, 0.5, 1.0]), np.array([0.2, 0.4, 0.9])
    root = math.sqrt(math.log(2.0 * 7 / 0.1) / 2.0 * sum(1.0 / x**2 for x in p))
    assert learning(p, 4.0, 7, level=0.9) == pytest.approx(4.0 / 3 * root)
    root = math.sqrt(math.log(2.0 * 7 / 0.1) / 2.0 * sum(1.0 / x**2 for x in guess))
    bias = sum(abs(1.0 - a / b) for a, b in zip(p, guess, strict=True))
    assert learning_estimated(p, guess, 4.0, 7, level=0.9) == pytest.approx(4.0 / 3 * (bias + root))


@pytest.mark.parametrize(
    ("bound", "code"),
    [
        *((partial(hoeffding, p, 1.0), "out-of-range") for p in ([0.0, 0.5], [0.5, 1.5], [], [0.5, math.nan])),
        (partial(learning, [0.0, 0.5], 1.0, 3), "out-of-range"),
        (partial(hoeffding, [0.5], 1.0, level=1.0), "out-of-range"),
        (partial(learning, [0.5], 1.0, 0), "out-of-range"),
        (partial(learning, [0.5], -1.0, 2), "out-of-range"),
        (partial(hoeffding, [0.5, 0.5], [1.0, 2.0, 3.0]), "wrong-shape"),
        (partial(lemma_bias, [1.0], [0.5, 0.5], [0.5, 0.5]), "wrong-shape"),
        (partial(learning_estimated, [0.5], [0.5, 0.4], 1.0, 2), "wrong-shape"),
        (partial(hoeffding, [0.5, 0.5], [1.0, math.nan]), "not-a-number"),
    ],
)
def test_bounds_refuse_nonsense(bound: Callable[[], float], code: str) -> None:
    """No probabilities, levels outside (0, 1), no predictor, costs below 0, costs that do not belong to the pairs."""
    with refuses(code):
        bound()
    assert hoeffding(np.ones(7), np.arange(7.0)) == 0.0  # where everything is seen there is nothing to stray
