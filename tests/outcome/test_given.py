"""Predictions from outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unskew import outcome
from unskew.errors import InputError
from unskew.log import Log
from unskew.outcome import Given, crossfit

FRAME = pl.DataFrame({"user": [2, 1, 1], "item": ["b", "a", "b"], "prediction": [0.25, 0.5, 0.75]})
PAIRS = Log.from_frame(
    pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "b"], "value": [1, 0, 1]}), feedback="conversions"
)


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), FRAME.lazy()], ids=["polars", "pandas", "lazy"])
def test_pairs_are_looked_up(frame: pl.DataFrame | pd.DataFrame | pl.LazyFrame) -> None:
    """Whatever the order and the type of the ids."""
    found = Given(frame)
    np.testing.assert_array_equal(found.of(PAIRS), [0.5, 0.75, 0.25])
    np.testing.assert_array_equal(found.predict(["2", "1"], ["b", "a"]), [0.25, 0.5])
    np.testing.assert_array_equal(Given(frame, default=0.0).totals(PAIRS.users, PAIRS.items), [1.25, 0.25])
    assert found.fitted and found.fit(PAIRS) is found and crossfit(found, PAIRS) is found


def test_files_and_strings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``given(file)`` reads CSV and Parquet, and prints back."""
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("q.csv")
    FRAME.write_parquet("q.parquet")
    for text in ("given(q.csv)", "given(q.parquet, default=0.1)"):
        found = outcome.make(text)
        assert str(found) == text
        np.testing.assert_array_equal(found.of(PAIRS), [0.5, 0.75, 0.25])


def test_missing_pairs_are_an_error_with_their_number_or_get_the_default() -> None:
    """Known user and item without a row, unknown user, unknown item."""
    with pytest.raises(InputError, match=r"no prediction for 3 of 4 pairs; the first is user '1', item 'z'"):
        Given(FRAME).predict([2, 9, 1, 1], ["a", "a", "z", "b"])
    np.testing.assert_array_equal(
        Given(FRAME, default=0.125).predict([2, 9, 1, 1], ["a", "a", "z", "b"]), [0.125, 0.125, 0.125, 0.75]
    )


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME.drop("prediction"), "no column 'prediction'"),
        (pl.concat([FRAME, FRAME]), "each item of a user once; row 4"),
        (FRAME.with_columns(prediction=pl.Series([0.1, np.nan, 0.2])), "finite numbers; row 2"),
        (FRAME.with_columns(item=pl.Series(["a", None, "b"])), "must have a value in every row; row 2"),
        (FRAME.clear(), "no rows"),
    ],
)
def test_wrong_tables_are_told(frame: pl.DataFrame, said: str) -> None:
    """Column, row and remedy."""
    with pytest.raises(InputError, match=said):
        Given(frame)


def test_a_default_must_be_a_number() -> None:
    """And a file must be named."""
    with pytest.raises(InputError, match="finite"):
        Given(FRAME, default=float("nan"))
    with pytest.raises(InputError, match="needs a file"):
        outcome.make("given")
