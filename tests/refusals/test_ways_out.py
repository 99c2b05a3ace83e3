"""Refusals lead somewhere: whatever a refusal names is accepted when it is followed, for every cell and log."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import GIVEN, made
from unskew import estimators, metrics
from unskew.estimators import Target
from unskew.estimators.validity import Evidence, refusal, refused_cell
from unskew.log import Feedback
from unskew.outcome import Given

METRICS = (
    "recall@5", "dcg@5", "precision@5", "cg@5", "ndcg@5", "ndcg(ideal=full)@5", "map(divide=min)@5", "mrr", "mae",
)  # fmt: skip
ESTIMATORS = (
    "naive", "ips", "snips", "snips(over=list)", "snips(over=user)", "gs(strata=2)", "stratified(strata=2)", GIVEN,
    "clipped(snips, at=0.1)", "clipped(ips, quantile=0.1)", "clipped(dr, at=0.1)", "direct", "dr", "sndr",
    "switch(tau=4)", "tilted",
)  # fmt: skip
LEVELS: tuple[dict[str, bool], ...] = (
    {},
    {"propensity": True},
    {"propensity": True, "unshared": True},
    {"propensity": True, "absolute": True},
)
OUTCOMES: tuple[dict[str, bool], ...] = ({}, {"outcome": True}, {"outcome": True, "outside": True})
CELLS = 150  # per feedback and estimator, spread over all there are
MODELS: tuple[dict[str, str], ...] = (
    {"unpredicted": "", "unranked": ""},
    {},
    {"unpredicted": "", "unranked": "m has no ranks"},
)


def logs(feedback: Feedback) -> list[Evidence]:
    """Everything that may be known of a log with this feedback."""
    return [
        Evidence(feedback, thresholded=threshold, relevant=n_u, zeros=zeros, unlisted=unlisted, users=9, **known)
        for threshold, n_u, zeros, unlisted, level, outcome, models in product(
            (False, True) if feedback is not Feedback.IMPLICIT else (False,), (False, True),
            (False, True) if feedback is Feedback.CONVERSIONS else (True,), ("", "m lacks some"), LEVELS, OUTCOMES,
            MODELS,
        )
        for known in [cast("dict[str, Any]", level | outcome | models)]
    ]  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("feedback", list(Feedback))
def test_every_way_out_is_accepted(feedback: Feedback, estimator: str) -> None:
    """Other cells are not refused in their turn, and what to give makes the cell acceptable; there always is a way."""
    asked = made(estimator)
    every = list(product(METRICS, Target, logs(feedback)))
    walked = 0
    for metric, target, evidence in every[:: len(every) // CELLS | 1]:
        found = refused_cell(metrics.make(metric), asked, target, evidence)
        if found is None:
            continue
        assert found.instead, (metric, target, evidence)
        for way in found.instead:
            richer = evidence
            for addition in way.additions:
                assert addition.lacking(richer), (metric, target, evidence, addition.name)
                richer = addition.added_to(richer)
            assert refusal(way.metric, way.estimator, way.target, richer) is None, (metric, target, evidence, way)
            walked += 1
    assert walked > 50


def test_naive_is_named_last() -> None:
    """Whoever asks for a debiased estimate is offered naive only where nothing else is left."""
    bare = Evidence(Feedback.IMPLICIT)
    for evidence, left in ((bare, "naive"), (replace(bare, propensity=True), "snips")):
        found = refused_cell(metrics.make("recall@5"), made("dr"), Target.PER_USER_SUM, evidence)
        assert found is not None and left in [str(way.estimator) for way in found.instead]
        assert left == "naive" or "naive" not in [str(way.estimator) for way in found.instead]


TEST = pl.DataFrame(
    {"user": [1, 1, 2, 2, 3], "item": [10, 20, 30, 10, 20], "value": [5.0, 0.0, 4.0, 0.0, 4.0], "weight": 0.5}
)
TRAIN = pl.DataFrame(
    {"user": [1, 2, 3, 3], "item": [30, 20, 10, 30], "value": [5.0, 0.0, 4.0, 4.0], "weight": [0.5, 0.4, 0.6, 0.7]}
)
LISTS = {"m": pl.DataFrame({"user": [1, 2, 3], "item": [10, 10, 20], "rank": [1, 2, 1]})}
GUESS = Given(pl.DataFrame({"user": [1], "item": [10], "prediction": [0.5]}), default=0.1)
ASKED = (
    "naive", "ips", "snips", "gs(strata=2)", "stratified(strata=2)", "clipped(snips, at=0.1)", "dr", "sndr", "direct",
)  # fmt: skip


def offered(feedback: str, level: str, zeros: bool) -> dict[str, Any]:
    """Small inputs with this feedback and these propensities."""
    test, train = TEST, TRAIN
    if feedback == "implicit":
        test, train = test.filter(pl.col("value") > 0.0).drop("value"), train.drop("value")
    elif not zeros:
        test = test.filter(pl.col("value") > 0.0)
    given: dict[str, Any] = {"test": test, "models": LISTS, "train": train, "feedback": feedback}
    if level == "known":
        given = weighed(given)
    elif level != "none":
        given["propensity"] = level
    return given


def weighed(given: dict[str, Any]) -> dict[str, Any]:
    """With a column of propensities in both logs."""
    columns = {name: given[name].rename({"weight": "propensity"}) for name in ("test", "train")}
    return given | columns | {"propensity": "known(part=test)"}


def follow(given: dict[str, Any], way: dict[str, Any], shares: Path) -> us.Result:
    """Do what a refusal says: the other cell, and what it asks for."""
    given = dict(given)
    for addition in way["give"]:
        if addition in ("propensity=known", "absolute=known"):
            given = weighed(given)
        elif addition == "propensity=popularity(gamma=1)":
            given["propensity"] = "popularity(gamma=1)"
        elif addition == "outcome=fitted":
            given["outcome"] = "means(shrink=10)"
        elif addition == "outcome=given":
            given["outcome"] = GUESS
        elif addition == "relevant":
            given["relevant"] = ">=4"
        elif addition == "users.relevant":
            given["users"] = pl.DataFrame({"user": [1, 2, 3], "relevant": [9.0, 9.0, 9.0]})
        elif addition == "zeros":
            given["test"] = given["test"].vstack(
                TEST.filter(pl.col("value") == 0.0).rename({"weight": given["test"].columns[-1]})
            )
        else:
            raise AssertionError(addition)
    estimator = estimators.make(way["estimator"].replace("FILE", str(shares)))
    cell: dict[str, Any] = {"metrics": [way["metric"]], "estimators": [estimator], "target": way["target"]}
    return us.evaluate(given.pop("test"), given.pop("models"), **given, **cell)


@pytest.mark.parametrize("level", ["none", "popularity(gamma=1)", "known"])
@pytest.mark.parametrize(("feedback", "zeros"), [("implicit", True), ("conversions", True), ("conversions", False)])
def test_following_a_refusal_gives_a_number(feedback: str, zeros: bool, level: str, tmp_path: Path) -> None:
    """The whole way through evaluate: every alternative of every refused cell is computed, none is refused again."""
    shares = tmp_path / "shares.csv"
    shares.write_text("stratum,share\n1,0.5\n2,0.5\n")
    given = offered(feedback, level, zeros)
    inputs = {name: value for name, value in given.items() if name not in ("test", "models")}
    every = us.evaluate(
        given["test"], LISTS, metrics=["recall@5", "precision@5", "mrr@5"], estimators=ASKED, refused="skip",
        target=["per_user", "pooled", "per_user_sum", "per_pair"], **inputs,
    )  # fmt: skip
    ways = {str(way): way for cell in every.inputs["refused"] for way in cell["instead"]}
    assert len(ways) > 5
    for way in ways.values():
        result = follow(given, way, shares)
        assert {(e.metric, str(e.target)) for e in result.estimates} == {(way["metric"], way["target"])}
