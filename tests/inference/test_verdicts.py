"""Verdicts: equal models are rarely told apart, one level serves all pairs, users_needed gives 80 % power."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.inference.errors import difference_error
from tests.worlds import monte_carlo_error, worlds
from unskew.engine.data import EvaluationData
from unskew.inference.contrast import Contrast, contrast
from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm
from unskew.inference.simultaneous import Family, single_error
from unskew.inference.verdict import Checks, Outcome, judge, opposite, outcome, users_needed

from .worlds import Floats, answer, draw, many, plan_of, setting

WORLDS, USERS, LEVEL = worlds(400, 2_000), 1_000, 0.95
ERROR = 1.0 - LEVEL
MONTE_CARLO = monte_carlo_error(ERROR, WORLDS)  # 1.1 points, of all worlds 0.5
CELLS = tuple((e, t) for e in ("naive", "snips", "gs(strata=5)") for t in ("per_user", "pooled"))
PAIRS = tuple(combinations(range(4), 2))


def tail_of(moments: Moments, models: int) -> float:
    """The error probability of each comparison among the first models."""
    part = slice(0, models)
    return single_error([Family.of(moments.covariance[part, part], moments.differ[part, part])], LEVEL)


@pytest.fixture(scope="module")
def false_verdicts() -> Floats:
    """Share of worlds with a false verdict, ``[cell, two models / any of four / any of four, level of a single pair]``.

    No checks but the score test: two lists per user from one distribution, so that all of them would pass. The level of
    the family is the dear part; it is stricter than that of a single pair, so only worlds that this one tells apart
    need it.
    """

    def one(seed: int) -> Floats:
        held = draw(seed, USERS, (0.5, 0.5, 0.5, 0.5)).held(relative=True)
        plan = plan_of(held, CELLS)
        out = np.empty((len(CELLS), 3))
        for place, moments in enumerate(first_pass(held, plan, threads=1).moments):
            p = np.array([contrast(moments, a, b).p for a, b in PAIRS])
            any_pair = (p < ERROR).any()
            out[place] = p[0] < ERROR, any_pair and (p < tail_of(moments, 4)).any(), any_pair
        return out

    return np.asarray(np.mean(many(one, range(10_000, 10_000 + WORLDS)), axis=0))


@pytest.mark.study
@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_two_equally_good_models_are_rarely_told_apart(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """Two lists per user from one distribution: a false verdict in 5 % of the worlds, ± 3 Monte Carlo errors."""
    assert false_verdicts[CELLS.index(cell), 0] == pytest.approx(ERROR, abs=3.0 * MONTE_CARLO)


@pytest.mark.study
@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_one_level_keeps_the_error_of_the_family(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """Four lists from one distribution: any false verdict in 5 % of the worlds ± 3 Monte Carlo errors, not in fewer."""
    assert false_verdicts[CELLS.index(cell), 1] == pytest.approx(ERROR, abs=3.0 * MONTE_CARLO)


@pytest.mark.study
@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_without_it_the_family_errs_too_often(false_verdicts: Floats, cell: tuple[str, str]) -> None:
    """The correction is needed: six uncorrected comparisons find something in more than 12 % of the worlds."""
    assert false_verdicts[CELLS.index(cell), 2] > 0.12


def test_verdict_rows_are_those_of_the_moments() -> None:
    """The rows of an answer hold the differences, errors, p-values and intervals of the score tests at one level."""
    held = draw(5, USERS, (0.3, 0.5, 0.5, 1.2)).held(relative=True)
    plan = plan_of(held, (("naive", "pooled"), ("snips", "pooled")))
    found = answer(held, plan, setting(4))
    for place, estimator in enumerate(("naive", "snips")):
        moments = found.sums.moments[place]
        tail = tail_of(moments, 4)
        rows = [row for row in found.verdicts if row.estimator == estimator]
        for row, (a, b) in zip(rows, PAIRS, strict=True):
            assert (row.a, row.b) == ("abcd"[a], "abcd"[b])
            assert row.difference == moments.values[a] - moments.values[b]
            assert row.se == pytest.approx(difference_error(moments, a, b), rel=1e-12)
            score = contrast(moments, a, b)
            assert row.p == score.p
            assert row.p_adjusted == min(1.0, score.p * ERROR / tail)
            assert (row.low, row.high) == score.interval(tail)
            assert (row.verdict == "undecided") == (row.low <= 0.0 <= row.high) == (row.p_adjusted >= ERROR)
            needed = users_needed(score, moments.active, tail)
            assert row.users_needed == (needed if row.verdict == "undecided" else None)
            assert row.users_apart == moments.differ[a, b]
    assert {"worse", "undecided", "behind"} <= {row.verdict for row in found.verdicts}


def test_words_follow_the_sign_and_what_is_known() -> None:
    """Better and worse where propensities are known, else ahead and behind."""
    assert outcome(0.1, True, True) is Outcome.BETTER
    assert outcome(-0.1, True, True) is Outcome.WORSE
    assert outcome(0.1, True, False) is Outcome.AHEAD
    assert outcome(-0.1, True, False) is Outcome.BEHIND
    assert outcome(0.1, False, True) is outcome(0.0, True, True) is Outcome.UNDECIDED
    assert opposite("better", "behind") and opposite("worse", "ahead")
    assert not opposite("better", "ahead") and not opposite("worse", "undecided")


def test_a_handful_of_users_decides_nothing() -> None:
    """Nine users who all prefer one model withhold the verdict, ten give it."""
    for users, decided in ((9, False), (10, True)):
        x = np.zeros((400, 3))
        x[:, 2] = 1.0
        x[:users, 0] = 1.0
        found = judge(contrast(Moments.of(x, np.array([0, 1, 2]), RatioForm(2)), 0, 1), 0.05, Checks())
        assert found.decided == decided
        assert math.isnan(found.low) == (not decided)
        assert ("only 9 users tell the two apart" in found.reasons) == (not decided)


UNEQUAL = (0.5, 0.7)


@pytest.fixture(scope="module")
def pilot() -> EvaluationData:
    return draw(11, 500_000, UNEQUAL).held(relative=True)


@pytest.mark.study
@pytest.mark.parametrize("pairs", [1, 6])
@pytest.mark.parametrize("cell", [("naive", "per_user"), ("snips", "pooled")], ids=" ".join)
def test_users_needed_gives_a_power_of_80_per_cent(pilot: EvaluationData, cell: tuple[str, str], pairs: int) -> None:
    """With as many counting users as it names, a test finds the difference in 80 % ± 8 points of 300 worlds.

    The Monte Carlo error is √(.8·.2/300) = 2.3 points (``make verify``, 600 worlds: 1.6), and the pilot study of
    500,000 users knows the power to 2.
    """
    plan = plan_of(pilot, (cell,))
    (known,) = first_pass(pilot, plan).moments
    needed = users_needed(contrast(known, 0, 1), known.active, ERROR / pairs)
    assert needed is not None and 200 < needed < 5_000
    population = round(needed * known.users / known.active)

    def one(seed: int) -> bool:
        held = draw(seed, population, UNEQUAL).held(relative=True)
        (moments,) = first_pass(held, plan, threads=1).moments
        return contrast(moments, 0, 1).p < ERROR / pairs and bool(moments.values[0] < moments.values[1])

    assert np.mean(many(one, range(50_000, 50_000 + worlds(300, 600)))) == pytest.approx(0.8, abs=0.08)


def test_users_needed_follows_its_formula() -> None:
    """n (t·SE/Δ)² with t = t(error, df) + z(.8); none where there is no difference, or beyond a hundredfold."""

    def like(value: float, error: float, df: float = 1e9) -> Contrast:
        return Contrast(value, 400, df, error**2, 0.0, 0.0, error)

    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    assert users_needed(like(0.01, 0.02), 500, 0.05) == math.ceil(500 * (z * 2.0) ** 2)
    assert users_needed(like(-0.01, 0.02), 500, 0.05) == users_needed(like(0.01, 0.02), 500, 0.05)
    six = NormalDist().inv_cdf(1.0 - 0.05 / 12) + NormalDist().inv_cdf(0.8)
    assert users_needed(like(0.01, 0.02), 500, 0.05 / 6) == math.ceil(500 * (six * 2.0) ** 2)
    for nothing in ((0.0, 0.1), (0.1, 0.0), (math.nan, 0.1)):
        assert users_needed(like(*nothing), 500, 0.05) is None
    assert users_needed(like(0.01, 0.03), 500, 0.05) is not None
    assert users_needed(like(0.01, 0.04), 500, 0.05) is None  # (2.8 · 4)² is more than 100
    few = users_needed(like(0.01, 0.009, df=3.0), 500, 0.05)  # undecided with so few: never fewer users than there are
    assert few is not None and few > 500
