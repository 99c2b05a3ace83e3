"""A column of ranks that is not the place in the list is not taken in silence."""

from __future__ import annotations

import polars as pl
import pytest

from tests.evaluation.shop import LISTS, evaluate
from unskew.errors import InputError

GAPS = LISTS["a"].with_columns(rank=pl.col("rank") * 10)


def test_gaps_in_ranks_are_reported() -> None:
    """The warning counts the lists and shows the first; JSON has the count."""
    found = evaluate(models={"a": GAPS, "b": LISTS["b"]})
    (said,) = [text for text in found.warnings if "gaps in their ranks" in text]
    assert said.startswith("a: 3 of 3 lists have gaps in their ranks (the first: user 1: 10, 20): is the column")
    assert found.inputs["models"]["a"]["lists_with_gaps_in_ranks"] == 3
    assert not [text for text in evaluate().warnings if "gaps in their ranks" in text]


def test_scores_that_contradict_ranks_are_refused() -> None:
    """Unless somebody says which of both counts; scores that agree are no matter."""
    scored = LISTS["a"].with_columns(score=pl.col("rank") * 1.0)
    with pytest.raises(InputError, match=r"'rank' and 'score' contradict each other: in 2 of 2 lists") as caught:
        evaluate(models={"a": scored, "b": LISTS["b"]})
    assert "columns={'a:rank': 'rank'}" in str(caught.value)
    for said in ("rank", ""):
        assert evaluate(models={"a": scored, "b": LISTS["b"]}, columns={"a:rank": said}).estimates
    assert evaluate(models={"a": scored.with_columns(score=-pl.col("score")), "b": LISTS["b"]}).estimates
