"""Worlds in which users come back with the same taste: how often intervals and verdicts over folds are right.

    python -m tests.cross_validation.returning_users        prints the figures of docs/cross_validation.md

Worlds are drawn anew: users with a lasting taste for what each model lists, who are active in several folds, more or
less so, and with folds of different sizes and values. The truth is the value of very many users.

In leaning worlds there are many small folds, and clicks with weights that differ much. One model hits light clicks, the
other one heavy clicks, and both are worth the same: ratios inside folds lean towards the one with the light hits.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unskew import estimators
from unskew.cross_validation import Average
from unskew.cross_validation.fold_sums import FoldSums
from unskew.cross_validation.merging import Folds
from unskew.inference.verdict import Outcome
from unskew.judging.answer import Answer, answer
from unskew.judging.measure import error_per_comparison

FOLDS, USERS = 8, 400
SIZE = np.linspace(0.4, 1.6, FOLDS)  # of a fold, as it multiplies activity
RISE = np.linspace(1.3, 0.7, FOLDS)  # of the values over time
KEY = ["recall@10", "naive", "pooled"]
Floats = npt.NDArray[np.float64]


class World(NamedTuple):
    """Clicks, and hits of two models, by [fold, user]; and the users' weights in the truth."""

    clicks: Floats
    hits: Floats


def draw(seed: int, users: int = USERS) -> World:
    """Two models that are equally good on average, each for its own users; heavy users have a taste of their own."""
    rng = np.random.default_rng(seed)
    active = rng.gamma(0.8, 1.0, users)
    taste = np.clip(rng.beta(0.4, 1.6, (2, users)) * (1.0 - 0.3 * (active > 1.5)), 0.0, 0.75)
    clicks = rng.poisson(SIZE[:, None] * active).astype(np.float64)
    chance = np.clip(RISE[:, None, None] * taste, 0.0, 1.0)
    hits = rng.binomial(clicks.astype(int)[:, None, :], chance.transpose(0, 1, 2)).astype(np.float64)
    return World(clicks, hits)


def lean(seed: int, users: int = 200, folds: int = 30, sigma: float = 1.4) -> World:
    """Log-normal weights w = e^(σz); among clicks that count by w, z is normal around σ: both hit a fifth of these."""
    rng = np.random.default_rng(seed)
    active = rng.gamma(1.5, 1.0, users) / 1.5
    count = rng.poisson(0.3 * active, (folds, users))
    light, low, high = (sigma + NormalDist().inv_cdf(share) for share in (0.2, 0.7, 0.9))
    clicks, hits = np.zeros((folds, users)), np.zeros((folds, 2, users))
    for f in range(folds):
        user, z = np.repeat(np.arange(users), count[f]), rng.normal(size=count[f].sum())
        weight = np.exp(sigma * z)
        clicks[f] = np.bincount(user, weight, users)
        for model, hit in enumerate((z < light, (z > low) & (z < high))):
            hits[f, model] = np.bincount(user, weight * hit, users)
    return World(clicks, hits)


def fold(place: int, clicks: Floats, hits: Floats) -> FoldSums:
    """What would be kept of a fold with these columns."""
    there = np.flatnonzero(clicks)
    nothing: dict[str, Any] = {"item": np.empty(0, dtype=np.int64), "seen": np.empty(0), "counted": []}
    told: dict[str, Any] = {
        "propensity": None, "tested": False, "wrong_column": "", "assumption": "", "split": "", "places": False,
        "shortage": 0.0, "relative": True, "refused": [],
    }  # fmt: skip
    return FoldSums(
        label=str(place), window="", judged=len(there), train_rows=1, test_rows=int(clicks.sum()), left_out={},
        kept=[["naive", "pooled", ["recall@10"]]], depth=10, cells=[KEY], columns=[[0, 1, 2]], user=there,
        x=np.column_stack([hits[0, there], hits[1, there], clicks[there]]), runs=[KEY[1:]],
        tally=np.array([[clicks.sum(), clicks.sum(), 1.0, clicks.sum(), 0.0, 0.0]]),
        bins=np.zeros((1, 128), dtype=np.int64), carried=np.ones((1, 2, 4)), clicks=np.full((1, 2), -1),
        click_bias=np.zeros((1, 2)), click_error=np.zeros((1, 2, 2)), heavy_bias=np.zeros((1, 2)),
        heavy_error=np.zeros((1, 2, 2)), worths=["recall@10"], unsupported=np.zeros((1, 2)),
        differing=np.full((1, 1, 2, 4), np.nan), listed=[False], brought=np.empty((0, 0, 0)),
        extent=np.array([clicks.sum(), len(there), 1.0, math.inf, -math.inf, -math.inf]),
        filled=np.full((2, 11), len(there)), single=0, clicking=len(there), support_gap=math.nan, told=told, **nothing,
    )  # fmt: skip


def judged(world: World, way: Average) -> Answer:
    sums = [fold(f, clicks, hits) for f, (clicks, hits) in enumerate(zip(world.clicks, world.hits, strict=True))]
    hashes = np.arange(world.clicks.shape[1], dtype=np.uint64)
    measured = Folds(sums, ("a", "b"), (estimators.make("naive"),), hashes, 0.95).measured(way)
    return answer(measured, error_per_comparison([measured]))


def as_if_independent(world: World) -> float:
    """The standard error of the macro difference from each fold's own error, as if folds shared nobody."""
    total = 0.0
    for clicks, hits in zip(world.clicks, world.hits, strict=True):
        gap = hits[0] - hits[1]
        delta = gap.sum() / clicks.sum()
        total += float(np.sum((gap - delta * clicks) ** 2)) / clicks.sum() ** 2
    return math.sqrt(total) / FOLDS


def truths() -> dict[Average, float]:
    """Model a's value among very many users."""
    many = draw(0, 400_000)
    by_fold = many.hits[:, 0].sum(axis=1) / many.clicks.sum(axis=1)
    pooled = many.hits[:, 0].sum() / many.clicks.sum()
    return {Average.MACRO: float(by_fold.mean()), Average.POOLED: float(pooled)}


class Figures(NamedTuple):
    """Over many worlds, by way of putting folds together: how often intervals hold, and how often equals are decided.

    Args:
        careless: how often macro would decide with the error of independent folds.
    """

    inside: dict[Average, float]
    decided: dict[Average, float]
    careless: float


def figures(count: int) -> Figures:
    """So many worlds."""
    truth = truths()
    inside, decided, careless = dict.fromkeys(Average, 0), dict.fromkeys(Average, 0), 0
    for seed in range(count):
        world = draw(1_000 + seed)
        for way in Average:
            found = judged(world, way)
            first, (verdict,) = found.estimates[0], found.verdicts
            inside[way] += first.low <= truth[way] <= first.high
            decided[way] += Outcome(verdict.verdict).decided
            if way is Average.MACRO:
                careless += abs(verdict.difference) > 1.96 * as_if_independent(world)
    return Figures(
        {way: inside[way] / count for way in Average}, {way: decided[way] / count for way in Average}, careless / count
    )


class Leaning(NamedTuple):
    """Over many leaning worlds: how often intervals of macro hold, and how often equals are decided.

    Args:
        careless: how often they would be, if folds with few users were no reason to doubt.
    """

    inside: float
    decided: float
    careless: float


def leaning(count: int) -> Leaning:
    """So many worlds."""
    inside = decided = careless = 0
    for seed in range(count):
        found = judged(lean(seed), Average.MACRO)
        first, (verdict,) = found.estimates[0], found.verdicts
        inside += first.low <= 0.2 <= first.high
        decided += Outcome(verdict.verdict).decided
        careless += abs(verdict.difference) > 1.96 * verdict.se
    return Leaning(inside / count, decided / count, careless / count)


if __name__ == "__main__":
    found = figures(2_000)
    for way in Average:
        print(f"{way}: 95 % intervals hold {found.inside[way]:.3f}, equal models are decided {found.decided[way]:.3f}")
    print(f"macro with the error of independent folds: equal models are decided {found.careless:.3f}")
    small = leaning(2_000)
    print(f"thirty small folds, uneven weights: intervals hold {small.inside:.3f}, equal models are decided", end=" ")
    print(f"{small.decided:.3f}; without the rule {small.careless:.3f}")
