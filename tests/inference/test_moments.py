"""Sums that merge: any partition of the users, in any order, gives the same estimates and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.inference.errors import difference_error
from unskew.engine.sums import Sums
from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm
from unskew.inference.tally import Tally

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


def test_silent_users_enlarge_the_sample_but_not_the_correction() -> None:
    """n counts everybody, m only users with a column other than 0: silent users leave a ratio's error as it is."""
    x = ordinary(np.random.default_rng(4))
    padded = np.concatenate([x, np.zeros((1_000, x.shape[1]))])
    left, right = Moments.of(x, COLUMNS, RatioForm(MODELS)), Moments.of(padded, COLUMNS, RatioForm(MODELS))
    assert left.active == right.active < len(x)
    np.testing.assert_allclose(right.values, left.values, rtol=1e-12)
    np.testing.assert_allclose(right.covariance, left.covariance, rtol=1e-9)


def test_products_of_two_ratios_follow_the_product_rule() -> None:
    """Sums divided by the seen pairs' weights are a product of two ratios; each user moves both."""
    rng = np.random.default_rng(5)
    users = 300
    d = rng.gamma(2.0, 1.0, users)
    a = d[:, None] * rng.random((users, 2))
    candidates = rng.integers(20, 60, users).astype(np.float64)
    x = np.column_stack([a, d, candidates, np.ones(users)])
    columns = np.array([0, 1, 2, 3, 3, 4])
    moments = Moments.of(x, columns, RatioForm(2, ((False, False),)))
    for model in range(2):
        first, second = a[:, model].sum() / d.sum(), candidates.mean()
        influence = [
            second * (a[u, model] - first * d[u]) / d.mean() + first * (candidates[u] - second) for u in range(users)
        ]
        assert moments.values[model] == pytest.approx(first * second, rel=1e-12)
        assert math.sqrt(moments.covariance[model, model]) == pytest.approx(error_of(influence, users), rel=1e-9)


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


def test_the_engine_gives_the_same_sums_for_every_block_size() -> None:
    """Blocks of 1, 17, 256 or all users: the same estimates, errors, counts and weights."""
    held = draw(21, 900, (0.4, 0.5)).held()
    plan = plan_of(held, CELLS)

    def run(block: int) -> Sums:
        return first_pass(held, plan, threads=2, block=block)

    whole = run(10_000)
    for block in (1, 17, 256):
        other = run(block)
        for left, right in zip(other.moments, whole.moments, strict=True):
            np.testing.assert_allclose(left.values, right.values, rtol=1e-12)
            np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-9)
            assert difference_error(left, 0, 1) == pytest.approx(difference_error(right, 0, 1), rel=1e-7)
            assert (left.users, left.active) == (right.users, right.active)
            np.testing.assert_array_equal(left.differ, right.differ)
        for one, all_of_it in zip(other.tallies, whole.tallies, strict=True):
            assert one.ess == pytest.approx(all_of_it.ess, rel=1e-12)
            assert (one.pairs, one.largest) == (all_of_it.pairs, all_of_it.largest)
            np.testing.assert_array_equal(one.bins, all_of_it.bins)


def test_tallies_merge_to_explicit_sums() -> None:
    """ess = (Σ|v|)²/Σv² and the largest share, v = weight·y/divisor, over any parts; users without divisor are out."""
    rng = np.random.default_rng(6)
    parts, terms = [], []
    for _ in range(5):
        counts = rng.integers(0, 4, 20)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        weight, value = rng.uniform(0.1, 40.0, indptr[-1]), rng.choice([0.0, 0.5, 1.0], indptr[-1])
        divisor = rng.choice([0.0, 1.0, 3.0], 20)
        parts.append(Tally.of(indptr, weight, value, divisor, 2))
        owner = np.repeat(np.arange(20), counts)
        terms += [
            w * y / divisor[u] for w, y, u in zip(weight, value, owner, strict=True) if divisor[u] > 0.0 and y > 0.0
        ]
    whole = reduce(Tally.merge, parts)
    assert whole.ess == pytest.approx(sum(terms) ** 2 / sum(v * v for v in terms), rel=1e-12)
    assert whole.max_weight_share == pytest.approx(max(terms) / sum(terms), rel=1e-12)
    assert whole.pairs == len(terms) == whole.bins.sum()
    assert whole.clipped_share == pytest.approx(10 / len(terms))
