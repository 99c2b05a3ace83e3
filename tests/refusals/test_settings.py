"""Refused cells, thresholds and options as evaluate tells them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import LISTS
from unskew.errors import InputError, RefusedError

TEST = pl.DataFrame({"user": [1, 2], "item": [10, 20]})


def test_a_refused_cell_is_an_error_by_default() -> None:
    """Without refused="skip" nothing is computed, and the message tells of it where other cells are possible."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["recall@5"], estimators=["naive", "snips"])
    message = str(caught.value)
    assert "recall@5 × snips × pooled" in message and "refused='skip'" in message
    assert "naive × per_user:" not in message


def test_nothing_left_is_an_error_even_when_skipping() -> None:
    """A result without a single cell would say nothing."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["mrr@5"], estimators=["snips"], refused="skip")
    assert "recall@5" in str(caught.value) and "refused='skip'" not in str(caught.value)


def test_unknown_propensities_are_never_uniform() -> None:
    """A log without propensities gets naive alone, and snips is refused; a column of its own is used, and says so."""
    assert [e.estimator for e in us.evaluate(TEST, LISTS).estimates] == ["naive"]
    with pytest.raises(RefusedError, match="never taken as uniform"):
        us.evaluate(TEST, LISTS, estimators=["snips"])
    with_column = TEST.with_columns(propensity=pl.Series([0.5, 0.1]))
    used = us.evaluate(with_column, LISTS)
    assert [(e.estimator, e.propensity) for e in used.estimates] == [("naive", None), ("snips", "known")]
    assert any("propensity='known'" in warning for warning in used.warnings)
    assert [e.estimator for e in us.evaluate(with_column, LISTS, estimators=["naive"]).estimates] == ["naive"]
    asked = us.evaluate(with_column, LISTS, estimators=["snips"], propensity="uniform")
    assert asked.estimates[0].propensity == "uniform"
    with pytest.raises(RefusedError, match="absolute"):
        us.evaluate(with_column, LISTS, estimators=["ips"], propensity="uniform", target="per_user_sum")


def test_popularity_without_a_training_log_says_why() -> None:
    """Counting on the test log would weigh each click by itself."""
    with pytest.raises(InputError) as caught:
        us.evaluate(TEST, LISTS, propensity="popularity(gamma=2)")
    assert "never on the test log" in str(caught.value) and "train=" in str(caught.value)


def test_values_that_nothing_explains_are_an_error() -> None:
    """A column of values may be conversions, ratings or noise; the message offers all of them."""
    valued = TEST.with_columns(value=pl.Series([1.0, 0.0]))
    with pytest.raises(InputError) as caught:
        us.evaluate(valued, LISTS)
    message = str(caught.value)
    assert all(word in message for word in ("'value'", "conversions", "ratings", "implicit", "relevant="))
    assert us.evaluate(valued, LISTS, relevant=">=1").inputs["settings"]["feedback"] == "ratings"
    assert us.evaluate(valued, LISTS, feedback="implicit").estimates[0].interactions == 2
    with pytest.raises(InputError, match="value"):
        us.evaluate(TEST, LISTS, train=valued.with_columns(item=pl.Series([30, 40])))


@pytest.mark.parametrize("threshold", ["4", ">=", "=4", ">=four", ">4 or so"])
def test_a_threshold_that_cannot_be_read_is_an_error(threshold: str) -> None:
    """Thresholds are a comparison and a number."""
    with pytest.raises(InputError, match="'>=4'"):
        us.evaluate(TEST.with_columns(value=pl.Series([1.0, 0.0])), LISTS, relevant=threshold)


def test_implicit_rows_have_no_threshold() -> None:
    """A threshold over rows without values is a misunderstanding that is said."""
    with pytest.raises(InputError, match="no values"):
        us.evaluate(TEST, LISTS, relevant=">=4")


@pytest.mark.parametrize(
    ("feedback", "target"), [("implicit", "pooled"), ("conversions", "per_user_sum"), ("ratings", "per_pair")]
)
def test_the_default_target_follows_the_feedback(feedback: str, target: str) -> None:
    """What people usually mean: shares of relevant items for clicks, gains per user, averages over all pairs."""
    valued = TEST.with_columns(value=pl.Series([1.0, 0.0]))
    result = us.evaluate(valued, LISTS, feedback=feedback, metrics=["dcg@10"])
    assert {str(e.target) for e in result.estimates} == {target}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.0}, "level"),
        ({"interval": "exact"}, "normal or bootstrap"),
        ({"interval": "bootstrap", "replicates": 10}, "at least 50"),
        ({"candidates": "unseen"}, "train=…"),
        ({"candidates": "some"}, "unseen or all"),
        ({"refused": "hide"}, "error or skip"),
        ({"target": "per_pear"}, "per_user_sum"),
        ({"by": "country"}, "country"),
        ({"metrics": []}, "metric"),
        ({"columns": {"usr": "user"}}, "usr"),
    ],
)
def test_impossible_settings_are_errors(options: dict[str, Any], words: str) -> None:
    """Wrong settings are named, never replaced by a default."""
    with pytest.raises(InputError, match=words):
        us.evaluate(TEST, LISTS, **options)


def test_no_model_is_an_error() -> None:
    """There must be something to evaluate."""
    with pytest.raises(InputError, match="at least one model"):
        us.evaluate(TEST, {})
