"""Shares of strata, measured or given, and parts that are called alike."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.evaluation.shop import SEEN, TEST, evaluate, value
from unskew.errors import InputError
from unskew.estimators import Strata, Stratified


def test_training_shares_are_measured_at_the_scale_of_the_test_propensities() -> None:
    """Equal P in training and test: a share s, which scales both, moves no pair into another stratum."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = test.with_columns(item=pl.col("item") + 100)
    options: dict[str, Any] = {"feedback": "conversions", "target": "per_user", "seen": seen}
    options["estimators"] = ["stratified(strata=2, mode=renormalised)"]
    plain, scaled = (evaluate(test, propensity=p, **options) for p in ("known", "known(share=0.3)"))
    assert [e.value for e in scaled.estimates] == pytest.approx([e.value for e in plain.estimates], rel=1e-12)


def test_training_shares_need_propensities_of_the_training_rows() -> None:
    """Without them the shares of propensity strata cannot be measured, and the message says so."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = SEEN.with_columns(value=pl.lit(1.0))
    with pytest.raises(InputError, match="training"):
        evaluate(test, seen=seen, feedback="conversions", target="per_user", estimators=["stratified(strata=2)"])


def test_given_shares_cover_the_strata() -> None:
    """A share for every stratum that occurs, all together 1; strata without rows may have shares."""
    by_place = Strata("column", 0, "place")
    more = {"home": 0.5, "search": 0.3, "mail": 0.2}
    result = evaluate(estimators=[Stratified(by_place, more)], target="per_user")
    assert value(result, estimator=str(Stratified(by_place, more))) == pytest.approx((0.25 + 0.8 + 0.0 + 0.0) / 4)
    with pytest.raises(InputError, match="'search'"):
        evaluate(estimators=[Stratified(by_place, {"home": 1.0})], target="per_user")
    with pytest.raises(InputError, match="sum to"):
        evaluate(estimators=[Stratified(by_place, {"home": 0.6, "search": 0.6})], target="per_user")


def test_two_parts_that_differ_never_share_a_name() -> None:
    """Two tables of shares print alike, and a result could not tell them apart: an error, not one of the two."""
    by_place = Strata("column", 0, "place")
    both = [Stratified(by_place, {"home": share, "search": 1.0 - share}) for share in (0.2, 0.8)]
    with pytest.raises(InputError, match="two different parts"):
        evaluate(estimators=both, target="per_user")
    assert len(evaluate(estimators=[both[0], both[0]], target="per_user").estimates) == 2


def test_the_same_part_twice_is_one() -> None:
    """gs and gs(strata=5) are one estimator, rbp and rbp(p=0.8) one metric."""
    result = evaluate(estimators=["gs", "gs(strata=5)"], metrics=["rbp@2", "rbp(p=0.8)@2"])
    assert len(result.estimates) == 2
