"""What may be estimated from what, cell by cell; every no comes with a reason and a way out."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import ESTIMATORS, GIVEN, LOGS, TARGETS, Known, made, reason_for
from unskew import estimators, metrics
from unskew.estimators import Strata, Stratified, Target
from unskew.estimators.validity import refusal


def allowed(estimator: str, target: str, log: Known) -> bool:
    """The table of docs/estimators.md, row by row."""
    inside = estimator.removeprefix("clipped(").split(",")[0].split("(")[0]
    if estimator == GIVEN:
        inside = "stratified"
    if target != "per_user_sum" and log.feedback == "ratings" and not log.threshold:
        return False  # nothing says which ratings are relevant
    if inside == "naive":
        return True
    if log.level is None:
        return False  # all strata here are made of propensities
    if "at=" in estimator and log.level == "relative":
        return False
    if inside == "ips":
        return log.level == "absolute" and (target == "per_user_sum" or log.n_u)
    if inside == "snips":
        return target != "per_user_sum" or log.feedback != "implicit"
    if inside == "gs":
        return target != "per_user_sum"
    assert inside == "stratified"
    return target == "per_user" and (estimator == GIVEN or log.feedback != "implicit")


@pytest.mark.parametrize("log", LOGS, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_every_cell_of_the_table(target: str, log: Known) -> None:
    """Allowed is what the table allows, and nothing else; each refusal has a reason and an alternative."""
    for estimator in ESTIMATORS:
        reason = refusal(metrics.make("recall@5"), made(estimator), Target.make(target), log.evidence)
        assert (reason is None) == allowed(estimator, target, log), (estimator, reason)
        if reason is not None:
            assert any(way in reason for way in (" Use ", " Give ")) and reason.endswith("."), reason


def test_the_table_holds_both_answers() -> None:
    """The table is neither all yes nor all no, for every estimator but naive."""
    for estimator in ESTIMATORS[1:]:
        answers = {allowed(estimator, target, log) for target, log in product(TARGETS, LOGS)}
        assert answers == {True, False}, estimator


def frames(log: Known) -> dict[str, Any]:
    """The smallest inputs that offer just this."""
    test = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 30, 10]})
    train = pl.DataFrame({"user": [1, 2, 3, 3], "item": [30, 20, 10, 20]})
    settings: dict[str, Any] = {"train": train, "feedback": log.feedback, "refused": "skip"}
    if log.feedback != "implicit":
        bad = 0.0 if log.feedback == "conversions" else 1.0  # conversions know of pairs that brought nothing
        test = test.with_columns(value=pl.Series([5.0, bad, 4.0, 2.0]))
        settings["train"] = train.with_columns(value=pl.Series([5.0, 1.0, 4.0, 4.0]))
    if log.threshold:
        settings["relevant"] = ">=4"
    if log.level == "absolute":
        test = test.with_columns(propensity=pl.Series([0.5, 0.2, 0.7, 0.9]))
        settings["train"] = settings["train"].with_columns(propensity=pl.Series([0.5, 0.6, 0.2, 0.9]))
        settings["propensity"] = "known(part=test)"
    elif log.level == "relative":
        settings["propensity"] = "popularity(gamma=2)"
    if log.n_u:
        settings["users"] = pl.DataFrame({"user": [1, 2, 3], "relevant": [9.0, 9.0, 1.0]})
    return {"test": test, **settings}


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_evaluate_computes_the_allowed_cells_and_lists_the_others(log: Known, tmp_path: Path) -> None:
    """refused="skip" leaves refused cells out, lists them with their reasons, and warns."""
    shares = tmp_path / "shares.csv"
    shares.write_text("stratum,share\n1,0.5\n2,0.5\n")
    asked = [Stratified(Strata(count=2), str(shares)) if e == GIVEN else e for e in ESTIMATORS]
    names = {str(estimators.make(a)): e for a, e in zip(asked, ESTIMATORS, strict=True)}
    lists = pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 2]})
    given = frames(log)
    result = us.evaluate(
        given.pop("test"), {"m": lists}, metrics=["recall@5"], estimators=asked, target=TARGETS, **given
    )
    computed = {(names[e.estimator], str(e.target)) for e in result.estimates}
    refused = {(names[r["estimator"]], str(r["target"])) for r in result.inputs["refused"]}
    expected = {(e, t) for e, t in product(ESTIMATORS, TARGETS) if allowed(e, t, log)}
    assert computed == expected
    assert refused == set(product(ESTIMATORS, TARGETS)) - expected
    assert all(r["reason"] and r["metric"] == "recall@5" for r in result.inputs["refused"])
    assert any(f"{len(refused)} cells are not shown" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("estimator", "target", "known", "words"),
    [
        ("snips", "per_user", {"level": None}, ["never taken as uniform", "propensity='known'", "popularity(gamma=1)"]),
        ("ips", "per_user", {"n_u": False}, ["number of relevant items", "'relevant'", "snips"]),
        ("ips", "pooled", {"n_u": False}, ["number of relevant items", "'relevant'", "snips"]),
        ("ips", "per_user", {"level": "relative"}, ["absolute", "relative", "snips", "known"]),
        ("ips", "per_user_sum", {"level": "relative"}, ["absolute", "snips under target pooled"]),
        ("ips", "per_user_sum", {"level": "relative", "feedback": "conversions"}, ["absolute", "use snips,"]),
        ("snips", "per_user_sum", {}, ["all seen pairs", "far too large", "ips", "pooled"]),
        ("clipped(snips, quantile=0.1)", "per_user_sum", {}, ["all seen pairs", "ips", "pooled"]),
        ("gs(strata=2)", "per_user_sum", {}, ["defined for per_user or pooled", "ips"]),
        ("stratified(strata=2)", "per_user", {}, ["keep its skew", "shares=FILE", "ips"]),
        (GIVEN, "pooled", {}, ["defined for per_user", "ips"]),
        (GIVEN, "per_user_sum", {}, ["defined for per_user", "ips"]),
        ("clipped(snips, at=0.1)", "per_user", {"level": "relative"}, ["means nothing", "clipped(snips, quantile="]),
        ("naive", "per_user", {"feedback": "ratings"}, ["which are relevant", "relevant='>=4'"]),
        ("naive", "pooled", {"feedback": "ratings"}, ["which are relevant", "relevant='>=4'"]),
    ],
)
def test_refusals_name_the_reason_and_the_alternative(
    estimator: str, target: str, known: dict[str, Any], words: list[str]
) -> None:
    """Key words of each sentence: what is missing, and what to use or give instead."""
    reason = reason_for(estimator, target, **known)
    assert all(word in reason for word in words), reason
