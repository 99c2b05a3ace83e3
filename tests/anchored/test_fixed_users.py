"""Fixed users: only the draw is chance, and its error is never too small on average, by enumeration of designs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.anchored.test_verdicts import ask, verdict
from unskew.inference.fixed_users import DrawnErrors

Sample = tuple[float, list[int]]  # a chance, and the pairs that are drawn


def independent(pi: list[float]) -> list[Sample]:
    """All samples of independent draws."""
    found = []
    for marks in product((0, 1), repeat=len(pi)):
        chance = float(np.prod([p if mark else 1.0 - p for mark, p in zip(marks, pi, strict=True)]))
        found.append((chance, [i for i, mark in enumerate(marks) if mark]))
    return found


def systematic(pi: list[float]) -> list[Sample]:
    """All samples of systematic draws in the order given, by where the start falls."""
    ends = np.cumsum(pi)
    cuts = np.unique(np.concatenate([[0.0, 1.0], np.mod(ends, 1.0), np.mod(np.append(0.0, ends[:-1]), 1.0)]))
    found = []
    for low, high in pairwise(cuts):
        start = (low + high) / 2.0
        hits = [
            i for i, (a, b) in enumerate(zip(ends - pi, ends, strict=True)) if np.ceil(b - start) > np.ceil(a - start)
        ]
        found.append((high - low, hits))
    return found


def moments(
    designs: list[list[Sample]], x: list[list[float]], pi: list[list[float]], design: str
) -> tuple[float, float]:
    """The variance of Σ_S x/π over independent users, and the mean of the estimated one."""
    variance, estimated = 0.0, 0.0
    for samples, values, chances in zip(designs, x, pi, strict=True):
        first = second = 0.0
        for chance, drawn in samples:
            total = sum(values[i] / chances[i] for i in drawn)
            first, second = first + chance * total, second + chance * total**2
            rows = DrawnErrors.of(
                np.zeros(len(drawn), dtype=np.uint64), np.array([chances[i] for i in drawn]),
                np.array([values[i] for i in drawn]), np.zeros(len(drawn)), design,
            )  # fmt: skip
            t = rows.by_group(np.ones(len(drawn)))
            estimated += chance * float(t @ t)
        variance += second - first**2
    return variance, estimated


def world(seed: int) -> tuple[list[list[float]], list[list[float]]]:
    """x and π of three users' pairs, some of them certain."""
    rng = np.random.default_rng(seed)
    pi = [list(rng.choice([0.2, 0.5, 0.9, 1.0], rng.integers(1, 5))) for _ in range(3)]
    return [list(rng.normal(size=len(own))) for own in pi], pi


@given(st.integers(0, 10_000), st.sampled_from([independent, systematic]))
def test_any_design_by_enumeration(seed: int, draw: Callable[[list[float]], list[Sample]]) -> None:
    """E[Σ t²] = Var + Σ_u (Σ x)² over pairs that are not certain, whichever pairs exclude each other."""
    x, pi = world(seed)
    variance, estimated = moments([draw(own) for own in pi], x, pi, "")
    extra = sum(sum(v for v, p in zip(*pair, strict=True) if p < 1.0) ** 2 for pair in zip(x, pi, strict=True))
    assert estimated == pytest.approx(variance + extra, abs=1e-9)


@given(st.integers(0, 10_000))
def test_independent_draws_are_exact(seed: int) -> None:
    """With the finite-population factor the estimated variance is right on average."""
    x, pi = world(seed)
    variance, estimated = moments([independent(own) for own in pi], x, pi, "independent")
    assert estimated == pytest.approx(variance, abs=1e-9)


def test_the_factor_of_independent_draws_can_be_too_small() -> None:
    """Two pairs of which exactly one is drawn: it says 2 on average, the variance is 4, which systematic draws get."""
    pi, x = [0.5, 0.5], [1.0, -1.0]
    found = [moments([systematic(pi)], [x], [pi], design)[1] for design in ("", "independent", "systematic")]
    assert found == pytest.approx([4.0, 2.0, 4.0])
    assert moments([systematic(pi)], [x], [pi], "")[0] == pytest.approx(4.0)


def test_ratios_by_their_linearisation() -> None:
    """The error of N/D is that of (x d − R x)/D, and the interval holds exactly what the test does not reject."""
    rng = np.random.default_rng(3)
    user, pi = rng.integers(0, 30, 200).astype(np.uint64), rng.uniform(0.1, 0.9, 200)
    y, q, d = rng.random(200) < 0.4, rng.random(200), rng.random(200)
    rows = DrawnErrors.of(user, pi, y.astype(float), q, "")
    found = rows.contrast(0.3, d, 1.0 / 500.0, 1.0 / 500.0)
    parts: dict[int, float] = {}
    for u, p, v, g, worth in zip(user.tolist(), pi, y, q, d, strict=True):
        parts[u] = parts.get(u, 0.0) + (float(v) - g) / p * (worth - 0.3) / 500.0
    m = len(parts)
    assert found.error == pytest.approx((m / (m - 1) * sum(e * e for e in parts.values())) ** 0.5)
    low, high = found.interval(0.05)
    assert low < 0.3 < high


@pytest.mark.parametrize("target", ["per_user_sum", "pooled"])
def test_fixed_users_narrow_and_say_so(target: str) -> None:
    """Four fifths of the lists are asked about: the interval is narrower, the values are the same."""
    sampled, fixed = (ask(target=target, design="independent", users_are=who) for who in ("sampled", "fixed"))
    one, other = verdict(sampled), verdict(fixed)
    assert other.difference == one.difference
    assert other.high - other.low < 0.7 * (one.high - one.low)
    assert other.verdict == "better"
    assert len(other.assumption) > len(one.assumption)
    widths = [[e.high - e.low for e in r.estimates if e.estimator == "anchored"] for r in (sampled, fixed)]
    assert all(b < a for a, b in zip(*widths, strict=True))
    assert fixed.inputs["settings"]["users_are"] == "fixed"
