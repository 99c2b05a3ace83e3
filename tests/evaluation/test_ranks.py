"""A column of ranks that is not the place in the list is not taken in silence."""

from __future__ import annotations

import polars as pl

from tests.evaluation.shop import LISTS, evaluate, said
from tests.said import refuses

GAPS = LISTS["a"].with_columns(rank=pl.col("rank") * 10)


def test_gaps_in_ranks_are_reported() -> None:
    """The warning counts the lists and shows the first; JSON has the count."""
    found = evaluate(models={"a": GAPS, "b": LISTS["b"]})
    (told,) = (text for text in said(found, "lists-of-models") if "10, 20" in text)
    assert told.startswith("a: 3 of 3 ")
    assert found.inputs["models"]["a"]["lists_with_gaps_in_ranks"] == 3
    assert not [text for text in said(evaluate(), "lists-of-models") if "1, 2" in text]


def test_scores_that_contradict_ranks_are_refused() -> None:
    """Unless somebody says which of both counts; scores that agree are no matter."""
    scored = LISTS["a"].with_columns(score=pl.col("rank") * 1.0)
    with refuses("contradicting-columns") as caught:
        evaluate(models={"a": scored, "b": LISTS["b"]})
    assert "columns={'a:rank': 'rank'}" in str(caught.value)
    for meant in ("rank", ""):
        assert evaluate(models={"a": scored, "b": LISTS["b"]}, columns={"a:rank": meant}).estimates
    assert evaluate(models={"a": scored.with_columns(score=-pl.col("score")), "b": LISTS["b"]}).estimates
