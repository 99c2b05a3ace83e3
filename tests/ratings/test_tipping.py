"""Tipping points of averages over pairs against brute force: every row's weight low or high, all 2ⁿ ways."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from tests.ratings.worlds import Floats, answered, held_of
from tests.tipping import of_every_pair
from unskew.engine.data import EvaluationData
from unskew.inference.tipping import GRID
from unskew.result import Verdict

CLOSED = ("naive", "ips", "snips", "clipped(ips, at=0.3)", "clipped(snips, at=0.3)")
INSIDE = ("snips(over=user)", "clipped(snips(over=user), at=0.3)")
METRICS = ("mae", "mse", "rmse", "accuracy")


def small(seed: int, *, relative: bool, users: int = 4, rows: int = 9) -> EvaluationData:
    """A few users and two models; one user has no rows."""
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, users - 1, rows))
    counts = np.bincount(owner, minlength=users)
    item = np.concatenate([np.sort(rng.choice(10, n, replace=False)) for n in counts]).astype(np.int32)
    rating = rng.integers(1, 6, rows).astype(np.float64)
    predicted = [rating + rng.choice([-2.0, -1.0, -0.3, 0.0, 0.4, 1.5], rows) for _ in range(2)]
    propensity = rng.choice([0.1, 0.25, 0.5, 0.8, 1.0], rows)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return held_of(indptr, item, rating, propensity, predicted, 10, relative)


@dataclass(frozen=True, eq=False)
class Brute:
    """One cell by plain loops; ``low`` and ``high`` bound the weights for a Γ."""

    held: EvaluationData
    estimator: str
    metric: str

    @property
    def inverse(self) -> Floats:
        assert self.held.propensity is not None
        if self.estimator == "naive":
            return np.ones(len(self.held.propensity))
        floor = 0.3 if "clipped" in self.estimator else 0.0
        return 1.0 / np.maximum(self.held.propensity, floor)

    def costs(self, model: int) -> Floats:
        predicted = self.held.predicted[model]
        assert predicted is not None and self.held.rating is not None
        error = np.abs(predicted - self.held.rating)
        if self.metric == "mae":
            return error
        return (error < 0.5).astype(float) if self.metric == "accuracy" else error**2

    def estimate(self, model: int, weights: Floats) -> Floats:
        """The estimate for each row of a matrix of weights."""
        cost = self.costs(model)
        if "over=user" in self.estimator:
            ratios = []
            for u in range(self.held.users):
                rows = slice(self.held.indptr[u], self.held.indptr[u + 1])
                if rows.stop > rows.start:
                    ratios.append((weights[:, rows] @ cost[rows]) / weights[:, rows].sum(axis=1))
            found = np.mean(ratios, axis=0)
        elif "ips" in self.estimator.replace("snips", ""):
            found = weights @ cost / (10.0 * self.held.users)
        else:
            found = weights @ cost / weights.sum(axis=1)
        return np.asarray(np.sqrt(found) if self.metric == "rmse" else found)

    @property
    def lead(self) -> float:
        weights = self.inverse[None, :]
        return float((self.estimate(0, weights) - self.estimate(1, weights))[0])

    def worst(self, gamma: float) -> float:
        """The least lead of the model that is ahead in number, over all corners."""
        fixed = 0.0 if self.held.relative or self.estimator == "naive" else 1.0
        low, high = (fixed + (self.inverse - fixed) * g for g in (1.0 / gamma, gamma))
        corners = np.array(list(itertools.product([False, True], repeat=len(low))))
        weights = np.where(corners, high, low)
        sign = math.copysign(1.0, self.lead)
        return float((sign * (self.estimate(0, weights) - self.estimate(1, weights))).min())


def verdict(held: EvaluationData, estimator: str, metric: str, replicates: int = 0) -> Verdict:
    """The pair's row, with its tipping point also where so few users decide nothing."""
    with of_every_pair():
        (row,) = answered(held, (estimator,), (metric,), replicates).verdicts
    return row


def crossing(brute: Brute) -> float:
    """Where the worst case turns between two neighbours of the grid; ∞ where it does not up to the last."""
    squared = Brute(brute.held, brute.estimator, brute.metric.replace("rmse", "mse"))  # the root changes no sign
    worst = [squared.worst(gamma) for gamma in GRID]
    after = next((j for j, value in enumerate(worst) if value <= 1e-12), None)
    if after is None:
        return math.inf
    part = worst[after - 1] / (worst[after - 1] - worst[after])
    return math.exp((1.0 - part) * math.log(GRID[after - 1]) + part * math.log(GRID[after]))


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("estimator", [*CLOSED, *INSIDE])
def test_tipping_points_are_where_the_worst_case_turns(estimator: str, metric: str, relative: bool) -> None:
    """Just below Γ* no weights undo the lead, just above some do; ∞ where none ever do. Either model may lead.

    Of ratios per user the crossing lies between the same neighbours of the grid as all corners say.
    """
    finite, signs = 0, set()
    for seed in range(8):
        held = small(seed, relative=relative)
        brute, row = Brute(held, estimator, metric), verdict(held, estimator, metric)
        assert row.difference == pytest.approx(brute.lead, rel=1e-9, abs=1e-12)
        if abs(brute.lead) < 1e-9:
            continue
        signs.add(brute.lead > 0.0)
        assert row.tipping is not None
        finite += math.isfinite(row.tipping)
        if estimator in INSIDE:
            assert row.tipping == pytest.approx(crossing(brute), rel=1e-6)
            continue
        assert row.tipping_kind == ("ratio" if relative or estimator == "naive" else "odds")
        if math.isinf(row.tipping):
            assert brute.worst(1e6) >= -1e-9
        else:
            assert brute.worst(row.tipping * (1.0 - 1e-6)) > 0.0 > brute.worst(row.tipping * (1.0 + 1e-6))
    assert finite >= 2 and signs == {True, False}
