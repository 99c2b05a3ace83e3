"""Score tests and their intervals: against loops, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.inference.errors import difference_error
from unskew.inference.contrast import alone, contrast
from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm

from .worlds import Floats


def columns(seed: int, users: int, *, heavy: float = 1.0) -> Floats:
    """Two models' sums and the users' divisors; most users say nothing, some weigh much."""
    rng = np.random.default_rng(seed)
    weight = np.exp(heavy * rng.standard_normal(users))
    clicks = rng.random(users) < 0.5
    a, b = (weight * clicks * (rng.random(users) < share) for share in (0.3, 0.2))
    return np.column_stack([a, b, weight * clicks])


def moments(x: Floats) -> Moments:
    return Moments.of(x, np.arange(3), RatioForm(2))


def by_hand(x: Floats, tail: float) -> tuple[float, float, float, tuple[float, float]]:
    """The difference, its p, df and interval, in plain loops and by a search over Δ."""
    d = [row[0] - row[1] for row in x.tolist()]
    divisor = [row[2] for row in x.tolist()]
    m = sum(one != 0.0 for one in d)
    second, fourth = math.fsum(one**2 for one in d), math.fsum(one**4 for one in d)
    df = min(m, second**2 / fourth) - 1.0
    value = math.fsum(d) / math.fsum(divisor)
    p = 2.0 * stats.t.sf(abs(math.fsum(d)) / math.sqrt(m / (m - 1.0) * second), df)
    c = stats.t.isf(tail / 2.0, df)

    def kept(delta: float) -> bool:
        rest = [one - delta * below for one, below in zip(d, divisor, strict=True)]
        return bool(abs(math.fsum(rest)) <= c * math.sqrt(m / (m - 1.0) * math.fsum(r * r for r in rest)))

    ends = []
    for step in (-1.0, 1.0):
        inside, outside = value, value + step * 10.0
        for _ in range(80):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if kept(middle) else (inside, middle)
        ends.append(inside)
    return value, p, df, (ends[0], ends[1])


@pytest.mark.parametrize("heavy", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("users", [60, 400])
def test_a_score_test_is_that_of_loops(users: int, heavy: float) -> None:
    """Δ̂, p, degrees of freedom and Fieller's interval of a ratio of sums."""
    for seed in range(5):
        x = columns(seed, users, heavy=heavy)
        value, p, df, ends = by_hand(x, 0.05)
        found = contrast(moments(x), 0, 1)
        assert found.value == pytest.approx(value, rel=1e-10, abs=1e-14)
        assert found.df == pytest.approx(df, rel=1e-9)
        assert found.p == pytest.approx(p, rel=1e-7)
        low, high = found.interval(0.05)
        if math.isinf(low):
            assert abs(ends[0]) > 5.0 or abs(ends[1]) > 5.0
        else:
            assert (low, high) == pytest.approx(ends, rel=1e-6, abs=1e-9)


def test_a_few_heavy_wins_against_many_light_ones_decide_nothing() -> None:
    """Two users who weigh a thousand times the others are two users: df falls to 1, however many others there are."""
    x = np.zeros((2_000, 3))
    x[:, 2] = 1.0
    x[:40, 1] = 1.0
    x[40:42, 0] = 1_000.0
    found = contrast(moments(x), 0, 1)
    assert found.users == 42
    assert 0.9 < found.df < 1.1
    assert found.p > 0.2


def test_a_value_alone_rests_on_the_users_who_carry_it() -> None:
    """Three equally heavy hits among a thousand users have two degrees of freedom."""
    x = np.zeros((1_000, 3))
    x[:, 2] = 1.0
    x[:3, 0] = 5.0
    found = alone(moments(x), 0)
    assert found.users == 3
    assert found.df == pytest.approx(2.0)
    assert found.value == pytest.approx(0.015)
    nothing = alone(moments(x), 1)
    assert (nothing.users, nothing.value, nothing.p) == (0, 0.0, 1.0)
    assert not nothing.exists


def test_roots_are_judged_by_their_squares() -> None:
    """rmse: p is that of the mean squared errors, the value the difference of roots, inside its interval."""
    rng = np.random.default_rng(1)
    n = rng.integers(1, 5, 300).astype(np.float64)
    x = np.column_stack([n * rng.gamma(2.0, 0.5, 300), n * rng.gamma(2.0, 0.6, 300), n])
    square, root = moments(x), Moments.of(x, np.arange(3), RatioForm(2, root=True))
    one, other = contrast(square, 0, 1), contrast(root, 0, 1)
    assert other.p == pytest.approx(one.p, rel=1e-9)
    assert other.value == pytest.approx(math.sqrt(square.values[0]) - math.sqrt(square.values[1]), rel=1e-12)
    low, high = other.interval(0.05)
    assert low < other.value < high
    assert other.error == pytest.approx(difference_error(root, 0, 1), rel=1e-9)
