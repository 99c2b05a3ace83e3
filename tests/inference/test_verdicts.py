"""Verdicts: equally good models are rarely told apart, Holm keeps the family's error, users_needed gives 80 % power."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from unskew.engine.held import Held
from unskew.engine.memory import estimate
from unskew.evaluation.answer import answer
from unskew.inference.form import Form
from unskew.inference.intervals import holm, two_sided_p
from unskew.inference.moments import Moments
from unskew.inference.verdict import Outcome, decide, outcome, users_needed

from .worlds import Floats, draw, many, plan_of, setting

WORLDS, USERS, LEVEL = 2_000, 1_000, 0.95
ERROR = 1.0 - LEVEL
MONTE_CARLO = math.sqrt(ERROR * LEVEL / WORLDS)  # 0.5 points
CELLS = tuple((e, t) for e in ("naive", "snips", "gs(strata=5)") for t in ("per_user", "pooled"))
PAIRS = tuple(combinations(range(4), 2))


def decided(moments: Moments, pairs: tuple[tuple[int, int], ...]) -> tuple[list[Outcome], Floats, Floats]:
    """The library's verdicts on some pairs of one cell, with their p-values before and after Holm."""
    differences = np.array([moments.values[a] - moments.values[b] for a, b in pairs])
    errors = np.array([moments.difference_error(a, b) for a, b in pairs])
    p, adjusted = decide(differences, errors, np.array([moments.differ[a, b] for a, b in pairs]))
    said = [outcome(float(d), float(q), LEVEL, moments.active) for d, q in zip(differences, adjusted, strict=True)]
    return said, p, adjusted


@pytest.fixture(scope="module")
def false_verdicts() -> Floats:
    """Share of worlds with a false verdict, ``[cell, two models / any of four / any of four without Holm]``."""

    def one(seed: int) -> Floats:
        held = draw(seed, USERS, (0.5, 0.5, 0.5, 0.5)).held(relative=True)
        plan = plan_of(held, CELLS)
        out = np.empty((len(CELLS), 3))
        for place, moments in enumerate(estimate(held, plan.arms, plan.cells, threads=1).moments):
            two, _, _ = decided(moments, ((0, 1),))
            four, p, _ = decided(moments, PAIRS)
            out[place, 0] = two[0] is not Outcome.UNDECIDED
            out[place, 1] = any(verdict is not Outcome.UNDECIDED for verdict in four)
            out[place, 2] = bool((p < ERROR).any())
        return out

    return np.asarray(np.mean(many(one, range(10_000, 10_000 + WORLDS)), axis=0))


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_two_equally_good_models_are_rarely_told_apart(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """Two lists per user from one distribution: a false verdict in 5 % of the worlds, ± 3 Monte Carlo errors of 0.5."""
    assert false_verdicts[CELLS.index(cell), 0] == pytest.approx(ERROR, abs=3.0 * MONTE_CARLO)


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_holm_keeps_the_error_of_the_family(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """Four lists from one distribution: any false verdict in at most 5 % of the worlds + 3 Monte Carlo errors."""
    assert 0.01 < false_verdicts[CELLS.index(cell), 1] <= ERROR + 3.0 * MONTE_CARLO


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_without_holm_the_family_errs_too_often(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """The correction is needed: six uncorrected comparisons find something in more than 12 % of the worlds."""
    assert false_verdicts[CELLS.index(cell), 2] > 0.12


def brute_holm(p: list[float]) -> list[float]:
    """A hypothesis' adjusted p is the least level at which Holm's step-down procedure, run literally, rejects it."""

    def rejects(level: float) -> set[int]:
        rejected: set[int] = set()
        while len(rejected) < len(p):
            left = [j for j in range(len(p)) if j not in rejected]
            least = min(left, key=lambda j: p[j])
            if p[least] > level / len(left) * (1.0 + 1e-12):
                break
            rejected.add(least)
        return rejected

    levels = sorted({min(q * m, 1.0) for q in p for m in range(1, len(p) + 1)} | {1.0})
    return [next((level for level in levels if j in rejects(level)), 1.0) for j in range(len(p))]


def test_holm_is_the_step_down_procedure() -> None:
    """Adjusted p-values are the least levels at which Holm's procedure, carried out step by step, rejects."""
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 6, 10):
        for _ in range(30):
            p = (
                rng.choice([0.0, 0.001, 0.01, 0.02, 0.05, 0.3, 1.0], size)
                if rng.random() < 0.3
                else rng.random(size) ** 3
            )
            np.testing.assert_allclose(holm(p), brute_holm(p.tolist()), rtol=1e-9)


def test_p_is_two_sided_normal() -> None:
    """p is the chance of a difference at least as large if there were none."""
    for z in (0.0, 0.5, 1.0, 1.959963984540054, 3.0):
        expected = 2.0 * (1.0 - NormalDist().cdf(z))
        assert two_sided_p(z * 0.3, 0.3) == pytest.approx(expected, abs=1e-12)
        assert two_sided_p(-z * 0.3, 0.3) == pytest.approx(expected, abs=1e-12)
    assert two_sided_p(1.0, math.nan) == two_sided_p(math.nan, 1.0) == two_sided_p(0.0, 0.0) == 1.0
    assert two_sided_p(1.0, 0.0) == two_sided_p(1.0, 1e-9) == 1.0  # no spread to judge the difference by


@pytest.mark.parametrize("replicates", [0, 100])
def test_identical_models_are_undecided(replicates: int) -> None:
    """Models that differ for no user have p = 1, no users_needed, no tipping point, and the row says why."""
    world = draw(3, 400, (0.5, 2.0))
    held = world.held(relative=True)
    held = replace(held, lists=(held.lists[0], held.lists[1], held.lists[0]))
    plan = plan_of(held, CELLS)
    verdicts = answer(held, plan, setting(3, replicates=replicates)).verdicts
    for row in verdicts:
        if (row.a, row.b) == ("a", "c"):
            assert (row.verdict, row.p, row.p_adjusted, row.difference) == ("undecided", 1.0, 1.0, 0.0)
            assert row.users_needed is None
            assert row.tipping is None and row.tipping_low is None and row.tipping_kind is None
            assert row.trust.startswith("The two models score the same for every user.")
        else:
            assert row.verdict == ("worse" if row.a == "a" else "better")
            assert row.tipping is not None
            assert "same for every user" not in row.trust
    assert len(verdicts) == 3 * len(CELLS)


def test_a_count_of_users_decides_whether_models_are_identical() -> None:
    """where no user differs p is 1 even if rounding left a difference; a single user makes it count."""
    differences, errors = np.array([1e-17, 1e-17]), np.array([1e-20, 1e-20])
    p, adjusted = decide(differences, errors, np.array([0, 1]))
    assert p[0] == adjusted[0] == 1.0
    assert p[1] == adjusted[1] == 0.0


def test_models_that_differ_without_effect_are_undecided_but_not_identical() -> None:
    """Models that differ for two users with the same total have p = 1 from a difference of 0, not from SE = 0."""
    x = np.empty((400, 3))
    x[:, 0] = x[:, 1] = 0.5
    x[:, 2] = 1.0
    x[3, 0], x[4, 0] = 0.7, 0.3
    moments = Moments.of(x, np.array([0, 1, 2]), Form(2))
    assert moments.differ[0, 1] == 2
    assert moments.difference_error(0, 1) > 0.0
    verdicts, p, _ = decided(moments, ((0, 1),))
    assert verdicts == [Outcome.UNDECIDED]
    assert p[0] == pytest.approx(1.0, abs=1e-9)


def test_verdict_rows_are_those_of_the_moments() -> None:
    """The verdict rows of an answer hold the same differences, errors, p-values and outcomes as the tests above."""
    held = draw(5, USERS, (0.3, 0.5, 0.5, 1.2)).held(relative=True)
    plan = plan_of(held, CELLS)
    found = answer(held, plan, setting(4))
    for place, cell in enumerate(CELLS):
        moments = found.sums.moments[place]
        verdicts, p, adjusted = decided(moments, PAIRS)
        rows = [row for row in found.verdicts if (row.estimator, row.target) == cell]
        assert [row.verdict for row in rows] == verdicts
        assert [row.p for row in rows] == p.tolist()
        assert [row.p_adjusted for row in rows] == adjusted.tolist()
        for row, (a, b) in zip(rows, PAIRS, strict=True):
            assert (row.a, row.b) == ("abcd"[a], "abcd"[b])
            assert row.difference == moments.values[a] - moments.values[b]
            assert row.se == moments.difference_error(a, b)
            reach = NormalDist().inv_cdf(0.975) * row.se
            assert (row.low, row.high) == pytest.approx((row.difference - reach, row.difference + reach), rel=1e-12)
            needed = users_needed(row.difference, row.se, moments.active, LEVEL, len(PAIRS))
            assert row.users_needed == (needed if row.verdict == "undecided" else None)
    assert {"worse", "undecided"} <= {row.verdict for row in found.verdicts}


def test_the_level_is_a_strict_bound() -> None:
    """A verdict needs an adjusted p below 1 − level; its direction is that of the difference."""
    assert outcome(0.1, 0.049, 0.95, 100) is Outcome.BETTER
    assert outcome(-0.1, 0.049, 0.95, 100) is Outcome.WORSE
    assert outcome(0.1, 0.051, 0.95, 100) is Outcome.UNDECIDED
    assert outcome(0.1, 0.049, 0.99, 100) is Outcome.UNDECIDED
    assert outcome(0.1, math.nan, 0.95, 100) is Outcome.UNDECIDED
    assert outcome(0.1, 0.001, 0.95, 9) is Outcome.UNDECIDED  # a handful of users decides nothing


UNEQUAL = (0.5, 0.7)


@pytest.fixture(scope="module")
def pilot() -> Held:
    return draw(11, 500_000, UNEQUAL).held(relative=True)


@pytest.mark.parametrize("pairs", [1, 6])
@pytest.mark.parametrize("cell", [("naive", "per_user"), ("snips", "pooled")], ids=" ".join)
def test_users_needed_gives_a_power_of_80_per_cent(pilot: Held, cell: tuple[str, str], pairs: int) -> None:
    """With as many counting users as it names, a test finds the difference in 80 % ± 8 points of 600 worlds.

    The Monte Carlo error is √(.8·.2/600) = 1.6 points, and the pilot study of 500,000 users knows the power to 2.
    """
    plan = plan_of(pilot, (cell,))
    (known,) = estimate(pilot, plan.arms, plan.cells).moments
    difference = float(known.values[0] - known.values[1])
    needed = users_needed(difference, known.difference_error(0, 1), known.active, LEVEL, pairs)
    assert needed is not None and 200 < needed < 5_000
    population = round(needed * known.users / known.active)

    def one(seed: int) -> bool:
        held = draw(seed, population, UNEQUAL).held(relative=True)
        (moments,) = estimate(held, plan.arms, plan.cells, threads=1).moments
        _, p, _ = decided(moments, ((0, 1),))
        return bool(p[0] < ERROR / pairs) and moments.values[0] < moments.values[1]

    assert np.mean(many(one, range(50_000, 50_600))) == pytest.approx(0.8, abs=0.08)


def test_users_needed_follows_its_formula() -> None:
    """n (z·SE/Δ)² with z = z(level, Bonferroni) + z(.8); none where there is no difference or no error."""
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    assert users_needed(0.01, 0.02, 500, 0.95, 1) == math.ceil(500 * (z * 2.0) ** 2)
    assert users_needed(-0.01, 0.02, 500, 0.95, 1) == users_needed(0.01, 0.02, 500, 0.95, 1)
    six = NormalDist().inv_cdf(1.0 - 0.05 / 12) + NormalDist().inv_cdf(0.8)
    assert users_needed(0.01, 0.02, 500, 0.95, 6) == math.ceil(500 * (six * 2.0) ** 2)
    for nothing in ((0.0, 0.1), (0.1, 0.0), (math.nan, 0.1), (0.1, math.nan)):
        assert users_needed(*nothing, 500, 0.95, 1) is None
