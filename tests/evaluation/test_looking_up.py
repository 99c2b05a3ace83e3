"""Verdicts of equal models, and results by short names."""

from __future__ import annotations

import math

import polars as pl
import pytest

from tests.evaluation.shop import LISTS, evaluate, many
from unskew.core.errors import InputError
from unskew.core.notice import codes


def test_models_that_score_the_same_for_every_user_are_undecided() -> None:
    """Equal for every user: p = 1, no tipping point, no number of users that would help."""
    same = {"a": LISTS["a"], "again": LISTS["a"], "b": LISTS["b"]}
    for options in ({}, {"interval": "bootstrap", "replicates": 60}):
        result = evaluate(models=same, target=["per_user", "pooled"], **options)
        rows = [v for v in result.verdicts_ if (v.a, v.b) == ("a", "again")]
        assert len(rows) == 4
        for v in rows:
            assert (v.verdict, v.p, v.p_adjusted, v.difference, v.users_apart) == ("undecided", 1.0, 1.0, 0.0, 0)
            assert math.isnan(v.se) and v.low == v.high == 0.0
            assert v.tipping is None and v.users_needed is None
            assert codes([v.trust]) == ("same-lists",)


def test_equal_scores_of_different_lists_are_undecided_too() -> None:
    """What is compared is what a list scores, not how it looks: misses in another order do not matter."""
    swapped = LISTS["a"].with_columns(item=pl.col("item").replace(50, 99))
    result = evaluate(models={"a": LISTS["a"], "misses": swapped})
    assert {(v.verdict, v.p) for v in result.verdicts_} == {("undecided", 1.0)}


def test_verdicts_are_found_by_short_names() -> None:
    """A name without options finds the only one of its kind."""
    result = evaluate(estimators=["naive", "gs(strata=2)"], target=["per_user", "pooled"])
    assert result.verdicts("recall@2", estimator="gs").height == 2
    assert set(result.verdicts("recall", estimator="gs")["estimator"]) == {"gs(strata=2)"}
    assert result.verdicts(estimator="gs(2)", target="pooled").height == 1
    assert result.verdicts().height == 4


def test_ambiguous_or_unknown_names_list_the_choice() -> None:
    """Two of a kind, another number, another target: the message says what there is."""
    result = many()
    with pytest.raises(InputError, match=r"gs\(strata=2\), gs\(strata=3\)"):
        result.verdicts("dcg@2", estimator="gs")
    with pytest.raises(InputError, match="recall@1, recall@2"):
        result.verdicts("recall")
    with pytest.raises(InputError, match="recall@1"):
        result.verdicts("recall@7")
    with pytest.raises(InputError, match=r"gs\(strata=2\)"):
        result.verdicts(estimator="gs(strata=9)")
    with pytest.raises(InputError, match="no target"):
        result.verdicts(target="per_pear")
    assert result.verdicts("dcg", estimator="clipped").height == 2
