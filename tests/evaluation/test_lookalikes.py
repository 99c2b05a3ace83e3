"""Ids that are the same to a person, and not to a computer, are told where lists miss hits by them."""

from __future__ import annotations

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said

LOG = pl.DataFrame({"user": ["u1", "u2", "u3"], "item": ["7", "café", "x"]})


def spelt(result: us.Result) -> list[str]:
    """What is said of ids that are written otherwise."""
    found = (*said(result, "lists-of-models"), *said(result, "other-spellings"))
    return [text for text in found if "gaps" not in text and len(text.split("'")) == 5]


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
    told = spelt(result)
    if logged is None:
        assert not told
    else:
        (sentence,) = told
        assert sentence.split("'")[1::2] == [written, logged]


def test_training_logs_and_catalogues_that_are_written_otherwise() -> None:
    """Nobody would see that nothing is left out of the lists, and that there are two items for one."""
    lists = LOG.with_columns(rank=pl.lit(1))
    train = pl.DataFrame({"user": ["U1", "u2"], "item": ["007", "y"]})
    items = pl.DataFrame({"item": ["007", "café", "x", "z"]})
    result = us.evaluate(LOG, {"m": lists}, metrics=["recall@2"], estimators=["naive"], train=train, items=items)
    told = spelt(result)
    assert [sentence.split("'")[1::2] for sentence in told] == [["U1", "u1"], ["007", "7"], ["007", "7"]]
