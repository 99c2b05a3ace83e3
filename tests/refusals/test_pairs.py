"""Averages over pairs: what may be estimated from what, and what models must give."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import ESTIMATORS, LISTS, LOGS, TARGETS, Known, made, reason_for
from unskew import metrics
from unskew.errors import RefusedError
from unskew.estimators import Target
from unskew.estimators.validity import Evidence, refusal

PER_PAIR = (*ESTIMATORS, "snips(over=user)", "snips(over=item)", "clipped(snips(over=user), quantile=0.1)")
ERRORS = ("mae", "mse", "rmse", "accuracy")
GAINS = ("dcg@5", "cg@5", "precision@5")


def over_pairs(estimator: str, metric: str, log: Known) -> bool:
    """The per_pair rows of docs/estimators.md, for models that predict and rank, and values of 0 and 1."""
    inside = estimator.removeprefix("clipped(").split(",")[0].split("(")[0]
    if metric not in (*ERRORS, *GAINS) or inside not in ("naive", "ips", "snips"):
        return False  # recall is no average over pairs; strata are made for relevant items
    if log.feedback == "implicit" and (metric in ERRORS or inside != "ips"):
        return False  # the seen pairs that brought nothing are missing: only ips of gains can do without
    if inside == "naive":
        return True
    if log.level is None or ("at=" in estimator and log.level == "relative"):
        return False
    return inside != "ips" or log.level == "absolute"


def able(log: Known) -> Evidence:
    """What is known where every model predicts and ranks, and values are 0 and 1."""
    return replace(log.evidence, unpredicted="", unranked="", binary=True)


@pytest.mark.parametrize("log", LOGS, ids=str)
@pytest.mark.parametrize("metric", [*ERRORS, *GAINS, "recall@5", "rbp(p=0.8)@5", "arhr@5", "ndcg@5", "mrr@5"])
def test_every_cell_of_averages_over_pairs(metric: str, log: Known) -> None:
    """Allowed is what the table allows; n_u and thresholds do not matter; each refusal has a reason and a way out."""
    for estimator in PER_PAIR:
        reason = refusal(metrics.make(metric), made(estimator), Target.PER_PAIR, able(log))
        assert (reason is None) == over_pairs(estimator, metric, log), (estimator, reason)
        if reason is not None:
            assert any(way in reason for way in (" Use ", " Give ")) and reason.endswith("."), reason


def test_the_table_of_pairs_holds_both_answers() -> None:
    """For every estimator of pairs and every metric there are logs that allow it and logs that do not."""
    for estimator, metric in product(
        ("naive", "ips", "snips", "snips(over=user)", "snips(over=item)"), ("mae", "cg@5")
    ):
        assert {over_pairs(estimator, metric, log) for log in LOGS} == {True, False}, (estimator, metric)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("metric", ERRORS)
def test_errors_of_predictions_are_averages_over_pairs_only(metric: str, target: str) -> None:
    """mae under per_user, pooled or per_user_sum: refused, and per_pair named."""
    reason = refusal(
        metrics.make(metric), made("naive"), Target.make(target), able(Known("ratings", True, "absolute", True))
    )
    assert reason is not None and "per_pair only" in reason


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("over", ["user", "item"])
def test_divisors_per_user_and_item_are_for_pairs(over: str, target: str) -> None:
    """snips(over=user) and snips(over=item) exist under per_pair only."""
    reason = reason_for(f"snips(over={over})", target, feedback="conversions")
    assert "defined for per_pair" in reason


@pytest.mark.parametrize(
    ("estimator", "metric", "known", "words"),
    [
        ("naive", "mae", {"feedback": "implicit"}, ["an implicit log has none", "dcg@10 with ips"]),
        ("naive", "dcg@5", {"feedback": "implicit"}, ["brought nothing", "Use ips", "target pooled"]),
        ("snips", "cg@5", {"feedback": "implicit"}, ["brought nothing", "Use ips"]),
        ("ips", "mae", {"level": "relative"}, ["absolute", "relative", "use snips", "known propensities"]),
        ("ips", "dcg@5", {"level": None}, ["never taken as uniform", "propensity='known'"]),
        ("clipped(snips, at=0.1)", "mae", {"level": "relative"}, ["means nothing", "clipped(snips, quantile="]),
        ("gs(strata=2)", "mae", {}, ["per_user or pooled, not for per_pair", "Use ips"]),
        ("stratified(strata=2)", "mae", {}, ["not for per_pair", "Use ips"]),
        ("naive", "recall@5", {}, ["no average over pairs", "dcg@5", "per_user_sum"]),
        ("snips", "ndcg@5", {}, ["no average over pairs", "dcg@5"]),
    ],
)
def test_refusals_of_pairs_name_the_reason_and_the_alternative(
    estimator: str, metric: str, known: dict[str, Any], words: list[str]
) -> None:
    """Key words of each sentence: what is missing, and what to use or give instead."""
    log = replace(Known("ratings", False, "absolute", False), **known)
    reason = refusal(metrics.make(metric), made(estimator), Target.PER_PAIR, able(log))
    assert reason is not None and all(word in reason for word in words), reason


def test_graded_values_are_not_counted_as_relevant() -> None:
    """precision@5 over graded values: the mean of the first five is cg@5; a threshold makes them countable."""
    graded = replace(able(Known("ratings", False, "absolute", False)), binary=False)
    reason = refusal(metrics.make("precision@5"), made("ips"), Target.PER_PAIR, graded)
    assert reason is not None and "graded" in reason and "cg@5" in reason and "relevant=" in reason
    assert refusal(metrics.make("cg@5"), made("ips"), Target.PER_PAIR, graded) is None


RATED = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 10], "value": [4.0, 2.0, 5.0], "propensity": [0.5, 0.2, 0.9]})
GUESSED = RATED.select("user", "item", prediction=pl.col("value") - 0.5)


@pytest.mark.parametrize(
    ("models", "metric", "words"),
    [
        ({"m": us.Recommendations.from_frame(LISTS["m"])}, "mae", ["m gives lists only", "read_predictions", "dcg@10"]),
        (
            {"p": GUESSED, "l": us.Recommendations.from_frame(LISTS["m"])},
            "rmse",
            ["l gives lists only", "read_predictions(…)"],
        ),
        (
            {"m": us.Predictions.from_frame(GUESSED)},
            "dcg@5",
            ["m has no column 'rank' and predicts 3 of 4 candidate pairs", "a column 'rank'", "mae"],
        ),
        ({"m": us.Predictions.from_frame(GUESSED.with_columns(rank=pl.Series([1, 2, 1])))}, "recall@5", ["cg@5"]),
        (
            {"m": us.Predictions.from_frame(GUESSED.with_columns(rank=pl.Series([1, 2, 1])))},
            "precision@2",
            ["graded", "cg@2"],
        ),
    ],
    ids=["lists", "lists beside predictions", "predictions of some", "recall", "graded precision"],
)
def test_models_that_lack_something_are_named(models: dict[str, Any], metric: str, words: list[str]) -> None:
    """Which model gives no predictions, or no ranks, and what to do."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(RATED, models, metrics=[metric], estimators=["naive"], feedback="ratings", target="per_pair")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_skipping_computes_errors_and_lists_refused_ranks() -> None:
    """refused="skip": mae of predictions is there, dcg of the same model is listed with its reason."""
    result = us.evaluate(
        RATED,
        {"m": GUESSED},
        metrics=["mae", "dcg@5"],
        estimators=["naive", "gs(strata=2)"],
        propensity="known",
        feedback="ratings",
        refused="skip",
    )
    assert {(e.metric, e.estimator) for e in result.estimates} == {("mae", "naive")}
    assert {(r["metric"], r["estimator"]) for r in result.inputs["refused"]} == {
        ("dcg@5", "naive"),
        ("dcg@5", "gs(strata=2)"),
        ("mae", "gs(strata=2)"),
    }


def test_implicit_gains_over_pairs_need_absolute_propensities() -> None:
    """ips of dcg over pairs works on clicks alone: what was not seen to be liked counts 0 anyway."""
    clicks = RATED.drop("value")
    settings: dict[str, Any] = {"metrics": ["dcg@5"], "estimators": ["ips"], "target": "per_pair"}
    result = us.evaluate(clicks, LISTS, propensity="known", **settings)
    expected = 2.0 * (1.0 / 0.5 + 1.0 / 0.9) / 4.0  # item 10 stands first for both users; |C_u| = 2, 4 pairs
    assert result.estimates[0].value == pytest.approx(expected)
    with pytest.raises(RefusedError, match="absolute"):
        us.evaluate(clicks, LISTS, propensity="uniform", **settings)
