"""The world of schnabel16 §6.2 on ML-100K meets the paper's Table 1, with formulas written out in numpy.

Estimates over draws, and their spreads, are compared with the paper's by ``unskew reproduce schnabel16``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from tests.conftest import missing

import unskew as us
from unskew.log.datasets import folder_of
from unskew.simulate import SCHNABEL16, RatingWorld

TABLE_1 = {  # α = .25: true and naive MAE, true DCG@50
    "rec_ones": (0.102, 0.011, 30.76),
    "rec_fours": (0.026, 0.173, 52.00),
    "rotate": (2.579, 1.168, 12.90),
    "skewed": (1.306, 0.912, 24.59),
    "coarsened": (1.320, 0.387, 46.45),
}


def _folded(y: float) -> float:
    """E|y − clip(N(y, σ), 0, 6)|, σ = (6 − y)/2: the mean of |σZ| cut off at the distance to each border."""
    sigma = (6.0 - y) / 2.0
    ends = (y / sigma, (6.0 - y) / sigma)
    return sum(float(sigma * (norm.pdf(0.0) - norm.pdf(a)) + sigma * a * norm.sf(a)) for a in ends)


def test_the_world_is_the_papers() -> None:
    """943 × 1,682, the marginals to the nearest pair, k = .3410, 5 % seen, at least 50 ones for everybody; true MAE
    ± .001 (skewed is random, and held to its expectation too), naive MAE ± .003 on average over draws, DCG@50 ± 3 %:
    ours is another factorisation."""
    if folder_of("ml-100k") is None:
        missing("no ML-100K: set UNSKEW_DATA to the directory that holds ml-100k/")
    world = RatingWorld.like(us.load("ml-100k").mnar)
    assert world.truth.shape == (943, 1682)
    np.testing.assert_allclose(world.marginals, SCHNABEL16, atol=1.0 / world.truth.size)
    p, chance = world.propensity, world.propensity_of
    assert chance[5] == chance[4] == pytest.approx(0.3410, abs=5e-5)
    np.testing.assert_allclose(chance[1:5] / chance[4], [1 / 64, 1 / 16, 1 / 4, 1], rtol=1e-12)
    assert p.mean() == pytest.approx(0.05, rel=1e-12)
    assert np.count_nonzero(world.truth == 1, axis=1).min() >= 50
    for model, made in world.predictions().items():
        true, naive, dcg = TABLE_1[model]
        cost = world.costs("mae", made)
        assert cost.mean() == pytest.approx(true, abs=0.001 if model != "skewed" else 0.003)
        assert float((p * cost).sum() / p.sum()) == pytest.approx(naive, abs=0.003)
        assert world.costs("dcg@50", made).mean() == pytest.approx(dcg, rel=0.03)
        if model == "skewed":
            expected = sum(share * _folded(y) for y, share in enumerate(SCHNABEL16, start=1))
            assert cost.mean() == pytest.approx(expected, abs=4 * cost.std() / np.sqrt(cost.size))
