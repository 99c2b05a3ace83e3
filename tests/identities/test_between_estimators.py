"""Identities between estimators: what gs, snips, stratified and naive have in common, whatever the data."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.identities.clicks import DCG, RECALL, Click, held_of, quick, some_users, summary_of, values
from unskew import estimators
from unskew.engine.data import EvaluationData
from unskew.estimators import Estimator, Strata, Stratified, Target


def same(held: EvaluationData, one: str | Estimator, two: str | Estimator, *targets: str) -> None:
    """Both estimators give the same for both models, in recall and dcg."""
    for target, metric in product(targets, (RECALL, DCG)):
        left, right = values(held, [(one, target, metric), (two, target, metric)])
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-14)


@quick
@given(some_users())
def test_gs_with_one_stratum_is_naive(users: list[list[Click]]) -> None:
    """one stratum for all averages the weights away, user by user."""
    same(held_of(users), "gs(strata=1)", "naive", "per_user")


@quick
@given(some_users())
def test_gs_with_one_click_per_stratum_is_snips(users: list[list[Click]]) -> None:
    """if every click of a user has a stratum of its own, nothing is averaged."""
    own = [[replace(c, label=n) for n, c in enumerate(clicks)] for clicks in users]
    same(held_of(own), "gs(strata=column(label))", "snips", "per_user", "pooled")


@quick
@given(some_users(), st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3))
def test_gs_is_snips_where_propensities_are_equal_inside_strata(users: list[list[Click]], level: list[float]) -> None:
    """averaging equal weights changes nothing."""
    equal = [[replace(c, propensity=level[c.label]) for c in clicks] for clicks in users]
    same(held_of(equal), "gs(strata=column(label))", "snips", "per_user", "pooled")


@quick
@given(some_users(clicks=1))
def test_a_single_click_is_naive_under_every_self_normalised_estimator(users: list[list[Click]]) -> None:
    """n* = 1 ⇒ naive = snips = gs: a ratio over one click knows nothing of its weight."""
    same(held_of(users), "snips", "naive", "per_user")
    same(held_of(users), "gs(strata=3)", "naive", "per_user")


def test_gs_snips_and_naive_differ_where_they_may() -> None:
    """The identities above are no accident of estimators that always agree."""
    users = [[Click(1.0, 0.9, 0, (1, 0)), Click(1.0, 0.1, 0, (0, 1)), Click(1.0, 0.3, 1, (2, 3))]]
    cells = [(e, "per_user", RECALL) for e in ("naive", "snips", "gs(strata=column(label))")]
    naive, snips, gs = (v[0] for v in values(held_of(users), cells))
    assert len({round(x, 6) for x in (naive, snips, gs)}) == 3


@quick
@given(some_users(value=st.just(1.0)))
def test_gs_weights_keep_the_sum_and_shrink_the_spread(users: list[list[Click]]) -> None:
    """docs/estimators.md, binary y: Σŵ = Σr, Σŵ² ≤ Σr², max ŵ ≤ max r, for every user."""
    held = held_of(users)
    assert held.propensity is not None
    gs = estimators.make("gs(strata=column(label))").prepare(summary_of(held))
    (term,) = gs.terms(held.batch(0, held.users), Target.PER_USER)
    assert term.seen is not None
    for first, last in zip(held.indptr[:-1], held.indptr[1:], strict=True):
        w, r = term.seen[first:last], 1.0 / held.propensity[first:last]
        assert w.sum() == pytest.approx(r.sum(), rel=1e-12)
        assert (w**2).sum() <= (r**2).sum() * (1.0 + 1e-12)
        assert w.max() <= r.max() * (1.0 + 1e-12)


@quick
@given(some_users())
def test_gs_weights_keep_the_weighted_sum_of_graded_values(users: list[list[Click]]) -> None:
    """docs/estimators.md, graded y: Σŵy = Σry, so that the divisor is the same."""
    held = held_of(users)
    assert held.propensity is not None
    gs = estimators.make("gs(strata=2)").prepare(summary_of(held))
    (term,) = gs.terms(held.batch(0, held.users), Target.PER_USER)
    assert term.seen is not None
    for first, last in zip(held.indptr[:-1], held.indptr[1:], strict=True):
        y, r = held.value[first:last], 1.0 / held.propensity[first:last]
        assert (term.seen[first:last] * y).sum() == pytest.approx((r * y).sum(), rel=1e-12)


@quick
@given(some_users(users=1), st.sampled_from(["eq3", "renormalised"]))
def test_stratified_with_the_users_own_shares_is_naive(users: list[list[Click]], mode: str) -> None:
    """with P(v) = n*_uv / n*_u the strata add up to what was seen."""
    total = sum(c.value for c in users[0])
    shares = {str(v): sum(c.value for c in users[0] if c.label == v) / total for v in range(9)}
    same(held_of(users), Stratified(Strata("column", 0, "label"), shares, mode), "naive", "per_user")


@quick
@given(some_users(), st.floats(0.05, 1.0))
def test_equal_propensities_make_snips_naive(users: list[list[Click]], level: float) -> None:
    """constant P ⇒ snips = naive, per user and pooled; gs too, per user."""
    equal = held_of([[replace(c, propensity=level) for c in clicks] for clicks in users])
    same(equal, "snips", "naive", "per_user", "pooled")
    same(equal, "gs(strata=3)", "naive", "per_user", "pooled")
