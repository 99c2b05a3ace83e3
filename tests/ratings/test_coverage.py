"""Do 95 % intervals of averages over pairs cover 95 %? New users, tastes, predictions and exposure in every world.

800 worlds of 1,000 users (``make verify``: 2,000). The Monte Carlo error of a coverage near 95 % is 0.8 points (0.5); a
point and two such errors are tolerated. The population's values come from 300,000 users; their own error is 6 % of the
standard error of a world, which moves a coverage by about 0.1 points.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.inference.worlds import many
from tests.ratings.worlds import METRICS, Floats, draw, plan_of
from tests.worlds import monte_carlo_error, worlds
from unskew.inference.contrast import alone
from unskew.inference.intervals import percentile

pytestmark = pytest.mark.study
WORLDS, USERS, REPLICATES, LEVEL = worlds(800, 2_000), 1_000, 300, 0.95
TOLERANCE = 0.01 + 2.0 * monte_carlo_error(LEVEL, WORLDS)  # 2.5 points, with all worlds 2
POPULATION = 300_000
ESTIMATORS = ("naive", "ips", "snips", "snips(over=user)")
CELLS = tuple(product(ESTIMATORS, METRICS))
DEBIASED = tuple(cell for cell in CELLS if cell[0] in ("ips", "snips"))


@dataclass(frozen=True, eq=False)
class Coverage:
    """Values of the population, and of every world and cell: score low, high, bootstrap low, high, value."""

    truth: Floats
    own: Floats
    found: Floats

    def share(self, method: str, cell: tuple[str, str], aim: Floats) -> float:
        """Share of worlds whose interval holds the aim."""
        place = CELLS.index(cell)
        low, high = self.found[:, place, {"score": slice(0, 2), "bootstrap": slice(2, 4)}[method]].T
        return float(np.mean((low <= aim[place]) & (aim[place] <= high)))


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    population = draw(1, POPULATION)
    held = population.held()
    plan = plan_of(held, ESTIMATORS)
    own = np.array([m.values[0] for m in first_pass(held, plan).moments])
    truth = np.array([population.truth(metric)[0] for _, metric in CELLS])
    return Coverage(truth, own, np.array(many(_one, range(2, 2 + WORLDS))))


def _one(seed: int) -> Floats:
    held = draw(seed, USERS).held()
    plan = plan_of(held, ESTIMATORS)
    sums = first_pass(held, plan, replicates=REPLICATES, seed=seed, threads=1)
    assert sums.replicates is not None
    out = np.empty((len(CELLS), 5))
    for place, (cell, moments) in enumerate(zip(plan.cells, sums.moments, strict=True)):
        value = float(moments.values[0])
        low, high = alone(moments, 0).interval(1.0 - LEVEL)
        drawn = percentile(cell.form.values(sums.replicates[:, cell.columns])[:, 0], LEVEL)
        out[place] = low, high, drawn.low, drawn.high, value
    return out


@pytest.mark.parametrize("method", ["score", "bootstrap"])
@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_intervals_cover(coverage: Coverage, cell: tuple[str, str], method: str) -> None:
    """ips and snips with known propensities cover the mean over all pairs in 95 % of the worlds; naive and ratios per
    user cover their own large-sample value."""
    aim = coverage.truth if cell in DEBIASED else coverage.own
    assert coverage.share(method, cell, aim) == pytest.approx(LEVEL, abs=TOLERANCE)


@pytest.mark.parametrize("metric", METRICS)
def test_naive_misses_the_truth(coverage: Coverage, metric: str) -> None:
    """The worlds are really skewed: naive intervals hold the truth in fewer than 5 % of them."""
    assert coverage.share("score", ("naive", metric), coverage.truth) < 0.05


@pytest.mark.parametrize("cell", DEBIASED, ids=" ".join)
def test_debiased_estimates_are_centred_on_the_truth(coverage: Coverage, cell: tuple[str, str]) -> None:
    """Averaged over worlds the estimate is the truth, within four errors of that average."""
    place = CELLS.index(cell)
    values = coverage.found[:, place, 4]
    error = np.std(values) * np.sqrt(1.0 / WORLDS + USERS / POPULATION)
    assert np.mean(values) == pytest.approx(coverage.truth[place], abs=4.0 * error)


def test_ratios_per_user_lie_between_naive_and_the_truth(coverage: Coverage) -> None:
    """snips(over=user) leans towards naive where users have few pairs; one divisor for all does not."""
    own = dict(zip(CELLS, coverage.own, strict=True))
    truth = coverage.truth[CELLS.index(("naive", "mse"))]
    naive, inside = own["naive", "mse"], own["snips(over=user)", "mse"]
    assert min(naive, truth) < inside < max(naive, truth)
    assert own["snips", "mse"] == pytest.approx(truth, rel=0.02)
