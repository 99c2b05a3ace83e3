"""Audits of logs in parts, without Spark: the numbers, findings and advice of memory, however users are divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.audit.logs import skewed
from tests.spark.parts import audit
from tests.stream.files import assert_same
from unskew.auditing import widths

ALL = {"value": True, "time": True, "policy": True, "position": True, "propensity": True}
READINGS: tuple[dict[str, Any], ...] = ({}, {"feedback": "conversions"}, {"relevant": ">=3"}, {"feedback": "implicit"})


def log(seed: int, *, continuous: bool = False, text: bool = False, **columns: bool) -> pl.DataFrame:
    """A skewed log with repeated pairs."""
    frame, rng = skewed(60, 40, seed, **columns), np.random.default_rng(seed)
    if continuous and "value" in frame.columns:
        frame = frame.with_columns(value=pl.Series(rng.lognormal(1.0, 2.0, len(frame))))
    if text:
        frame = frame.with_columns(user=pl.format("u{}", "user"), item=pl.format("i{}", "item"))
    return pl.concat([frame, frame[:20]]).sample(fraction=1.0, shuffle=True, seed=seed)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 50),
    parts=st.sampled_from([1, 2, 7, 60]),
    columns=st.fixed_dictionaries(dict.fromkeys(ALL, st.booleans())),
    continuous=st.booleans(),
    text=st.booleans(),
    reading=st.sampled_from(READINGS),
)
def test_parts_give_the_audit_of_memory(
    seed: int, parts: int, columns: dict[str, bool], continuous: bool, text: bool, reading: dict[str, Any]
) -> None:
    """All of it as JSON has it."""
    frame = log(seed, continuous=continuous, text=text, **columns)
    if not columns["value"]:
        reading = {}
    assert_same(audit(frame, parts, **reading).to_dict(), us.audit(frame, **reading).to_dict())


@pytest.mark.parametrize("wrong", [None, "top", "-1"])
def test_parts_agree_on_whether_there_are_places(wrong: str | None) -> None:
    """One cell that is none is in one part only, and all parts leave the column alone."""
    right = pl.col("position").cast(pl.String)
    there = pl.int_range(pl.len()) == (9 if wrong is not None else -1)
    frame = log(4, value=True, position=True).with_columns(position=pl.when(there).then(pl.lit(wrong)).otherwise(right))
    found, expected = audit(frame, 7), us.audit(frame)
    assert (expected.places is None) is (wrong is not None) and len(expected.size.notes) == (wrong is not None)
    assert_same(found.to_dict(), expected.to_dict())


@pytest.mark.parametrize("continuous", [False, True])
def test_parts_are_compared_with_pairs_drawn_at_random(continuous: bool) -> None:
    """Some users are in one log only, and some parts have rows of one log only."""
    frame = log(3, continuous=continuous, **ALL)
    mcar = frame.select("user", "item", "value").unique(["user", "item"], maintain_order=True).sample(150, seed=1)
    mcar = mcar.with_columns(user=pl.col("user") + 15, value=0.5 * pl.col("value"))
    for parts in (1, 6, 70):
        assert_same(audit(frame, parts, mcar).to_dict(), us.audit(frame, mcar=mcar).to_dict())


def test_the_same_users_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log with more held-out rows than are measured, parts choose the users whom memory chooses."""
    monkeypatch.setattr(widths, "MOST_ROWS", 60)
    frame = log(5, propensity=True)
    expected = us.audit(frame)
    assert 2 <= expected.widths[0].users < 60
    for parts in (2, 9):
        assert_same(audit(frame, parts).to_dict()["widths"], expected.to_dict()["widths"])
