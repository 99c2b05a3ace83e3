"""Refused cells, thresholds and options as evaluate tells them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.refusals.known import LISTS
from tests.said import refusal
from unskew.core.errors import InputError, RefusedError

TEST = pl.DataFrame({"user": [1, 2], "item": [10, 20]})
VALUED = TEST.with_columns(value=pl.Series([1.0, 0.0]))


def test_a_refused_cell_is_an_error_by_default() -> None:
    """Nothing is computed, and the message names the cell and how to skip it; skipping all cells is an error, too."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["recall@5"], estimators=["naive", "snips"])
    assert "recall@5 × snips × pooled" in str(caught.value) and "refused='skip'" in str(caught.value)
    assert "recall@5 × naive" not in str(caught.value)
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["mrr@5"], estimators=["snips"], refused="skip")
    assert "mrr@5 × snips" in str(caught.value) and "refused='skip'" not in str(caught.value)


@pytest.mark.parametrize(
    ("test", "options", "code"),
    [
        (TEST, {"models": {}}, "missing-models"),
        (TEST, {"propensity": "popularity(gamma=2)"}, "no-training-log"),  # never counted on the test log
        (TEST, {"train": VALUED.with_columns(item=pl.Series([30, 40]))}, "missing-argument"),
        (TEST, {"relevant": ">=4"}, "conflicting-arguments"),
        *((VALUED, {"relevant": text}, "bad-string") for text in ("4", ">=", "=4", ">=four", ">4 or so")),
        (TEST, {"level": 1.0}, "out-of-range"),
        (TEST, {"interval": "exact"}, "unknown-name"),
        (TEST, {"interval": "bootstrap", "replicates": 10}, "out-of-range"),
        (TEST, {"candidates": "unseen"}, "no-training-log"),
        (TEST, {"candidates": "some"}, "unknown-name"),
        (TEST, {"refused": "hide"}, "unknown-name"),
        (TEST, {"target": "per_pear"}, "unknown-name"),
        (TEST, {"by": "country"}, "missing-column"),
        (TEST, {"metrics": []}, "missing-metric"),
        (TEST, {"columns": {"usr": "user"}}, "unknown-column"),
    ],
)
def test_impossible_settings_are_errors(test: pl.DataFrame, options: dict[str, Any], code: str) -> None:
    """Wrong settings are named, never replaced by a default."""
    problem = refusal(us.evaluate, test, **({"models": LISTS} | options))
    assert isinstance(problem, InputError) and problem.code == code
