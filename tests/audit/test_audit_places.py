"""Clicks by place of the page, against an obvious reference."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
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


def test_the_finding_quotes_the_places() -> None:
    """Clicks by rate where zeros are kept, by share where they are not; places with few rows are not quoted."""
    rows = [(u, 10 * u + k, k, int(k == 1 or u % 4 == 0)) for u in range(40) for k in (1, 2)]
    rows += [(u, 10 * u + 9, 9, 1) for u in range(3)]
    log = pl.DataFrame(rows, schema=["user", "item", "slot", "click"], orient="row")
    (text,) = said(us.audit(log, feedback="conversions"))
    assert re.search(r"'position', 1 to 9.* 100 % .* 1 .* 25 % .* 2\b", text)
    (text,) = said(us.audit(log.filter(pl.col("click") == 1).drop("click")))
    assert "75 %" in text and "5.7 %" in text
    (text,) = said(us.audit(log.with_columns(click=2 * pl.col("click")), feedback="conversions"))
    assert re.search(r" 2 .* 1 .* 0.5 .* 2\b", text)


@pytest.mark.parametrize("slot", [pl.lit(4), pl.lit("top"), pl.lit(None)], ids=["one place", "no place", "empty"])
def test_nothing_is_said_of_one_place(slot: pl.Expr) -> None:
    log = logs.skewed(users=50, value=True)
    found, bare = us.audit(log.with_columns(slot=slot), feedback="ratings"), us.audit(log, feedback="ratings")
    assert found.places is None and found.findings == bare.findings and not said(found)


def test_places_beyond_those_that_are_counted() -> None:
    """A column of numbers of slots: they stand together, and the finding has nothing to quote."""
    log = logs.skewed(users=50).with_columns(slot_id=7000 + pl.col("item") % 5)
    found = us.audit(log)
    assert found.places is not None
    (place,) = found.places.places
    assert (place.low, place.high, place.rows) == (7000, 7004, len(log)) and "7,000 to 7,004" in said(found)[0]


def test_everywhere_it_is_shown(tmp_path: Path) -> None:
    """Page and JSON, and not where there is no such column."""
    for log, there in ((frame("ratings"), True), (frame("ratings").drop("position"), False)):
        audit = us.audit(log, feedback="ratings")
        audit.to_html(tmp_path / "page.html")
        assert ('id="places"' in (tmp_path / "page.html").read_text("utf-8")) == there
        assert (audit.to_dict()["places"] is not None) == there
