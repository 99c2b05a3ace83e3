"""Poisson bootstrap by user: weights from a hash, and errors like those of the delta method."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

from tests.engine.passes import first_pass
from tests.inference.errors import difference_error
from unskew.inference.bootstrap import LIMITS, replicate_sums
from unskew.inference.intervals import percentile
from unskew.log import Ids

from .worlds import Floats, draw, numbered, plan_of

CELLS = (
    ("naive", "per_user"),
    ("snips", "per_user"),
    ("gs(strata=5)", "per_user"),
    ("snips", "pooled"),
    ("gs(strata=5)", "pooled"),
    ("ips", "per_user"),
    ("ips", "per_user_sum"),
    ("snips", "per_user_sum"),
)


def weights(ids: Ids, seed: int, replicates: int) -> Floats:
    """The weight of every user in every replicate, ``[replicate, user]``: sums of the columns of a unit matrix."""
    block = 64
    parts = []
    for low in range(0, len(ids), block):
        hashes = ids.hashes[low : low + block]
        parts.append(replicate_sums(np.eye(len(hashes)), hashes, seed, replicates))
    return np.concatenate(parts, axis=1)


@pytest.fixture(scope="module")
def drawn() -> Floats:
    """Weights of 2,048 users in 512 replicates: a million of them."""
    return weights(numbered(2_048), 7, 512)


def test_weights_are_poisson(drawn: Floats) -> None:
    """Frequencies agree with e⁻¹/k! by a chi-square test at the level 0.001 (fixed seed); mean and variance are 1."""
    n = drawn.size
    assert np.mean(drawn) == pytest.approx(1.0, abs=4.0 / math.sqrt(n))
    assert np.var(drawn) == pytest.approx(1.0, abs=4.0 * math.sqrt(3.0 / n))  # Var of (ω − 1)² is 3
    counts = np.bincount(drawn.astype(np.int64).ravel(), minlength=8)
    observed = np.append(counts[:7], counts[7:].sum())
    chances = [math.exp(-1.0) / math.factorial(k) for k in range(7)]
    expected = n * np.array([*chances, 1.0 - sum(chances)])
    assert float(((observed - expected) ** 2 / expected).sum()) < chi2.ppf(0.999, 7)


def test_limits_are_the_poisson_distribution_on_64_bits() -> None:
    """The thresholds rise, and each is P(ω ≤ k) · 2⁶⁴ to double precision."""
    assert (np.diff(LIMITS.astype(np.float64)) >= 0.0).all()
    for k, limit in enumerate(LIMITS[:12]):
        chance = sum(math.exp(-1.0) / math.factorial(j) for j in range(k + 1))
        assert int(limit) / 2**64 == pytest.approx(chance, rel=1e-15)


def test_weights_are_independent_between_replicates_users_and_seeds(drawn: Floats) -> None:
    """Correlations of neighbouring replicates, users and seeds are within 4/√n of 0, also of squared weights."""
    other_seed = weights(numbered(2_048), 8, 512)
    for power in (1, 2):
        w, v = drawn**power, other_seed**power
        pairs = {
            "replicates": (w[:-1], w[1:]), "replicates apart": (w[:256], w[256:]), "users": (w[:, :-1], w[:, 1:]),
            "users apart": (w[:, :1024], w[:, 1024:]), "seeds": (w, v), "seeds, next replicate": (w[:-1], v[1:]),
        }  # fmt: skip
        for left, right in pairs.values():
            r = np.corrcoef(left.ravel(), right.ravel())[0, 1]
            assert abs(r) < 4.0 / math.sqrt(left.size)


def test_sums_of_weights_vary_like_independent_ones(drawn: Floats) -> None:
    """Σω over users has variance U over replicates, and over replicates variance R over users: no hidden structure."""
    for axis in (0, 1):
        totals = drawn.sum(axis=axis)
        ratio = np.var(totals, ddof=1) / drawn.shape[axis]
        assert ratio == pytest.approx(1.0, abs=4.0 * math.sqrt(2.0 / len(totals)))


def test_the_weight_belongs_to_the_id_text() -> None:
    """Numbers and their texts are the same user; a user's weights do not depend on who else is there."""
    as_text = Ids(pl.Series("id", [str(u) for u in range(64)]))
    np.testing.assert_array_equal(weights(as_text, 3, 50), weights(numbered(64), 3, 50))
    some = Ids(pl.Series("id", [5, 17, 40]))
    np.testing.assert_array_equal(weights(some, 3, 50), weights(numbered(64), 3, 50)[:, [5, 17, 40]])
    assert (weights(numbered(64), 4, 50) != weights(numbered(64), 3, 50)).any(axis=0).all()


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_bootstrap_errors_agree_with_the_delta_method(cell: tuple[str, str]) -> None:
    """R = 2,000 replicates: both errors agree to 4/√(2R) = 6 % plus 3 % for 4,000 users, also of differences."""
    held = draw(34, 4_000, (0.4, 0.6)).held()
    plan = plan_of(held, (cell,))
    sums = first_pass(held, plan, replicates=2_000, seed=1)
    assert sums.replicates is not None
    values = plan.cells[0].form.values(sums.replicates[:, plan.cells[0].columns])
    (moments,) = sums.moments
    for model in range(2):
        interval = percentile(values[:, model], 0.95)
        assert interval.se == pytest.approx(math.sqrt(moments.covariance[model, model]), rel=0.095)
    gap = percentile(values[:, 0] - values[:, 1], 0.95)
    assert gap.se == pytest.approx(difference_error(moments, 0, 1), rel=0.095)


def test_percentiles_need_two_replicates() -> None:
    """With fewer than two replicates left there is no interval, rather than a wrong one."""
    nothing = percentile(np.array([math.nan, 0.3, math.nan]), 0.95)
    assert math.isnan(nothing.se) and math.isnan(nothing.low) and math.isnan(nothing.high)
