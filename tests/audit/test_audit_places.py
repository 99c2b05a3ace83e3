"""Clicks by place of the page, against an obvious reference."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl
import pytest

import unskew as us
from unskew.auditing.places import COUNTED

from . import logs

KINDS: dict[str, dict[str, Any]] = {
    "clicks beside impressions": {"feedback": "conversions"},
    "a threshold": {"relevant": ">=3"},
    "ratings": {"feedback": "ratings"},
    "values that nobody explained": {},
    "positives": {"feedback": "implicit"},
}


def frame(kind: str) -> pl.DataFrame:
    found = logs.skewed(value=True, position=True)
    return found.with_columns(value=(pl.col("value") > 3).cast(pl.Float64)) if "clicks" in kind else found


def said(audit: us.Audit) -> list[str]:
    return [f.text for f in audit.findings if f.code == "places" and f.level == "warning"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_means_by_place(kind: str) -> None:
    """Every place by itself up to a certain one, all others together, rows without one apart."""
    rows: dict[int, list[float]] = defaultdict(list)
    found = us.audit(frame(kind), **KINDS[kind]).places
    for place, value in frame(kind).select("position", "value").iter_rows():
        if place is not None:
            y = float(value >= 3) if kind == "a threshold" else value
            rows[min(place, COUNTED + 1)].append(y)
    every = sum(map(len, rows.values()))
    assert found is not None and len(found.places) == len(rows)
    for place, (key, own) in zip(found.places, sorted(rows.items()), strict=True):
        assert (place.low, place.rows) == (key, len(own)) and place.share == pytest.approx(len(own) / every)
        assert place.mean == (None if kind == "positives" else pytest.approx(sum(own) / len(own)))
    positions = frame(kind)["position"]
    assert (found.least, found.largest) == (positions.min(), positions.max()) == (1, found.places[-1].high)
    assert found.unknown == positions.null_count() > 0
    assert found.rates is (kind in ("clicks beside impressions", "a threshold", "positives"))


@pytest.mark.parametrize("slot", [pl.lit(4), pl.lit("top"), pl.lit(None)], ids=["one place", "no place", "empty"])
def test_nothing_is_said_of_one_place(slot: pl.Expr) -> None:
    log = logs.skewed(users=50, value=True)
    found, bare = us.audit(log.with_columns(slot=slot), feedback="ratings"), us.audit(log, feedback="ratings")
    assert found.places is None and found.findings == bare.findings and not said(found)
