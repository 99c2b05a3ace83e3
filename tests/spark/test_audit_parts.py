"""Audits of logs in parts, without Spark: the numbers, findings and advice of memory, however users are divided."""

from __future__ import annotations

import polars as pl
import pytest

import unskew as us
from tests.audit.logs import skewed
from tests.golden.worlds import table
from tests.spark.parts import audit
from tests.stream.files import THEMED, assert_same, filled
from unskew.auditing import widths

AUDITS = [name for name, call in THEMED.items() if name.startswith("designs: audit") and "propensities" not in call]


@pytest.mark.parametrize("parts", [1, 7, 300])
@pytest.mark.parametrize("name", AUDITS)
def test_parts_give_the_audit_of_memory(name: str, parts: int) -> None:
    """All of it as JSON has it: likes, conversions, ratings, thresholds, places, policies, random pairs beside."""
    call = filled(THEMED[name])
    log = call.pop("log").sample(fraction=1.0, shuffle=True, seed=parts)
    assert_same(audit(log, parts, **call).to_dict(), us.audit(log, **call).to_dict())


def test_a_place_that_is_none_is_in_one_part_only() -> None:
    """And all parts leave the column alone; texts as ids, and values of any size."""
    log = table("visits.placed").with_columns(pl.format("u{}", "user"), value=(pl.col("value") + 0.1).exp())
    place = pl.when(pl.int_range(pl.len()) == 9).then(pl.lit("top")).otherwise(pl.col("position").cast(pl.String))
    for given in (log, log.with_columns(position=place)):
        found, expected = (each.to_dict() for each in (audit(given, 7), us.audit(given)))
        assert_same(found, expected)
        assert bool(expected["places"]) is (given is log)


def test_the_same_users_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log with more held-out rows than are measured, parts choose the users whom memory chooses."""
    monkeypatch.setattr(widths, "MOST_ROWS", 60)
    log = skewed(60, 40, 5, propensity=True)
    expected = us.audit(log)
    assert 2 <= expected.widths[0].users < 60
    for parts in (2, 9):
        assert_same(audit(log, parts).to_dict()["widths"], expected.to_dict()["widths"])
