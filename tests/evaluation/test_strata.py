"""Shares of strata, measured or given, and parts that are called alike."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import SEEN, TEST, evaluate, value
from tests.said import refuses
from unskew.core.errors import InputError
from unskew.estimators import Strata, Stratified


def test_training_shares_are_measured_at_the_scale_of_the_test_propensities() -> None:
    """Equal P in training and test: a share s, which scales both, moves no pair into another stratum."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = test.with_columns(item=pl.col("item") + 100)
    options: dict[str, Any] = {"feedback": "conversions", "target": "per_user", "train": seen}
    options["estimators"] = ["stratified(strata=2, mode=renormalised)"]
    plain, scaled = (evaluate(test, propensity=p, **options) for p in ("known(part=test)", "known(share=0.3)"))
    assert [e.value for e in scaled.estimates] == pytest.approx([e.value for e in plain.estimates], rel=1e-12)


def test_training_shares_need_propensities_of_the_training_rows() -> None:
    """Without them the shares of propensity strata cannot be measured, and the message says so."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = SEEN.with_columns(value=pl.lit(1.0))
    with refuses("no-propensity"):
        evaluate(test, train=seen, feedback="conversions", target="per_user", estimators=["stratified(strata=2)"])


def test_given_shares_cover_the_strata() -> None:
    """A share for every stratum that occurs, all together 1; strata without rows may have shares."""
    by_place = Strata("column", 0, "place")
    more = {"home": 0.5, "search": 0.3, "mail": 0.2}
    result = evaluate(estimators=[Stratified(by_place, more, "eq3")], target="per_user")
    assert value(result, estimator=str(Stratified(by_place, more, "eq3"))) == pytest.approx(
        (0.25 + 0.8 + 0.0 + 0.0) / 4
    )
    with refuses("missing-stratum"):
        evaluate(estimators=[Stratified(by_place, {"home": 1.0})], target="per_user")
    with refuses("out-of-range"):
        evaluate(estimators=[Stratified(by_place, {"home": 0.6, "search": 0.6})], target="per_user")


def test_two_parts_that_differ_never_share_a_name() -> None:
    """Two tables of shares print alike, and a result could not tell them apart: an error, not one of the two."""
    by_place = Strata("column", 0, "place")
    both = [Stratified(by_place, {"home": share, "search": 1.0 - share}) for share in (0.2, 0.8)]
    with pytest.raises(InputError, match="stratified"):
        evaluate(estimators=both, target="per_user")
    assert len(evaluate(estimators=[both[0], both[0]], target="per_user").estimates) == 2


def test_the_same_part_twice_is_one() -> None:
    """gs and gs(strata=5) are one estimator, rbp and rbp(p=0.8) one metric."""
    result = evaluate(estimators=["gs", "gs(strata=5)"], metrics=["rbp@2", "rbp(p=0.8)@2"])
    assert len(result.estimates) == 2


def test_edges_are_taken_over_held_out_pairs() -> None:
    """Popular items hold nearly all pairs: over the catalogue they would share one stratum, where gs is naive.

    Two items of twelve carry 36 of 40 clicks. Quarters of the pairs part these two, so that P is equal inside each
    stratum and gs is snips (MATHS §10.1); quarters of the catalogue would put both into one, and gs would be naive.
    """
    counts = {1: 90, 2: 30} | dict.fromkeys(range(3, 13), 1)
    seen = pl.DataFrame(
        [(1000 + n, item) for item, times in counts.items() for n in range(times)], ["user", "item"], orient="row"
    )
    test = pl.DataFrame({"user": [*range(18), *range(18), 1, 2, 3, 4], "item": [1] * 18 + [2] * 18 + [3, 4, 5, 6]})
    lists = pl.DataFrame({"user": range(18), "item": 2, "rank": 1})
    asked: dict[str, Any] = {
        "metrics": ["recall@1"], "target": "pooled", "train": seen, "candidates": "all", "share": "users"
    }  # fmt: skip
    naive, snips, gs = us.evaluate(
        test, {"m": lists}, estimators=["naive", "snips", "gs(strata=4)"], propensity="popularity(gamma=1)", **asked
    ).estimates
    assert snips.value == pytest.approx(18 * 3 / (18 * 1 + 18 * 3 + 4 * 90))
    assert gs.value == pytest.approx(snips.value, rel=1e-12) and naive.value == pytest.approx(18 / 40)


def test_strata_without_a_click_are_not_lost() -> None:
    """By default the shares of a user's own strata are scaled to 1; eq3, as printed, loses the others.

    Two strata with shares 0.5 and 0.5; each user has one click, in one of them, and it is a hit for everybody: the
    recall is 1, of which eq3 keeps a half.
    """
    test = pl.DataFrame({"user": [1, 2], "item": [10, 20], "place": ["home", "search"]})
    lists = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 20], "rank": 1})}
    shares = {"home": 0.5, "search": 0.5}
    by_place = Strata("column", 0, "place")
    asked: dict[str, Any] = {"metrics": ["recall@1"], "target": "per_user"}
    default, printed = us.evaluate(
        test, lists, estimators=[Stratified(by_place, shares), Stratified(by_place, shares, "eq3")], **asked
    ).estimates
    assert (default.value, printed.value) == (1.0, 0.5)
