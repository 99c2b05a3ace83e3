"""Identities of averages over pairs: what must hold exactly, on random logs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.engine.passes import first_pass
from tests.ratings.worlds import draw, plan_of
from unskew.engine.data import EvaluationData
from unskew.engine.sums import Sums

ALL = ("naive", "ips", "snips", "snips(over=user)", "clipped(snips, at=0.2)")
METRICS = ("mae", "mse", "rmse", "accuracy")
seeds = st.integers(0, 10_000)


def values(held: EvaluationData, estimator: str, metric: str = "mae") -> float:
    plan = plan_of(held, (estimator,), (metric,))
    (moments,) = first_pass(held, plan, threads=1).moments
    return float(moments.values[0])


@settings(max_examples=20)
@given(seed=seeds, scale=st.floats(0.05, 1.0), metric=st.sampled_from(METRICS))
def test_snips_ignores_the_scale_of_propensities(seed: int, scale: float, metric: str) -> None:
    """P → cP leaves snips as it was, with one divisor or one per user, and divides ips by c (rmse by √c)."""
    held = draw(seed, 30).held()
    assert held.propensity is not None
    scaled = replace(held, propensity=held.propensity * scale)
    for estimator in ("snips", "snips(over=user)"):
        assert values(scaled, estimator, metric) == pytest.approx(values(held, estimator, metric), rel=1e-12)
    factor = scale**-0.5 if metric == "rmse" else 1.0 / scale
    assert values(scaled, "ips", metric) == pytest.approx(factor * values(held, "ips", metric), rel=1e-12)


@settings(max_examples=10)
@given(seed=seeds)
def test_ratios_per_user_ignore_a_factor_per_user(seed: int) -> None:
    """P → c_u P leaves snips(over=user) as it was; one divisor for all feels it."""
    held = draw(seed, 30).held()
    assert held.propensity is not None
    factor = np.repeat(np.random.default_rng(seed).uniform(0.2, 1.0, 30), np.diff(held.indptr))
    scaled = replace(held, propensity=held.propensity * factor)
    assert values(scaled, "snips(over=user)") == pytest.approx(values(held, "snips(over=user)"), rel=1e-12)
    assert values(scaled, "snips") != pytest.approx(values(held, "snips"), rel=1e-9)


def test_ratios_per_item_ignore_a_factor_per_item() -> None:
    """P → c_i P leaves snips(over=item) as it was."""
    rng = np.random.default_rng(8)
    user, item = (index.ravel() for index in np.indices((12, 6)))
    frame = pl.DataFrame({"user": user, "item": item, "value": rng.integers(1, 6, 72) * 1.0})
    p = rng.uniform(0.3, 1.0, 72)
    factor = rng.uniform(0.1, 1.0, 6)[item]
    keep = pl.Series(rng.random(72) < p)
    guess = rng.uniform(1.0, 5.0, (12, 6))
    found = {}
    for name, numbers in (("plain", p), ("scaled", p * factor)):
        test = frame.with_columns(propensity=pl.Series(numbers)).filter(keep)
        asked = ["snips(over=item)", "snips"]
        result = us.evaluate(
            test, {"m": guess}, metrics=["mse"], estimators=asked, propensity="known", feedback="ratings"
        )
        found[name] = [e.value for e in result.estimates]
    assert found["scaled"][1] == pytest.approx(found["plain"][1], rel=1e-12)
    assert found["scaled"][0] != pytest.approx(found["plain"][0], rel=1e-6)


@settings(max_examples=20)
@given(seed=seeds, p=st.floats(0.05, 1.0), metric=st.sampled_from(METRICS))
def test_even_propensities_make_snips_naive(seed: int, p: float, metric: str) -> None:
    """Constant P: snips = naive; and ips = naive · |O| / (P·UI)."""
    held = draw(seed, 25).held()
    held = replace(held, propensity=np.full(len(held.item), p))
    naive = values(held, "naive", metric)
    assert values(held, "snips", metric) == pytest.approx(naive, rel=1e-12)
    assert held.candidates is not None
    filled = len(held.item) / (p * held.candidates.sum())
    assert values(held, "ips", metric) == pytest.approx(naive * (filled**0.5 if metric == "rmse" else filled))


@settings(max_examples=20)
@given(seed=seeds, off=st.floats(-3.0, 3.0))
def test_snips_of_a_constant_is_the_constant(seed: int, off: float) -> None:
    """Constant δ: every self-normalised estimate is δ; ips is not (its weights do not add up to the pairs)."""
    held = draw(seed, 25).held()
    assert held.rating is not None
    held = replace(held, predicted=(held.rating + off,))
    for estimator in ("naive", "snips", "snips(over=user)", "clipped(snips, at=0.2)"):
        assert values(held, estimator) == pytest.approx(abs(off), abs=1e-12)
        assert values(held, estimator, "rmse") == pytest.approx(abs(off), abs=1e-12)


@settings(max_examples=20)
@given(seed=seeds, estimator=st.sampled_from(["naive", "snips", "snips(over=user)"]))
def test_self_normalised_estimates_stay_within_the_costs(seed: int, estimator: str) -> None:
    """min δ ≤ snips ≤ max δ."""
    held = draw(seed, 25).held()
    assert held.rating is not None and held.predicted[0] is not None
    cost = np.abs(held.predicted[0] - held.rating)
    assert cost.min() - 1e-12 <= values(held, estimator) <= cost.max() + 1e-12


def test_nothing_seen_is_not_a_number_and_reported() -> None:
    """A segment without rows: self-normalised estimates are NaN, ips is 0, and a warning says so."""
    test = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "value": [3.0, 4.0], "propensity": [0.5, 0.5]})
    users = pl.DataFrame({"user": ["a", "b", "c"], "kind": ["new", "new", "old"]})
    guess = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "prediction": [3.5, 3.0]})
    result = us.evaluate(
        test,
        {"m": guess},
        metrics=["mae"],
        estimators=["naive", "ips", "snips", "snips(over=user)", "snips(over=item)"],
        propensity="known",
        feedback="ratings",
        users=users,
        by="kind",
    )
    old = {e.estimator: e.value for e in result.estimates if e.segment == "kind=old"}
    assert old.pop("ips") == 0.0
    assert all(np.isnan(value) for value in old.values()) and len(old) == 4
    assert any("NaN" in warning for warning in result.warnings)


@pytest.mark.parametrize("replicates", [0, 30])
def test_any_partition_of_the_users_merges_to_the_same_result(replicates: int) -> None:
    """Blocks of 1, 7, 64 and all users, by 1 or 3 threads: the same estimates, errors, tallies and replicates."""
    held = draw(11, 300, (0.5, 0.8, 1.1)).held()
    plan = plan_of(held, ALL, METRICS)

    def run(block: int, threads: int) -> Sums:
        return first_pass(held, plan, replicates=replicates, seed=5, block=block, threads=threads)

    whole = run(10_000, 1)
    for block, threads in ((1, 1), (7, 3), (64, 1), (64, 3)):
        found = run(block, threads)
        for left, right in zip(found.moments, whole.moments, strict=True):
            np.testing.assert_allclose(left.values, right.values, rtol=1e-12)
            np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-9, atol=1e-18)
            np.testing.assert_array_equal(left.differ, right.differ)
            assert left.active == right.active
        for a, b in zip(found.tallies, whole.tallies, strict=True):
            assert (a.ess, a.max_weight_share) == pytest.approx((b.ess, b.max_weight_share), rel=1e-12)
            assert (a.pairs, a.raised) == (b.pairs, b.raised)
        if found.replicates is not None and whole.replicates is not None:
            np.testing.assert_allclose(found.replicates, whole.replicates, rtol=1e-10)
        assert (found.replicates is None) == (replicates == 0)
    for left, right in zip(run(64, 3).moments, run(64, 1).moments, strict=True):
        np.testing.assert_array_equal(left.mean, right.mean)


def test_gains_over_pairs_are_sums_per_user() -> None:
    """With as many candidates for everybody, ips of dcg under per_pair is ips under per_user_sum."""
    rng = np.random.default_rng(9)
    user, item = (index.ravel() for index in np.indices((30, 8)))
    p = rng.uniform(0.2, 0.9, 240)
    seen = pl.Series(rng.random(240) < p)
    frame = pl.DataFrame({"user": user, "item": item, "value": rng.integers(0, 6, 240) * 1.0, "propensity": p})
    guess = rng.uniform(1.0, 5.0, (30, 8))
    asked: dict[str, Any] = {
        "metrics": ["dcg@3", "cg@3"],
        "estimators": ["ips"],
        "propensity": "known",
        "feedback": "ratings",
    }
    found = {}
    for target in ("per_pair", "per_user_sum"):
        result = us.evaluate(frame.filter(seen), {"m": us.Predictions.from_array(guess)}, target=target, **asked)
        found[target] = [(e.value, e.se) for e in result.estimates]
    np.testing.assert_allclose(found["per_pair"], found["per_user_sum"], rtol=1e-12)
