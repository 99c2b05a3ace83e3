"""Other feedback than ratings: errors of predicted conversions; and clips that other metrics must not move."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import unskew as us
from tests.worlds import pairs_of


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
