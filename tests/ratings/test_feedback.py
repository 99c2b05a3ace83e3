"""Averages over pairs: clips that other metrics must not move, and segments without a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import unskew as us
from tests.worlds import pairs_of
from unskew.core.notice import codes


def conversions() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Seen pairs with 0 or 1; zeros are seen less often."""
    rng = np.random.default_rng(0)
    value = rng.integers(0, 2, (60, 10)).astype(np.float64)
    p = np.where(value > 0.0, 0.6, 0.1)
    frame = pairs_of(rng.random(value.shape) < p, value=value, propensity=p)
    return frame, {name: us.Predictions.from_array(rng.random(value.shape)) for name in ("a", "b")}


def test_quantile_clips_of_errors_do_not_depend_on_other_metrics() -> None:
    """The floor of an average over pairs is a quantile over all of them, whether dcg is asked for or not."""
    frame, models = conversions()
    settings: dict[str, Any] = {
        "estimators": ["clipped(snips, quantile=0.05)"],
        "propensity": "known",
        "feedback": "ratings",
        "target": "per_pair",
    }
    alone = us.evaluate(frame, models, metrics=["mae"], **settings)
    beside = us.evaluate(frame, models, metrics=["mae", "dcg@3"], **settings)
    assert [e.value for e in beside.estimates if e.metric == "mae"] == [e.value for e in alone.estimates]


def test_nothing_seen_is_not_a_number_and_reported() -> None:
    """A segment without rows: self-normalised estimates are NaN, ips is 0, which is said."""
    test = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "value": [3.0, 4.0], "propensity": [0.5, 0.5]})
    users = pl.DataFrame({"user": ["a", "b", "c"], "kind": ["new", "new", "old"]})
    guess = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "prediction": [3.5, 3.0]})
    result = us.evaluate(
        test, {"m": guess}, metrics=["mae"],
        estimators=["naive", "ips", "snips", "snips(over=user)", "snips(over=item)"], propensity="known",
        feedback="ratings", users=users, by="kind",
    )  # fmt: skip
    old = {e.estimator: e.value for e in result.estimates if e.segment == "kind=old"}
    assert old.pop("ips") == 0.0
    assert all(np.isnan(value) for value in old.values()) and len(old) == 4
    assert "no-numbers" in codes(result.warnings)
