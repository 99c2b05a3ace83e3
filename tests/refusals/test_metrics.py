"""Metrics that exist under some targets and estimators only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.refusals.known import ESTIMATORS, GIVEN, Known, made, reason_for
from unskew import metrics
from unskew.estimators import Target
from unskew.estimators.validity import refusal


@pytest.mark.parametrize("target", ["per_user", "pooled"])
@pytest.mark.parametrize("estimator", ["naive", "snips", "ips"])
def test_precision_is_recall_in_disguise(estimator: str, target: str) -> None:
    """precision@5 under per_user or pooled is recall@5 / 5: refused, with both ways out."""
    reason = reason_for(estimator, target, metric="precision@5")
    assert "recall@5 divided by 5" in reason and "Use recall@5" in reason and "per_user_sum" in reason
    log = replace(Known("implicit", False, "absolute", True).evidence, binary=True)
    assert refusal(metrics.make("precision@5"), made("naive"), Target.PER_USER_SUM, log) is None


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg", "map@5", "mrr@5", "hit@5", "r_precision"])
@pytest.mark.parametrize("target", ["pooled", "per_user_sum"])
def test_ratios_inside_users_exist_under_per_user_only(metric: str, target: str) -> None:
    """ndcg, map, mrr, hit and r_precision are ratios inside each user."""
    for estimator in ("naive", "snips"):
        reason = reason_for(estimator, target, metric=metric)
        assert "per_user only" in reason and ("recall@" in reason or "ndcg@" in reason)


@pytest.mark.parametrize("metric", ["mrr@5", "mrr", "hit@5", "r_precision"])
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e != "naive"])
def test_first_hits_are_naive_only(metric: str, estimator: str) -> None:
    """No weight per item can debias what looks at one item of a user only: recall and dcg can be."""
    reason = reason_for(estimator, "per_user", metric=metric, feedback="conversions")
    assert "naive is all there is" in reason and "recall@" in reason and "dcg@" in reason


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg(discount=lenskit)@5", "map@5"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_ndcg_and_map_take_any_weights_under_per_user(metric: str, estimator: str) -> None:
    """Weights of at least 0 all work; ips needs n_u and absolute P as ever."""
    log = Known("conversions", False, "absolute", True)
    assert refusal(metrics.make(metric), made(estimator), Target.PER_USER, log.evidence) is None


@pytest.mark.parametrize("estimator", ["ips", "clipped(ips, at=0.1)", "stratified(strata=2)", GIVEN])
def test_map_by_the_largest_weights_needs_weights_below(estimator: str) -> None:
    """map(divide=min) has no meaning over a fixed divisor, also inside a clip."""
    reason = reason_for(estimator, "per_user", metric="map(divide=min)@5", feedback="conversions")
    assert "fixed divisor" in reason and "map@5" in reason and "snips" in reason


@pytest.mark.parametrize("estimator", ["snips", "ips", "gs(strata=2)", "clipped(snips, at=0.1)"])
def test_ndcg_against_equal_hits_is_naive_only(estimator: str) -> None:
    """ndcg(ideal=full) compares with k equal hits, which weighted items do not have."""
    assert "Use ndcg@5" in reason_for(estimator, "per_user", metric="ndcg(ideal=full)@5")


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5"])
def test_ratios_have_no_exposure_path_and_are_told_what_has_one(metric: str) -> None:
    """Under no target do both exist, so that only another metric leads out: not pooled, which refuses the ratio."""
    log = replace(Known("implicit", False, None, False).evidence, counts=True)
    for target in (Target.PER_USER, Target.POOLED):
        reason = refusal(metrics.make(metric), made("exposure_path"), target, log)
        assert reason is not None and "recall@5" in reason and "dcg@5" in reason and "naive" not in reason
        assert "target pooled" in reason or target is Target.POOLED
