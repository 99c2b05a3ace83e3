"""When not to trust a number: each sentence appears exactly when its reason is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unskew.engine.held import Held
from unskew.estimators import Stratified
from unskew.evaluation.answer import answer
from unskew.inference.tally import Tally
from unskew.inference.trust import FEW_CLICKS, MAX_GAP, MAX_SHARE, MIN_ESS, MIN_USERS, trust

from .worlds import draw, plan_of, setting

FINE = Tally(total=1_000.0, squares=1_000.0, largest=1.0, pairs=1_000)

USERS = "users count"
SAMPLE = "effective sample"
SHARE = "one interaction carries"
GAP = "items that training never showed"
CLICKS = "a single held-out pair that counts"
SENTENCES = (USERS, SAMPLE, SHARE, GAP, CLICKS)


def told(text: str) -> set[str]:
    return {sentence for sentence in SENTENCES if sentence in text}


def with_ess(ess: float) -> Tally:
    """Equal weights on this many pairs."""
    return Tally(total=ess, squares=ess, largest=1e-3, pairs=int(ess))


def with_share(share: float) -> Tally:
    return Tally(total=1_000.0, squares=1_000.0, largest=share * 1_000.0, pairs=1_000)


def test_a_sound_estimate_is_not_doubted() -> None:
    """Nothing is said where nothing is wrong, whether or not a training log is known."""
    assert trust(FINE, 1_000, None, None) == ""
    assert trust(FINE, 1_000, 0.0, 0.0) == ""


def test_each_doubt_begins_at_its_bound() -> None:
    """At the bound itself nothing is said, just beyond it exactly one sentence is."""
    at_the_bound = [
        trust(FINE, MIN_USERS, None, None),
        trust(with_ess(MIN_ESS), 1_000, None, None),
        trust(with_share(MAX_SHARE), 1_000, None, None),
        trust(FINE, 1_000, MAX_GAP, None),
        trust(FINE, 1_000, None, FEW_CLICKS),
    ]
    assert at_the_bound == [""] * 5
    beyond = [
        trust(FINE, MIN_USERS - 1, None, None),
        trust(with_ess(MIN_ESS - 1.0), 1_000, None, None),
        trust(with_share(MAX_SHARE + 0.01), 1_000, None, None),
        trust(FINE, 1_000, MAX_GAP + 0.01, None),
        trust(FINE, 1_000, None, FEW_CLICKS + 0.01),
    ]
    assert [told(text) for text in beyond] == [{sentence} for sentence in SENTENCES]


def test_the_numbers_in_the_sentences_are_the_numbers() -> None:
    """A sentence says how bad it is."""
    text = trust(Tally(total=60.0, squares=120.0, largest=15.0, pairs=60), 49, 0.37, 0.81)
    assert text == (
        "Little trust: only 49 users count; the weights leave an effective sample of 30 interactions; "
        "one interaction carries 25% of the weight; 37% of the held-out interactions are on items that training never "
        "showed; 81% of the users have a single held-out pair that counts, for whom this is the naive estimate "
        "(target pooled does not suffer from that)."
    )


def test_an_empty_tally_is_doubted() -> None:
    """Where nothing weighs anything the effective sample is 0, and that is said."""
    assert told(trust(Tally(), 1_000, None, None)) == {SAMPLE}


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


@pytest.fixture(scope="module")
def held() -> Held:
    return draw(61, 1_500, (0.5, 1.0)).held()


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_sentences_depend_on_what_an_estimator_uses(held: Held, cell: tuple[str, str]) -> None:
    """Support matters only to weights, single clicks only to ratios of weights inside users."""
    plan = plan_of(held, (cell,))
    (quiet,) = answer(held, plan, setting(2, support_gap=0.05, single_clicks=0.4)).verdicts
    assert quiet.trust == ""
    (row,) = answer(held, plan, setting(2, support_gap=0.2, single_clicks=0.7)).verdicts
    estimator, target = cell
    expected = set()
    if estimator != "naive":
        expected.add(GAP)
        if target == "per_user" and estimator != "ips" and not estimator.startswith("clipped(ips"):
            expected.add(CLICKS)
    assert told(row.trust) == expected
    (unknown,) = answer(held, plan, setting(2, support_gap=None, single_clicks=0.4)).verdicts
    assert unknown.trust == ""


def test_strata_of_propensities_rest_on_support_too(held: Held) -> None:
    """stratified takes its strata from propensities, so missing support is told there as well."""
    shares = {str(v): 0.2 for v in range(1, 6)}
    plan = plan_of(held, ((Stratified(shares=shares), "per_user"),))
    (row,) = answer(held, plan, setting(2, support_gap=0.2)).verdicts
    assert GAP in row.trust


def test_too_few_counting_users_are_told(held: Held) -> None:
    """Only users that count are counted: 49 clickers among 1,500 users are too few, 60 are not."""
    clickers = np.flatnonzero(np.add.reduceat(np.append(held.value, 0.0), held.indptr[:-1])[: held.users] > 0.0)
    for count in (49, 60):
        value = held.value.copy()
        value[held.indptr[clickers[count]] :] = 0.0
        some = replace(held, value=value)
        for cell in (("naive", "per_user"), ("snips", "pooled")):
            (row,) = answer(some, plan_of(some, (cell,)), setting(2)).verdicts
            assert (USERS in row.trust) == (count == 49)
            assert ("only 49 users count" in row.trust) == (count == 49)


def test_one_heavy_weight_is_told(held: Held) -> None:
    """A single pair with a tiny propensity carries the pooled weights; naive does not see it."""
    assert held.propensity is not None
    propensity = held.propensity.copy()
    propensity[int(np.argmax(held.value > 0.0))] = 1e-4
    heavy = replace(held, propensity=propensity)
    cells = (("snips", "pooled"), ("naive", "pooled"))
    weighted, naive = answer(heavy, plan_of(heavy, cells), setting(2)).verdicts
    assert told(weighted.trust) == {SHARE, SAMPLE}
    assert naive.trust == ""


def test_models_that_score_the_same_are_told_apart_from_undecided_ones(held: Held) -> None:
    """The sentence on equal scores appears for identical lists only, before any doubt."""
    same = replace(held, lists=(held.lists[0], held.lists[0]))
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(same, plan, setting(2)).verdicts
    assert row.trust == "The two models score the same for every user."
    (doubted,) = answer(same, plan, setting(2, support_gap=0.5)).verdicts
    assert doubted.trust.startswith("The two models score the same for every user. Little trust: 50% of")
    (other,) = answer(held, plan, setting(2)).verdicts
    assert other.trust == ""
