"""What must hold exactly of averages over pairs: however users are divided, and beside sums per user.

The formulas are those of a loop (``test_against_reference.py``), and what follows from them is not asked again.
"""

from __future__ import annotations

import numpy as np
import polars as pl

import unskew as us
from unskew.core.notice import codes


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
