"""What is computed where nothing is asked for: target, estimators, the log's own propensities, and the headline."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS, SEEN, TEST, said

BARE = TEST.drop("propensity")


def evaluate(test: pl.DataFrame, **options: Any) -> us.Result:
    return us.evaluate(test, LISTS, **({"metrics": ["recall@2"]} | options))


def cells(result: us.Result) -> list[tuple[str, str, str | None]]:
    return list(dict.fromkeys((e.estimator, str(e.target), e.propensity) for e in result.estimates))


def test_a_column_of_propensities_is_used_and_said_so() -> None:
    """naive and snips, pooled, by the log's own column; a warning names it and the way out."""
    result = evaluate(TEST)
    assert cells(result) == [("naive", "pooled", None), ("snips", "pooled", "known")]
    (told,) = said(result, "used")
    assert "propensity='known'" in told and "estimators=['naive']" in told
    assert result.headline()["debiased"] and result.headline()["estimator"] == "snips"
    asked = evaluate(TEST, propensity="known")
    assert asked.estimates == result.estimates and not said(asked, "used")


@pytest.mark.parametrize("test", [BARE, TEST], ids=["no column", "naive asked for"])
def test_without_propensities_the_headline_says_not_debiased(test: pl.DataFrame) -> None:
    """Nothing to weigh by, or nothing wanted: naive, and no word of a column that was not used."""
    result = evaluate(test, **({} if test is BARE else {"estimators": ["naive"]}))
    assert cells(result) == [("naive", "pooled", None)] and not bool(said(result, "used"))
    assert result.headline()["title"].startswith("Not debiased: ") and "Not debiased" in repr(result)


def test_another_propensity_leaves_the_column_alone() -> None:
    """What was asked for counts."""
    result = evaluate(TEST, propensity="popularity(gamma=1)", train=SEEN, candidates="all")
    assert cells(result) == [("naive", "pooled", None), ("snips", "pooled", "popularity(gamma=1)")]
    assert not bool(said(result, "used"))


def test_metrics_inside_users_stay_per_user_and_make_no_headline() -> None:
    """ndcg and map exist inside each user only: marked as no promise, and recall speaks although it comes last."""
    result = evaluate(TEST, metrics=["ndcg@2", "map@2", "recall@2"])
    assert {e.metric: str(e.target) for e in result.estimates} == {
        "ndcg@2": "per_user",
        "map@2": "per_user",
        "recall@2": "pooled",
    }
    promises = {e.metric: e.promise for e in result.estimates if e.estimator == "snips"}
    assert promises["ndcg@2"].replace("ndcg", "map") == promises["map@2"] != promises["recall@2"]
    found = result.headline()
    assert (found["metric"], found["target"], found["estimator"]) == ("recall@2", "pooled", "snips")
