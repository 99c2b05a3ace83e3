"""Do 95 % intervals cover 95 %? New users, preferences, lists and exposure in every world.

800 worlds of 1,000 users (``make verify``: 2,000). The Monte Carlo error of a coverage near 95 % is 0.8 points (0.5); a
point and two such errors are tolerated. The population's values come from a million users; their own error is 3 % of
the standard error of a world, which moves a coverage by less than 0.1 points. Percentiles of 400 replicates are the
11th order statistics from either end and hold 94.5 % of the bootstrap distribution, half a point less than its
quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.worlds import monte_carlo_error, worlds
from unskew.estimators import Target
from unskew.inference.contrast import alone
from unskew.inference.intervals import percentile

from .worlds import Floats, draw, many, plan_of

pytestmark = pytest.mark.study
WORLDS, USERS, REPLICATES, LEVEL = worlds(800, 2_000), 1_000, 400, 0.95
TOLERANCE = 0.01 + 2.0 * monte_carlo_error(LEVEL, WORLDS)  # 2.5 points, with all worlds 2
POPULATION = 1_000_000
QUALITY = (0.5,)

UNBIASED = (("ips", "per_user"), ("ips", "per_user_sum"), ("snips", "pooled"), ("snips", "per_user_sum"))
DESCRIPTIVE = (
    ("naive", "per_user"),
    ("naive", "pooled"),
    ("snips", "per_user"),
    ("gs(strata=5)", "per_user"),
    ("gs(strata=5)", "pooled"),
)
CELLS = UNBIASED + DESCRIPTIVE


@dataclass(frozen=True, eq=False)
class Coverage:
    """Values of the population, and the bounds of every interval: ``[world, cell, low / high]`` by method."""

    truth: Floats
    own: Floats
    bounds: dict[str, Floats]
    values: Floats

    def share(self, method: str, cell: tuple[str, str], aim: Floats) -> float:
        """Share of worlds whose interval holds the aim."""
        place = CELLS.index(cell)
        low, high = self.bounds[method][:, place].T
        return float(np.mean((low <= aim[place]) & (aim[place] <= high)))


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    population = draw(1, POPULATION, QUALITY)
    held = population.held()
    plan = plan_of(held, CELLS)
    own = np.array([m.values[0] for m in first_pass(held, plan).moments])
    truth = np.array([population.truth(Target.make(target))[0] for _, target in CELLS])
    found = np.array(many(_one, range(2, 2 + WORLDS)))
    return Coverage(truth, own, {"score": found[:, :, 0:2], "bootstrap": found[:, :, 2:4]}, found[:, :, 4])


def _one(seed: int) -> Floats:
    """Per cell the bounds of the score and the bootstrap interval, and the value."""
    held = draw(seed, USERS, QUALITY).held()
    plan = plan_of(held, CELLS)
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
@pytest.mark.parametrize("cell", UNBIASED, ids=" ".join)
def test_intervals_of_debiased_estimates_cover_the_truth(
    coverage: Coverage, cell: tuple[str, str], method: str
) -> None:
    """ips with known propensities and pooled (or summed) snips cover the population's truth in 95 % of the worlds."""
    assert coverage.share(method, cell, coverage.truth) == pytest.approx(LEVEL, abs=TOLERANCE)


@pytest.mark.parametrize("method", ["score", "bootstrap"])
@pytest.mark.parametrize("cell", DESCRIPTIVE, ids=" ".join)
def test_intervals_of_other_estimates_cover_their_own_limit(
    coverage: Coverage, cell: tuple[str, str], method: str
) -> None:
    """naive, gs and per-user snips cover their own large-sample value in 95 % of the worlds."""
    assert coverage.share(method, cell, coverage.own) == pytest.approx(LEVEL, abs=TOLERANCE)


@pytest.mark.parametrize("method", ["score", "bootstrap"])
@pytest.mark.parametrize("target", ["per_user", "pooled"])
def test_naive_intervals_miss_the_truth(coverage: Coverage, target: str, method: str) -> None:
    """The world is really skewed: naive intervals hold the truth in fewer than 5 % of the worlds."""
    assert coverage.share(method, ("naive", target), coverage.truth) < 0.05


@pytest.mark.parametrize("cell", UNBIASED, ids=" ".join)
def test_debiased_estimates_are_centred_on_the_truth(coverage: Coverage, cell: tuple[str, str]) -> None:
    """Averaged over worlds the estimate is the truth, within four errors of that average and of the truth itself."""
    place = CELLS.index(cell)
    values = coverage.values[:, place]
    error = np.std(values) * np.sqrt(1.0 / WORLDS + USERS / POPULATION)
    assert np.mean(values) == pytest.approx(coverage.truth[place], abs=4.0 * error)


def test_per_user_ratios_lie_between_naive_and_the_truth(coverage: Coverage) -> None:
    """per-user snips leans towards naive where users have few clicks; pooled snips does not."""
    own = dict(zip(CELLS, coverage.own, strict=True))
    truth = dict(zip(CELLS, coverage.truth, strict=True))
    assert truth["snips", "per_user"] + 0.02 < own["snips", "per_user"] < own["naive", "per_user"] - 0.02
    assert own["snips", "pooled"] == pytest.approx(truth["snips", "pooled"], rel=0.02)
