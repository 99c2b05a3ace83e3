"""What may be estimated from what, cell by cell, as ``evaluate`` tells it; every no has a code and a way out."""

from __future__ import annotations

from itertools import product
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import ESTIMATORS, GIVEN, LISTS, LOGS, TARGETS, Known, made
from tests.said import only
from unskew.core.errors import RefusedError

PER_PAIR = (*ESTIMATORS, "snips(over=user)", "snips(over=item)", "clipped(snips(over=user), quantile=0.1)")
ERRORS = ("mae", "mse", "rmse", "accuracy")
GAINS = ("dcg@5", "cg@5", "precision@5")
Cell = tuple[str, str, str]  # metric, estimator, target


def inside(estimator: str) -> str:
    return estimator.removeprefix("clipped(").split(",")[0].split("(")[0]


def allowed(estimator: str, target: str, log: Known) -> bool:
    """The table of docs/estimators.md, row by row."""
    kind = inside(estimator)
    if target != "per_user_sum" and log.feedback == "ratings" and not log.threshold:
        return False  # nothing says which ratings are relevant
    if kind == "naive":
        return True
    if log.level is None or ("at=" in estimator and log.level == "relative"):
        return False  # all strata here are made of propensities
    return {
        "ips": log.level == "absolute" and (target == "per_user_sum" or log.n_u),
        "snips": target != "per_user_sum" or log.feedback != "implicit",
        "gs": target != "per_user_sum",
        "stratified": target == "per_user" and (estimator == GIVEN or log.feedback != "implicit"),
    }[kind]


def over_pairs(estimator: str, metric: str, log: Known) -> bool:
    """The per_pair rows of docs/estimators.md, for models that predict and rank, and values of 0 and 1."""
    kind = inside(estimator)
    if metric not in (*ERRORS, *GAINS) or kind not in ("naive", "ips", "snips"):
        return False  # recall is no average over pairs; strata are made for relevant items
    if log.feedback == "implicit" and (metric in ERRORS or kind != "ips"):
        return False  # the seen pairs that brought nothing are missing: only ips of gains can do without
    if kind == "naive":
        return True
    if log.level is None or ("at=" in estimator and log.level == "relative"):
        return False
    return kind != "ips" or log.level == "absolute"


def cells(result: us.Result) -> tuple[set[Cell], dict[Cell, dict[str, Any]]]:
    """What was computed, and what was refused, with what is said of it."""
    computed = {(e.metric, e.estimator, str(e.target)) for e in result.estimates}
    refused = {(r["metric"], r["estimator"], str(r["target"])): r for r in result.inputs["refused"]}
    return computed, refused


def hold(result: us.Result, expected: set[Cell], every: set[Cell]) -> None:
    """These cells are computed and all others refused, with a code and ways out."""
    computed, refused = cells(result)
    assert computed == expected and set(refused) == every - expected
    assert all(each["code"] and each["instead"] for each in refused.values())
    if refused:
        only("refused-cells", result.warnings)


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_every_cell_of_the_table(log: Known) -> None:
    """Allowed is what the table allows, and nothing else."""
    result = log.evaluated(LISTS, metrics=["recall@5"], estimators=ESTIMATORS, target=TARGETS)
    every = {(str(made(e)), t): allowed(e, t, log) for e, t in product(ESTIMATORS, TARGETS)}
    hold(result, {("recall@5", *cell) for cell, yes in every.items() if yes}, {("recall@5", *cell) for cell in every})


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_every_cell_of_averages_over_pairs(log: Known) -> None:
    """n_u and thresholds do not matter."""
    pairs = [(user, item, 0.5, rank) for user in (1, 2, 3) for rank, item in enumerate((10, 20, 30), 1)]
    model = us.Predictions.from_frame(pl.DataFrame(pairs, ["user", "item", "prediction", "rank"], orient="row"))
    metrics = (*ERRORS, *GAINS, "recall@5", "rbp(p=0.8)@5", "arhr@5", "ndcg@5", "mrr@5")
    every = {(m, str(made(e)), "per_pair"): over_pairs(e, m, log) for m, e in product(metrics, PER_PAIR)}
    asked: dict[str, Any] = {"metrics": metrics, "estimators": PER_PAIR, "target": "per_pair"}
    if not any(every.values()):
        with pytest.raises(RefusedError):
            log.evaluated({"m": model}, binary=True, **asked)
    else:
        hold(log.evaluated({"m": model}, binary=True, **asked), {c for c, yes in every.items() if yes}, set(every))


def test_the_tables_hold_both_answers() -> None:
    """Neither is all yes nor all no, for every estimator but naive."""
    for estimator in ESTIMATORS[1:]:
        assert {allowed(estimator, *cell) for cell in product(TARGETS, LOGS)} == {True, False}, estimator
    for estimator, metric in product(("naive", "ips", "snips", "snips(over=user)"), ("mae", "cg@5")):
        assert {over_pairs(estimator, metric, log) for log in LOGS} == {True, False}, (estimator, metric)


BARE, RELATIVE, NO_TOTALS = Known(level=None), Known(level="relative"), Known(n_u=False)
BOUGHT, RATED, GRADED = Known("conversions"), Known("ratings"), Known("ratings", n_u=False)
FIRST = ("mrr@5", "mrr", "hit@5", "r_precision")


@pytest.mark.parametrize(
    ("log", "metric", "estimator", "target", "code", "ways"),
    [
        # what is missing in the log
        (BARE, "recall@5", "snips", "per_user", "no-propensity", {"propensity=known", "propensity=popularity"}),
        (NO_TOTALS, "recall@5", "ips", "per_user", "no-relevant-numbers", {"users.relevant", "snips"}),
        (NO_TOTALS, "recall@5", "ips", "pooled", "no-relevant-numbers", {"users.relevant", "snips"}),
        (RELATIVE, "recall@5", "ips", "per_user", "no-level", {"snips", "absolute=known"}),
        (RELATIVE, "recall@5", "ips", "per_user_sum", "no-level", {"snips", "pooled", "absolute=known"}),
        (RELATIVE, "recall@5", "clipped(snips, at=0.1)", "per_user", "no-level", {"clipped(snips, quantile="}),
        (Known(), "recall@5", "snips", "per_user_sum", "no-zeros", {"ips", "pooled"}),
        (Known(), "recall@5", "clipped(snips, quantile=0.1)", "per_user_sum", "no-zeros", {"ips", "pooled"}),
        (Known(), "recall@5", "gs(strata=2)", "per_user_sum", "wrong-target", {"ips"}),
        (Known(), "recall@5", "stratified(strata=2)", "per_user", "no-shares", {"ips"}),
        (Known(), "recall@5", GIVEN, "pooled", "wrong-target", {"ips"}),
        (Known(), "recall@5", GIVEN, "per_user_sum", "wrong-target", {"ips"}),
        (RATED, "recall@5", "naive", "per_user", "no-threshold", {"relevant"}),
        (RATED, "recall@5", "naive", "pooled", "no-threshold", {"relevant"}),
        # metrics that exist under some targets and estimators only
        *((Known(), "precision@5", e, t, "wrong-target", {"recall@5"} if e == "snips" else {"recall@5", "per_user_sum"})
          for e, t in product(("naive", "snips", "ips"), ("per_user", "pooled"))),
        *((Known(), m, e, t, "wrong-target", {"per_user"} if m not in FIRST or e == "naive" else set())
          for m, e, t in product(("ndcg@5", "map@5", *FIRST), ("naive", "snips"), ("pooled", "per_user_sum"))),
        *((BOUGHT, m, e, "per_user", "unweighted-only", {"recall@", "dcg@"})
          for m, e in product(FIRST, ESTIMATORS[1:])),
        *((BOUGHT, "map(divide=min)@5", e, "per_user", "unweighted-only", {"snips"})
          for e in ("ips", "clipped(ips, at=0.1)", "stratified(strata=2)", GIVEN)),
        *((Known(), "ndcg(ideal=full)@5", e, "per_user", "unweighted-only", {"ndcg@5"})
          for e in ("snips", "ips", "gs(strata=2)", "clipped(snips, at=0.1)")),
        # averages over pairs
        *((RATED, m, "naive", t, "wrong-target", {"per_pair"}) for m, t in product(ERRORS, TARGETS)),
        *((BOUGHT, "recall@5", f"snips(over={over})", t, "wrong-target", set())
          for over, t in product(("user", "item"), TARGETS)),
        (Known(), "mae", "naive", "per_pair", "no-values", {"ips", "dcg@10"}),
        (Known(), "dcg@5", "naive", "per_pair", "no-zeros", {"ips", "pooled"}),
        (Known(), "cg@5", "snips", "per_pair", "no-zeros", {"ips"}),
        (GRADED, "recall@5", "naive", "per_pair", "wrong-target", {"dcg@5", "per_user_sum"}),
        (GRADED, "ndcg@5", "snips", "per_pair", "wrong-target", {"dcg@5"}),
        (GRADED, "mae", "gs(strata=2)", "per_pair", "wrong-target", {"ips"}),
        (GRADED, "precision@5", "ips", "per_pair", "graded-values", {"cg@5"}),
    ],
)  # fmt: skip
def test_refusals_say_why_and_name_what_helps(
    log: Known, metric: str, estimator: str, target: str, code: str, ways: set[str]
) -> None:
    """By its code; other estimators, metrics and targets, and what to give, are among the ways out."""
    pairs = [(user, item, 0.5, rank) for user in (1, 2, 3) for rank, item in enumerate((10, 20, 30), 1)]
    model = us.Predictions.from_frame(pl.DataFrame(pairs, ["user", "item", "prediction", "rank"], orient="row"))
    asked: dict[str, Any] = {
        "metrics": [metric, "dcg@5"],
        "estimators": [estimator, "naive"],
        "target": [target, "per_user_sum"],
    }
    _, refused = cells(log.evaluated({"m": model}, **asked))
    found = refused[str(us.metrics.make(metric)), str(made(estimator)), target]
    assert found["code"] == code
    told = {
        word for way in found["instead"] for word in (way["metric"], way["estimator"], str(way["target"]), *way["give"])
    }
    assert all(any(word.startswith(way) for word in told) for way in ways), told


PAIRS = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 10], "value": [4.0, 2.0, 5.0], "propensity": [0.5, 0.2, 0.9]})
GUESSED = PAIRS.select("user", "item", prediction=pl.col("value") - 0.5)


@pytest.mark.parametrize(
    ("models", "metric", "code"),
    [
        ({"m": us.Recommendations.from_frame(LISTS["m"])}, "mae", "no-predictions"),
        (
            {"p": GUESSED.with_columns(rank=pl.Series([1, 2, 1])), "m": us.Recommendations.from_frame(LISTS["m"])},
            "rmse",
            "no-predictions",
        ),
        ({"m": us.Predictions.from_frame(GUESSED)}, "dcg@5", "no-ranks"),
    ],
    ids=["lists", "lists beside predictions", "predictions of some"],
)
def test_models_that_lack_something_are_named(models: dict[str, Any], metric: str, code: str) -> None:
    """Which model gives no predictions, or no ranks; other cells are computed."""
    asked: dict[str, Any] = {"estimators": ["naive"], "feedback": "ratings", "refused": "skip"}
    others = {"mae": "dcg@5", "rmse": "dcg@5", "dcg@5": "mae"}[metric]
    found = us.evaluate(PAIRS, models, metrics=[metric, others], target=["per_pair", "per_user_sum"], **asked)
    refused = cells(found)[1][metric, "naive", "per_pair"]
    assert refused["code"] == code and "m " in refused["reason"] and refused["instead"]
