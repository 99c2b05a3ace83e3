"""Scores against loops, and what must hold whatever the numbers are."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from unskew_papers.recovery.scores import scores
from unskew_papers.recovery.welch import best, compare, holm

VALUES = st.lists(st.integers(0, 6), min_size=4, max_size=7)


def answer(value: list[float], half: float = 0.1) -> dict[str, Any]:
    array = np.array([value], dtype=float)
    return {"value": array, "low": array - half, "high": array + half}


def truth(value: list[float], se: float = 0.0) -> dict[str, Any]:
    array = np.array([value], dtype=float)
    pairs = list(combinations(range(len(value)), 2))
    difference = np.array([[value[a] - value[b] for a, b in pairs]])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0.0, 0.0, difference / (se * math.sqrt(2)))
    return {"value": array, "se": np.full_like(array, se), "z": z}


def tau_b(x: list[float], y: list[float]) -> float:
    """Pairs in the same order less pairs in the opposite one, over the root of the pairs that each tells apart."""
    both = one = other = 0.0
    for a, b in combinations(range(len(x)), 2):
        p, q = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
        both, one, other = both + p * q, one + p * p, other + q * q
    return both / math.sqrt(one * other) if one and other else math.nan


@settings(max_examples=60, deadline=None)
@given(VALUES, st.randoms())
def test_tau_is_that_of_a_loop(value: list[float], rng: Any) -> None:
    other = value[:]
    rng.shuffle(other)
    found = scores(answer(value), 0, truth(other), 0)["tau"]
    assert found == pytest.approx(tau_b(value, other), nan_ok=True)


def test_error_regret_and_coverage_by_hand() -> None:
    """Estimates .2, .1 and .4 of the truths .1, .2 and .4: the third is right."""
    found = scores(answer([0.2, 0.1, 0.4], half=0.05), 0, truth([0.1, 0.2, 0.4], se=0.1), 0)
    assert found["rmse"] == pytest.approx(math.sqrt((1.0 + 0.25 + 0.0) / 3))
    assert found["regret"] == 0.0
    assert found["coverage"] == pytest.approx(1 / 3)
    assert found["widened"] == 1.0  # ± √(.05² + .196²)
    assert scores(answer([0.4, 0.1, 0.2]), 0, truth([0.1, 0.2, 0.4]), 0)["regret"] == pytest.approx(0.75)
    tied = scores(answer([0.4, 0.1, 0.4]), 0, truth([0.1, 0.2, 0.4]), 0)["regret"]
    assert tied == pytest.approx(1 - 0.25 / 0.4)  # either of the two that are put first
    assert scores(answer([0.4, 0.1]), 0, truth([0.1, 0.2]), 0, lower=True)["regret"] == pytest.approx(1.0)


def test_verdicts_are_counted_among_truly_different_pairs() -> None:
    said = answer([0.3, 0.2, 0.1]) | {"word": np.array([[1, -1, 2]]), "z": np.array([[2.5, -2.5, 0.1]])}
    found = scores(said, 0, truth([0.3, 0.2, 0.1]), 0)
    assert (found["right"], found["wrong"], found["depends"], found["undecided"]) == pytest.approx(
        (1 / 3, 1 / 3, 1 / 3, 0)
    )
    assert (found["alone_right"], found["alone_wrong"]) == pytest.approx((1 / 3, 1 / 3))
    unsure = scores(said, 0, truth([0.3, 0.2, 0.1], se=0.05), 0)  # only the first and the third are told apart
    assert (unsure["right"], unsure["wrong"]) == (0.0, 1.0)
    nothing = scores(said, 0, truth([0.3, 0.2, 0.1], se=1.0), 0)
    assert math.isnan(nothing["right"])


def test_models_without_a_number_are_left_out() -> None:
    found = scores(answer([0.1, math.nan, 0.3]), 0, truth([0.1, 0.2, 0.3]), 0)
    assert found["tau"] == pytest.approx(1)
    assert math.isnan(scores(answer([0.1, math.nan]), 0, truth([0.1, 0.2]), 0)["tau"])


def test_welch_by_scipy_and_by_hand() -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.normal(mean, sd, 20) for name, mean, sd in (("a", 0, 1), ("b", 0, 1), ("c", 3, 0.2))}
    found = {(c.a, c.b): c for c in compare(values)}
    for (a, b), c in found.items():
        x, y = values[a], values[b]
        t = (x.mean() - y.mean()) / math.sqrt(x.var(ddof=1) / 20 + y.var(ddof=1) / 20)
        assert c.p == pytest.approx(ttest_ind(x, y, equal_var=False).pvalue)
        assert np.sign(c.difference) == np.sign(t)
        assert c.p_bonferroni == pytest.approx(min(1.0, 3 * c.p))
        assert c.p <= c.p_holm <= c.p_bonferroni
    assert best(values, list(found.values()), 0.05, higher=True) == {"c"}
    assert best(values, list(found.values()), 0.05, higher=False) == {"a", "b"}
    alike = {name: values[name] for name in ("a", "b")}
    assert best(alike, compare(alike), 0.05, higher=True) == set()


def test_numbers_that_differ_by_rounding_are_alike() -> None:
    """No p-value comes from the last digit, and scipy does not warn of it."""
    nearly = np.array([0.1 + 0.2, 0.3])
    a = compare({"a": nearly, "b": nearly[::-1].copy(), "c": nearly + 1.0})
    assert [each.p for each in a] == [1.0, 0.0, 0.0]
    assert [each.p_paired for each in a] == [1.0, 0.0, 0.0]


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_by_its_definition(p: list[float]) -> None:
    found = holm(np.array(p))
    order = sorted(range(len(p)), key=lambda n: p[n])
    largest = 0.0
    for step, n in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - step) * p[n]))
        assert found[n] == pytest.approx(largest)
