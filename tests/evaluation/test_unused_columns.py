"""Columns that may say what a row was worth, and names of columns in warnings."""

from __future__ import annotations

import polars as pl
import pytest

from tests.evaluation.shop import TEST, evaluate, said
from tests.said import only


@pytest.mark.parametrize("name", ["score", "Count", "weight"])
def test_a_column_that_may_be_the_value_is_named(name: str) -> None:
    """Every row counts as a positive without it; nothing is said once somebody said what rows are."""
    log = TEST.with_columns(pl.lit(3).alias(name))
    assert f"columns={{'test:value': '{name}'}}" in only("unused-column", evaluate(log).warnings, column=name)
    for told in ({"feedback": "implicit"}, {"columns": {"test:value": ""}}):
        assert not said(evaluate(log, **told), "unused-column")


def test_a_recognised_propensity_has_the_name_of_the_file() -> None:
    """Not ours, which the file does not have."""
    found = evaluate(TEST.rename({"propensity": "propensity_score"}), propensity=None)
    (text,) = said(found, "used")
    assert "'propensity_score'" in text
