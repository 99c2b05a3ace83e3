"""One short sentence per verdict: why it was withheld, or what should make a reader doubt it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unskew.engine.data import EvaluationData
from unskew.inference.trust import MAX_GAP, MAX_SHARE, MIN_ESS, MIN_USERS, doubts, withheld

from .worlds import answer, draw, plan_of, setting

FINE: dict[str, Any] = {"users": 1_000, "ess": 500.0, "max_weight_share": 0.01, "support_gap": None}

USERS = "users count"
SAMPLE = "the equivalent of"
SHARE = "one interaction carries"
GAP = "items that training never showed"
SENTENCES = (SAMPLE, USERS, SHARE, GAP)


def said(text: str) -> set[str]:
    return {sentence for sentence in SENTENCES if sentence in text}


def test_a_sound_verdict_is_not_doubted() -> None:
    """Nothing is said where nothing is wrong, whether or not a training log is known."""
    assert doubts(**FINE) == doubts(**FINE | {"support_gap": 0.0}) == ""
    assert withheld([]) == ""


def test_each_doubt_begins_at_its_bound() -> None:
    """At the bound itself nothing is said, just beyond it exactly one sentence is."""
    bounds = ({"ess": MIN_ESS}, {"users": MIN_USERS}, {"max_weight_share": MAX_SHARE}, {"support_gap": MAX_GAP})
    assert [doubts(**FINE | bound) for bound in bounds] == [""] * 4
    beyond = (
        {"ess": MIN_ESS - 1.0},
        {"users": MIN_USERS - 1},
        {"max_weight_share": MAX_SHARE + 0.01},
        {"support_gap": MAX_GAP + 0.01},
    )
    assert [said(doubts(**FINE | bound)) for bound in beyond] == [{sentence} for sentence in SENTENCES]


def test_at_most_two_doubts_are_said_with_their_numbers() -> None:
    """A sentence says how bad it is, and stays short."""
    text = doubts(users=49, ess=12.4, max_weight_share=0.3, support_gap=0.37)
    assert text == "Little trust: it rests on the equivalent of 12 users; only 49 users count."
    assert doubts(**FINE | {"ess": None}) == "Little trust: no observation corrects the outcome model."
    assert withheld(["a", "b"]) == "Undecided because a."


@pytest.fixture(scope="module")
def held() -> EvaluationData:
    return draw(61, 1_500, (0.5, 1.0)).held()


CELLS = (
    ("naive", "per_user"),
    ("naive", "pooled"),
    ("naive", "per_user_sum"),
    ("snips", "per_user"),
    ("snips", "pooled"),
    ("snips", "per_user_sum"),
    ("gs(strata=5)", "per_user"),
    ("gs(strata=5)", "pooled"),
    ("ips", "per_user"),
    ("ips", "per_user_sum"),
    ("clipped(snips, quantile=0.1)", "per_user"),
    ("clipped(ips, quantile=0.1)", "per_user"),
)


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_sentences_depend_on_what_an_estimator_uses(held: EvaluationData, cell: tuple[str, str]) -> None:
    """Support matters only to weights, single clicks only to ratios of weights inside users."""
    plan = plan_of(held, (cell,))
    estimator, target = cell
    (quiet,) = answer(held, plan, setting(2, support_gap=0.05, single_clicks=0.2)).verdicts
    assert quiet.trust == ""
    assert quiet.verdict == ("worse" if estimator in ("snips", "ips") else "behind")
    (gap,) = answer(held, plan, setting(2, support_gap=0.2)).verdicts
    assert said(gap.trust) == (set() if estimator == "naive" else {GAP})
    (single,) = answer(held, plan, setting(2, single_clicks=0.3)).verdicts
    inside = target == "per_user" and estimator not in ("naive", "ips", "clipped(ips, quantile=0.1)")
    assert (single.verdict == "undecided") == inside
    assert ("30% of the users have a single click" in single.trust) == inside
    assert np.isnan(single.low) == inside


def test_too_few_users_are_said(held: EvaluationData) -> None:
    """Only users that count are counted: 49 clickers among 1,500 users are too few, 60 are not."""
    clickers = np.flatnonzero(np.add.reduceat(np.append(held.value, 0.0), held.indptr[:-1])[: held.users] > 0.0)
    doubted = []
    for count in (49, 60):
        value = held.value.copy()
        value[held.indptr[clickers[count]] :] = 0.0
        some = replace(held, value=value)
        for cell in (("naive", "per_user"), ("naive", "pooled")):
            (row,) = answer(some, plan_of(some, (cell,)), setting(2, level=0.2)).verdicts
            assert row.verdict != "undecided"
            doubted.append("only 49 users count" in row.trust)
    assert doubted == [True, True, False, False]


def test_one_heavy_weight_decides_nothing(held: EvaluationData) -> None:
    """A single pair with a tiny propensity carries a pooled value: no verdict; naive does not see it."""
    assert held.propensity is not None
    propensity = held.propensity.copy()
    propensity[int(np.argmax(held.value > 0.0))] = 1e-5
    heavy = replace(held, propensity=propensity)
    cells = (("snips", "pooled"), ("naive", "pooled"))
    weighted, naive = answer(heavy, plan_of(heavy, cells), setting(2)).verdicts
    assert weighted.verdict == "undecided"
    assert naive.verdict == "behind" and naive.trust == ""


def test_models_that_score_the_same_are_told_apart_from_undecided_ones(held: EvaluationData) -> None:
    """The sentence on equal scores appears for identical lists only."""
    same = replace(held, lists=(held.lists[0], held.lists[0]))
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(same, plan, setting(2, support_gap=0.5)).verdicts
    assert row.trust == "As dcg@5 counts, the two models give the same lists."
    (other,) = answer(held, plan, setting(2)).verdicts
    assert other.trust == ""
