"""The world of schnabel16 §6.2 on ML-100K meets the paper's Table 1, with formulas written out in numpy.

Estimates over draws, and their spreads, are compared with the paper's by ``unskew reproduce schnabel16``.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm
from tests.conftest import missing

import unskew as us
from unskew.log.datasets import folder_of
from unskew.simulate import SCHNABEL16, RatingWorld

Floats = npt.NDArray[np.float64]
MODELS = ("rec_ones", "rec_fours", "rotate", "skewed", "coarsened")
# The paper's Table 1 (α = .25): true and naive MAE, true DCG@50.
TRUE = dict(zip(MODELS, (0.102, 0.026, 2.579, 1.306, 1.320), strict=True))
NAIVE = dict(zip(MODELS, (0.011, 0.173, 1.168, 0.912, 0.387), strict=True))
TRUE_DCG = dict(zip(MODELS, (30.76, 52.00, 12.90, 24.59, 46.45), strict=True))


@pytest.fixture(scope="module")
def world() -> RatingWorld:
    if folder_of("ml-100k") is None:
        missing("no ML-100K: set UNSKEW_DATA to the directory that holds ml-100k/")
    return RatingWorld.like(us.load("ml-100k").mnar)


@pytest.fixture(scope="module")
def costs(world: RatingWorld) -> dict[tuple[str, str], Floats]:
    made = world.predictions()
    return {(name, metric): world.costs(metric, made[name]) for name, metric in product(MODELS, ("mae", "dcg@50"))}


def test_the_matrix_is_the_papers(world: RatingWorld) -> None:
    """943 × 1,682, the marginals to the nearest pair, k = .3410, 5 % seen, and at least 50 ones for everybody."""
    assert world.truth.shape == (943, 1682)
    np.testing.assert_allclose(world.marginals, SCHNABEL16, atol=1.0 / world.truth.size)
    assert world.propensity_of[5] == world.propensity_of[4] == pytest.approx(0.3410, abs=5e-5)
    np.testing.assert_allclose(
        world.propensity_of[1:5] / world.propensity_of[4], [1 / 64, 1 / 16, 1 / 4, 1], rtol=1e-12
    )
    assert world.propensity.mean() == pytest.approx(0.05, rel=1e-12)
    assert np.count_nonzero(world.truth == 1, axis=1).min() >= 50


@pytest.mark.parametrize("model", MODELS)
def test_true_mae(model: str, costs: dict[tuple[str, str], Floats]) -> None:
    """± .001; skewed is random (its error over 1.6 million pairs is .0008), so it is held to its expectation too."""
    mae = float(costs[model, "mae"].mean())
    assert mae == pytest.approx(TRUE[model], abs=0.001 if model != "skewed" else 0.003)
    if model == "skewed":
        expected = sum(share * _folded(y) for y, share in enumerate(SCHNABEL16, start=1))
        assert mae == pytest.approx(expected, abs=4 * costs[model, "mae"].std() / np.sqrt(costs[model, "mae"].size))


def _folded(y: float) -> float:
    """E|y − clip(N(y, σ), 0, 6)|, σ = (6 − y)/2: the mean of |σZ| cut off at the distance to each border."""
    sigma = (6.0 - y) / 2.0
    return sum(
        float(sigma * (norm.pdf(0.0) - norm.pdf(a)) + sigma * a * norm.sf(a)) for a in (y / sigma, (6.0 - y) / sigma)
    )


@pytest.mark.parametrize("model", MODELS)
def test_naive_is_wrong_as_in_the_paper(model: str, world: RatingWorld, costs: dict[tuple[str, str], Floats]) -> None:
    """What it is on average over draws: ± .003 on MAE, which depends on the marginals only."""
    p = world.propensity
    assert float((p * costs[model, "mae"]).sum() / p.sum()) == pytest.approx(NAIVE[model], abs=0.003)


@pytest.mark.parametrize("model", MODELS)
def test_dcg_depends_on_the_completion_but_not_by_much(model: str, costs: dict[tuple[str, str], Floats]) -> None:
    """Ours is another factorisation than the paper's; its true DCG@50 is within 3 %."""
    assert costs[model, "dcg@50"].mean() == pytest.approx(TRUE_DCG[model], rel=0.03)
