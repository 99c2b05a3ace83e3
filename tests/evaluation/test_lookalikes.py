"""Ids that are the same to a person, and not to a computer, are told where lists miss hits by them."""

from __future__ import annotations

import polars as pl
import pytest

import unskew as us

LOG = pl.DataFrame({"user": ["u1", "u2", "u3"], "item": ["7", "café", "x"]})


@pytest.mark.parametrize(
    ("column", "written", "logged"),
    [
        ("item", "007", "7"),
        ("item", "7.0", "7"),
        ("item", "cafe\u0301", "café"),
        ("item", "X", "x"),
        ("user", "U1", "u1"),
        ("user", "u4", None),
        ("item", "70", None),
    ],
)
def test_lists_that_are_written_otherwise(column: str, written: str, logged: str | None) -> None:
    """The spelling on both sides; what is really another id is not mentioned."""
    lists = LOG.with_columns(rank=pl.lit(1))
    entry = {"user": "u2", "item": "x", "rank": 2, column: written}
    log = us.Log.from_frame(LOG)
    frame = pl.concat([lists, pl.DataFrame([entry]).cast({"rank": pl.Int32})], how="diagonal")
    result = us.evaluate(log, {"m": frame}, metrics=["recall@2"], estimators=["naive"])
    told = [warning for warning in result.warnings if "as they are written" in warning]
    if logged is None:
        assert not told
    else:
        (sentence,) = told
        assert f"such as '{written}', where the logs have '{logged}'" in sentence
