"""What may be estimated from what, for estimators of sums, cell by cell; every no comes with a reason and a way out."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from unskew import estimators, metrics
from unskew.core.errors import InputError, RefusedError
from unskew.core.notice import Notice
from unskew.estimators import Target
from unskew.estimators.validity import Evidence, refusal
from unskew.log import Feedback, Log
from unskew.outcome import Given, Means

TARGETS = tuple(map(str, Target))
SUMS = ("per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)")
CORRECTING = ("dr", "sndr", "switch(tau=4)", "clipped(dr, at=0.1)")
ESTIMATORS = ("naive", "ips", "snips", "snips(over=list)", "direct", *CORRECTING)


LEVELS: tuple[dict[str, Any], ...] = ({}, {"propensity": True}, {"propensity": True, "absolute": True})
OUTCOMES: tuple[dict[str, Any], ...] = ({}, {"outcome": True}, {"outcome": True, "outside": True})
LOGS = [
    Evidence(Feedback(feedback), thresholded=feedback == "ratings", relevant=False, zeros=zeros, **level, **outcome)
    for feedback, level, outcome, zeros in product(
        ("implicit", "conversions", "ratings"), LEVELS, OUTCOMES, (True, False)
    )
]


def why_not(estimator: str, target: str, log: Evidence, metric: str = "dcg@5") -> Notice | None:
    return refusal(metrics.make(metric), estimators.make(estimator), Target.make(target), log)


def allowed(estimator: str, target: str, log: Evidence) -> bool:
    """The table of docs/estimators.md, row by row, for dcg@5."""
    zeros = log.feedback is Feedback.RATINGS or (log.feedback is Feedback.CONVERSIONS and log.zeros)
    guesses = log.outside or (log.outcome and log.feedback is not Feedback.IMPLICIT)
    if target not in SUMS:
        if estimator == "naive":
            return target != "per_pair" or zeros
        if estimator == "ips":  # n_u is not known here
            return target == "per_pair" and log.absolute
        if estimator == "snips":
            return log.propensity and (target != "per_pair" or zeros)
        return False
    if estimator == "naive":
        return True
    if estimator == "direct":
        return guesses and (zeros or log.outside)
    if estimator == "ips":
        return log.absolute or (log.propensity and target != "per_user_sum")
    if not log.propensity or not zeros:
        return False
    if estimator in ("snips", "snips(over=list)"):
        return target == "per_user_sum"
    if estimator == "sndr":
        return target == "per_user_sum" and guesses
    return guesses and log.absolute


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_cell_of_the_table(estimator: str) -> None:
    """Allowed is what the table allows, and nothing else; each refusal has a code, and there are both."""
    answers = set()
    for target, log in product(TARGETS, LOGS):
        reason = why_not(estimator, target, log)
        assert (reason is None) == allowed(estimator, target, log), (target, log, reason)
        assert reason is None or reason.code
        answers.add(reason is None)
    assert answers == {True, False}


GOOD = Evidence(Feedback.CONVERSIONS, relevant=False, zeros=True, propensity=True, absolute=True, outcome=True)


@pytest.mark.parametrize(
    ("estimator", "target", "known", "code"),
    [
        ("dr", "per_user_sum", {"outcome": False}, "no-outcome-model"),
        ("direct", "per_user_sum", {"outcome": False}, "no-outcome-model"),
        ("dr", "per_user_sum", {"feedback": Feedback.IMPLICIT}, "no-zeros"),
        ("dr", "per_user_sum", {"absolute": False}, "no-level"),
        ("switch(tau=4)", SUMS[1], {"absolute": False}, "no-level"),
        ("dr", "per_user_sum", {"propensity": False, "absolute": False}, "no-propensity"),
        ("dr", "per_user_sum", {"zeros": False}, "no-zeros"),
        ("snips", SUMS[1], {}, "not-normalised"),
        ("snips(over=list)", SUMS[1], {}, "not-normalised"),
        ("sndr", SUMS[2], {}, "not-normalised"),
        ("dr", "per_user", {}, "wrong-target"),
        ("dr", "per_pair", {}, "wrong-target"),
        ("snips(over=list)", "pooled", {}, "wrong-target"),
    ],
)
def test_refusals_name_the_reason(estimator: str, target: str, known: dict[str, Any], code: str) -> None:
    """Which of several that might be meant."""
    reason = why_not(estimator, target, replace(GOOD, **known))
    assert reason is not None and reason.code == code, reason


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5", "mrr@5", "hit@5", "r_precision"])
@pytest.mark.parametrize("estimator", CORRECTING)
@pytest.mark.parametrize("target", TARGETS)
def test_ratios_and_first_hits_have_no_doubly_robust_form(metric: str, estimator: str, target: str) -> None:
    """Weights of y − q may be negative, and these metrics are no sums: refused under every target."""
    assert why_not(estimator, target, GOOD, metric) is not None


TEST = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 30], "value": [1.0, 0.0, 1.0], "propensity": [0.5, 0.2, 0.7]})
LISTS = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})}
GUESS = Given(pl.DataFrame({"user": [1], "item": [10], "prediction": [0.5]}), default=0.1)


SEEN: dict[str, Any] = {"test": TEST, "models": LISTS, "propensity": "known", "feedback": "conversions"}
CLICKS = TEST.filter(pl.col("value") > 0.0)
FITTED = Means().fit(Log.from_frame(TEST, feedback="conversions"))
SHORT = Given(pl.DataFrame({"user": [1], "item": [10], "prediction": [0.5]}))


def test_evaluate_refuses_before_it_computes() -> None:
    """The error has the code of the cell, and skipping lists it in the result; one cell and several are counted."""
    asked: dict[str, Any] = {**SEEN, "metrics": ["dcg@5"], "estimators": ["ips", "dr"]}
    with refuses("no-outcome-model", RefusedError):
        us.evaluate(**asked)
    result = us.evaluate(**asked, refused="skip")
    assert [e.estimator for e in result.estimates] == ["ips"]
    assert [(r["estimator"], r["code"]) for r in result.inputs["refused"]] == [("dr", "no-outcome-model")]
    only("refused-cells", result.warnings)


def test_direct_reads_guesses_from_outside_for_implicit_logs() -> None:
    """An implicit log with predictions made elsewhere has a direct estimate, and no other with a model."""
    asked: dict[str, Any] = {"test": CLICKS.select("user", "item"), "models": LISTS, "target": "per_user_sum"}
    result = us.evaluate(**asked, metrics=["recall@1"], estimators=["naive", "direct"], outcome=GUESS)
    values = {e.estimator: e.value for e in result.estimates}
    assert values["direct"] == pytest.approx((0.5 + 0.1) / 2)
    with refuses("no-zeros", RefusedError):
        us.evaluate(**asked, estimators=["direct"], outcome="means(shrink=10)")


@pytest.mark.parametrize(
    ("code", "kind", "options"),
    [
        ("no-zeros", RefusedError, {"test": CLICKS, "outcome": GUESS}),
        ("unknown-name", InputError, {"outcome": "mindreader(dim=3)"}),
        ("unknown-argument", InputError, {"outcome": "means(strink=3)"}),
        ("out-of-range", InputError, {"outcome": "means(shrink=-1)"}),
        ("missing-argument", InputError, {"outcome": "given()"}),
        ("missing-file", InputError, {"outcome": "given(nowhere.parquet)"}),
        ("missing-argument", InputError, {"outcome": "crossfit()"}),
        ("out-of-range", InputError, {"outcome": "crossfit(means, folds=1)"}),
        ("not-an-integer", InputError, {"outcome": "logistic_mf(dim=ten)"}),
        ("missing-prediction", InputError, {"outcome": SHORT}),
        ("missing-argument", InputError, {"in_sample": True, "estimators": None}),
        ("conflicting-arguments", InputError, {"in_sample": True, "outcome": GUESS}),
        ("conflicting-arguments", InputError, {"in_sample": True, "outcome": FITTED}),
        ("out-of-range", InputError, {"estimators": ["switch(tau=0.5)"]}),
        ("not-a-number", InputError, {"estimators": ["switch(tau=nan)"]}),
        ("unknown-name", InputError, {"estimators": ["snips(over=everything)"]}),
        ("not-clippable", InputError, {"estimators": ["clipped(direct, at=0.1)"]}),
        ("not-clippable", InputError, {"estimators": ["clipped(switch(tau=5), at=0.2)"]}),
        ("not-clippable", InputError, {"estimators": ["clipped(clipped(switch, at=0.1), quantile=0.2)"]}),
    ],
)
def test_what_means_nothing_is_an_error(code: str, kind: Any, options: dict[str, Any]) -> None:
    """Logs without zeros, models and tables that say nothing, nothing to fit in sample, weights below 1, odd clips."""
    with refuses(code, kind):
        us.evaluate(**SEEN | {"estimators": ["dr"]} | options)


@pytest.mark.parametrize(
    ("estimator", "target"), [*product(["naive", "ips", "dr"], SUMS), ("naive", "per_pair"), ("ips", "per_pair")]
)
def test_graded_outcomes_are_not_counted_as_relevant(estimator: str, target: str) -> None:
    """precision@2 of graded outcomes is no share: refused under every target that has it; cg@2 is none."""
    graded = TEST.with_columns(value=3.0 * pl.col("value"))
    asked: dict[str, Any] = {**SEEN, "estimators": [estimator], "target": target, "outcome": GUESS}
    with refuses("graded-values", RefusedError):
        us.evaluate(**asked | {"test": graded}, metrics=["precision@2"])
    for log, metric in ((TEST, "precision@2"), (graded, "cg@2")):
        assert us.evaluate(**asked | {"test": log}, metrics=[metric]).estimates
