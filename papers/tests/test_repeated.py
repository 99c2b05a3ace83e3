"""Paired standard errors: by loops that leave out one run at a time, and by their meaning, the spread over runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unskew_papers.record import Above, Below, Near, Verdict, judged
from unskew_papers.repeated import Repeated, claim, jackknife


def test_the_error_of_a_mean_is_the_usual_one() -> None:
    values = [3.0, 4.0, 8.0, 9.5]
    found = Repeated.mean(values)
    mean = sum(values) / 4
    assert found.value == mean
    assert found.se == pytest.approx(math.sqrt(sum((x - mean) ** 2 for x in values) / 3 / 4))
    assert math.isnan(Repeated.mean([1.0]).se) and Repeated.mean([1.0]).value == 1.0
    assert math.isnan(jackknife(np.empty(0)))


@pytest.mark.parametrize(("rule", "factor"), [(Below(), 1.0), (Below(0.1), 0.1), (Above(2.0), 2.0)])
def test_claims_about_means_have_the_paired_error(rule: Below | Above, factor: float) -> None:
    """sd of ours − factor·other, run by run, over √n: what both share does not count."""
    rng = np.random.default_rng(0)
    shared = rng.normal(10.0, 3.0, 12)
    other, ours = shared + rng.normal(size=12), shared + rng.normal(size=12)
    each = [a - factor * b for a, b in zip(ours, other, strict=True)]
    error = math.sqrt(sum((d - sum(each) / 12) ** 2 for d in each) / 11 / 12)
    found = claim("e", "r", "c", Repeated.mean(ours), rule, "other", Repeated.mean(other))
    assert found.paired_se == pytest.approx(error)
    bare = judged("e", "r", "c", float(ours.mean()), rule=rule, reference=("other", float(other.mean())), runs=12)
    assert (found.ours, found.rule, found.runs) == (bare.ours, bare.rule, 12)
    if abs(sum(each) / 12) > 2 * error:
        assert found.verdict is bare.verdict
    else:
        assert found.verdict is (Verdict.LIKELY if bare.verdict is Verdict.HOLDS else Verdict.UNLIKELY)


def test_the_edge_of_a_tolerance_moves_with_the_other_number() -> None:
    """Near(25 %) above it: the margin is 1.25·other − ours, and its error that of this difference."""
    rng = np.random.default_rng(1)
    other = rng.normal(10.0, 1.0, 9)
    ours = 1.2 * other + rng.normal(0.0, 0.1, 9)
    each = 1.25 * other - ours
    alike = Near(relative=0.25)
    found = claim("e", "r", "c", Repeated.mean(ours), alike, "other", Repeated.mean(other))
    assert found.paired_se == pytest.approx(each.std(ddof=1) / 3.0) and found.verdict is Verdict.HOLDS


def test_two_errors_decide_wrongly_one_time_in_forty() -> None:
    """Two methods that are equally good, 40 runs, 4,000 studies: each way about 2.6 % (t with 39 degrees: P(t > 2))."""
    rng = np.random.default_rng(2)
    counts = dict.fromkeys(Verdict, 0)
    for _ in range(4000):
        shared = rng.normal(size=40)
        ours, other = (Repeated.mean(shared + rng.normal(size=40)) for _ in range(2))
        counts[claim("e", "r", "c", ours, Below(), "other", other).verdict] += 1
    error = math.sqrt(0.026 * 0.974 / 4000)
    for verdict in (Verdict.HOLDS, Verdict.FAILS):
        assert counts[verdict] / 4000 == pytest.approx(0.026, abs=4 * error)
    assert counts[Verdict.LIKELY] / 4000 == pytest.approx(0.474, abs=4 * math.sqrt(0.25 / 4000))


def test_one_run_decides_nothing() -> None:
    found = claim("e", "r", "c", Repeated.mean([1.0]), Below(), "other", Repeated.mean([2.0]))
    assert found.verdict is Verdict.OPEN
