"""Sums that merge: any partition of the users, in any order, gives the same estimates and errors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.inference.errors import difference_error
from tests.ratings import worlds as ratings
from unskew.engine.sums import Sums
from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm

from .worlds import Floats, draw, plan_of

MODELS = 3
Way = Callable[[np.random.Generator], Floats]


def ordinary(rng: np.random.Generator) -> Floats:
    """Per-user columns of three models and a divisor, with many users that have nothing."""
    users = 700
    b = rng.gamma(1.5, 2.0, users) * (rng.random(users) < 0.6)
    a = b[:, None] * rng.random((users, MODELS))
    return np.column_stack([a, b])


def far_from_zero(rng: np.random.Generator) -> Floats:
    """Columns whose mean is 1e7 times their spread: uncentred sums of squares would lose all digits."""
    return np.column_stack([1e7 + rng.normal(size=(600, MODELS)), np.ones(600)])


def nearly_equal(rng: np.random.Generator) -> Floats:
    """Models that differ by 1e-6 of their values in a few users."""
    x = ordinary(rng)
    x[:, 1] = x[:, 0] * (1.0 + 1e-6 * (rng.random(len(x)) < 0.05))
    x[:, 2] = x[:, 0]
    return x


def drifting(rng: np.random.Generator) -> Floats:
    """Users sorted by size over nine decades: blocks have means that are nothing like the whole's."""
    b = np.sort(10.0 ** rng.uniform(-4.0, 5.0, 800))
    return np.column_stack([b[:, None] * rng.random((800, MODELS)), b])


WAYS: list[Way] = [ordinary, far_from_zero, nearly_equal, drifting]
COLUMNS = np.arange(MODELS + 1)


def merged(x: Floats, rng: np.random.Generator, parts: int) -> Moments:
    """Moments of a random partition, merged in a random order as a random tree, with empty parts among them."""
    owner = rng.integers(0, parts, len(x))
    trees = [Moments.of(x[owner == part], COLUMNS, RatioForm(MODELS)) for part in rng.permutation(parts + 2)]
    while len(trees) > 1:
        left, right = trees.pop(int(rng.integers(len(trees)))), trees.pop(int(rng.integers(len(trees))))
        trees.append(left.merge(right))
    return trees[0]


@pytest.mark.parametrize("parts", [2, 7, 60])
@pytest.mark.parametrize("way", WAYS)
def test_merging_any_partition_in_any_order_is_one_pass(way: Way, parts: int) -> None:
    """values to 1e-12, errors to 1e-9, errors of differences to 1e-7 of the larger single one."""
    rng = np.random.default_rng([parts, WAYS.index(way)])
    x = way(rng)
    whole = Moments.of(x, COLUMNS, RatioForm(MODELS))
    single = np.sqrt(np.diag(whole.covariance))
    for _ in range(10):
        other = merged(x, rng, parts)
        assert (other.users, other.active) == (whole.users, whole.active)
        np.testing.assert_array_equal(other.differ, whole.differ)
        np.testing.assert_allclose(other.wins, whole.wins, rtol=1e-9)
        np.testing.assert_allclose(other.values, whole.values, rtol=1e-12)
        np.testing.assert_allclose(np.sqrt(np.diag(other.covariance)), single, rtol=1e-9)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            error = difference_error(other, a, b)
            assert error == pytest.approx(difference_error(whole, a, b), rel=1e-9, abs=1e-7 * max(single[a], single[b]))


def explicit(x: Floats, model: int) -> tuple[float, list[float]]:
    """One model's ratio and each user's influence on it, in exact sums and plain loops."""
    users = len(x)
    a, b = math.fsum(x[:, model]) / users, math.fsum(x[:, MODELS]) / users
    return a / b, [(row[model] - a / b * row[MODELS]) / b for row in x.tolist()]


def error_of(influence: list[float], active: int) -> float:
    """√(m/(m−1) · Σ e² / n²)."""
    return math.sqrt(active / (active - 1) * math.fsum(e * e for e in influence)) / len(influence)


@pytest.mark.parametrize("way", WAYS)
def test_errors_are_those_of_explicit_loops(way: Way) -> None:
    """SE² = m/(m−1) · Σ e_u² / n², m the users with a column other than 0; also for differences."""
    x = way(np.random.default_rng(WAYS.index(way)))
    moments = Moments.of(x, COLUMNS, RatioForm(MODELS))
    active = sum(any(value != 0.0 for value in row) for row in x.tolist())
    assert moments.active == active
    assert moments.users == len(x)
    errors, influences = [], []
    for model in range(MODELS):
        value, influence = explicit(x, model)
        influences.append(influence)
        errors.append(error_of(influence, active))
        assert moments.values[model] == pytest.approx(value, rel=1e-12)
        assert math.sqrt(moments.covariance[model, model]) == pytest.approx(errors[model], rel=1e-9)
    for a in range(MODELS):
        for b in range(MODELS):
            gap = [left - right for left, right in zip(influences[a], influences[b], strict=True)]
            slack = 1e-7 * max(errors[a], errors[b])
            assert difference_error(moments, a, b) == pytest.approx(error_of(gap, active), rel=1e-9, abs=slack)
            cross = math.fsum(e * f for e, f in zip(influences[a], influences[b], strict=True))
            expected = active / (active - 1) * cross / len(x) ** 2
            assert moments.covariance[a, b] == pytest.approx(expected, rel=1e-8, abs=1e-9 * errors[a] * errors[b])
            apart = [row[a] - (row[b] if b != a else 0.0) for row in x.tolist()]
            assert moments.differ[a, b] == sum(d != 0.0 for d in apart)
            ahead = apart if b != a else [abs(d) for d in apart]
            for power, found in ((1, moments.wins[0, a, b]), (2, moments.wins[1, a, b])):
                assert found == pytest.approx(math.fsum(d**power for d in ahead if d > 0.0), rel=1e-9)
            assert moments.wins[2, a, b] == pytest.approx(math.fsum(d**4 for d in apart), rel=1e-9)


@pytest.mark.parametrize("factors", [1, 2, 3])
def test_gradients_are_derivatives(factors: int) -> None:
    """The gradient of the delta method is the derivative of the value, checked by finite differences."""
    rng = np.random.default_rng(factors)
    models = 3
    mean = rng.uniform(0.5, 2.0, factors * (models + 1))
    form = RatioForm(models, ((False,) * factors,))
    gradient = form.gradients(mean)
    for column in range(len(mean)):
        step = np.zeros_like(mean)
        step[column] = 1e-6
        slope = (form.values(mean + step) - form.values(mean - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-6, atol=1e-8)


def test_nothing_to_divide_by_is_no_number() -> None:
    """Without a divisor there is no value; with fewer than two counting users there is no error."""
    nobody = Moments.of(np.zeros((5, 4)), COLUMNS, RatioForm(MODELS))
    assert np.isnan(nobody.values).all()
    assert np.isnan(nobody.covariance).all()
    x = np.zeros((5, 4))
    x[2] = 0.3, 0.6, 0.9, 1.0
    one = Moments.of(x, COLUMNS, RatioForm(MODELS))
    np.testing.assert_allclose(one.values, [0.3, 0.6, 0.9])
    assert np.isnan(one.covariance).all()
    assert math.isnan(difference_error(one, 0, 1))
    two = one.merge(Moments.of(np.array([[0.1, 0.2, 0.3, 1.0]]), COLUMNS, RatioForm(MODELS)))
    assert np.isfinite(two.covariance).all()


CELLS = (
    ("naive", "per_user"),
    ("snips", "per_user"),
    ("gs(strata=5)", "pooled"),
    ("snips", "pooled"),
    ("ips", "per_user"),
    ("ips", "per_user_sum"),
    ("snips", "per_user_sum"),
)


@pytest.mark.parametrize("made", ["lists", "ratings"])
def test_the_engine_gives_the_same_sums_for_every_division(made: str) -> None:
    """Blocks of 1, 17, 64 or all users, by 1 or 3 threads: the same estimates, errors, tallies and replicates."""
    if made == "lists":
        held = draw(21, 900, (0.4, 0.5)).held()
        plan = plan_of(held, CELLS)
    else:
        held = ratings.draw(11, 300, (0.5, 0.8)).held()
        plan = ratings.plan_of(held, ("naive", "ips", "snips", "snips(over=user)", "clipped(snips, at=0.2)"))

    def run(block: int, threads: int) -> Sums:
        return first_pass(held, plan, replicates=30, seed=5, threads=threads, block=block)

    whole = run(10_000, 1)
    assert whole.replicates is not None
    for block, threads in ((1, 1), (17, 3), (64, 1), (64, 3)):
        other = run(block, threads)
        for left, right in zip(other.moments, whole.moments, strict=True):
            np.testing.assert_allclose(left.values, right.values, rtol=1e-12)
            np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-9, atol=1e-18)
            assert difference_error(left, 0, 1) == pytest.approx(difference_error(right, 0, 1), rel=1e-7)
            assert (left.users, left.active) == (right.users, right.active)
            np.testing.assert_array_equal(left.differ, right.differ)
        for one, all_of_it in zip(other.tallies, whole.tallies, strict=True):
            assert (one.ess, one.max_weight_share) == pytest.approx((all_of_it.ess, all_of_it.max_weight_share))
            assert (one.pairs, one.raised) == (all_of_it.pairs, all_of_it.raised)
            np.testing.assert_array_equal(one.bins, all_of_it.bins)
        assert other.replicates is not None
        np.testing.assert_allclose(other.replicates, whole.replicates, rtol=1e-10)
    np.testing.assert_array_equal(run(64, 3).replicates, run(64, 1).replicates)
