"""What must hold exactly of averages over pairs: however users are divided, and beside sums per user.

The formulas are those of a loop (``test_against_reference.py``), and what follows from them is not asked again.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.engine.passes import first_pass
from tests.ratings.worlds import draw, plan_of
from unskew.core.notice import codes
from unskew.engine.sums import Sums

ALL = ("naive", "ips", "snips", "snips(over=user)", "clipped(snips, at=0.2)")
METRICS = ("mae", "mse", "rmse", "accuracy")


def test_nothing_seen_is_not_a_number_and_reported() -> None:
    """A segment without rows: self-normalised estimates are NaN, ips is 0, which is said."""
    test = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "value": [3.0, 4.0], "propensity": [0.5, 0.5]})
    users = pl.DataFrame({"user": ["a", "b", "c"], "kind": ["new", "new", "old"]})
    guess = pl.DataFrame({"user": ["a", "b"], "item": [1, 2], "prediction": [3.5, 3.0]})
    result = us.evaluate(
        test,
        {"m": guess},
        metrics=["mae"],
        estimators=["naive", "ips", "snips", "snips(over=user)", "snips(over=item)"],
        propensity="known",
        feedback="ratings",
        users=users,
        by="kind",
    )
    old = {e.estimator: e.value for e in result.estimates if e.segment == "kind=old"}
    assert old.pop("ips") == 0.0
    assert all(np.isnan(value) for value in old.values()) and len(old) == 4
    assert "no-numbers" in codes(result.warnings)


@pytest.mark.parametrize("replicates", [0, 30])
def test_any_partition_of_the_users_merges_to_the_same_result(replicates: int) -> None:
    """Blocks of 1, 7, 64 and all users, by 1 or 3 threads: the same estimates, errors, tallies and replicates."""
    held = draw(11, 300, (0.5, 0.8, 1.1)).held()
    plan = plan_of(held, ALL, METRICS)

    def run(block: int, threads: int) -> Sums:
        return first_pass(held, plan, replicates=replicates, seed=5, block=block, threads=threads)

    whole = run(10_000, 1)
    for block, threads in ((1, 1), (7, 3), (64, 1), (64, 3)):
        found = run(block, threads)
        for left, right in zip(found.moments, whole.moments, strict=True):
            np.testing.assert_allclose(left.values, right.values, rtol=1e-12)
            np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-9, atol=1e-18)
            np.testing.assert_array_equal(left.differ, right.differ)
            assert left.active == right.active
        for a, b in zip(found.tallies, whole.tallies, strict=True):
            assert (a.ess, a.max_weight_share) == pytest.approx((b.ess, b.max_weight_share), rel=1e-12)
            assert (a.pairs, a.raised) == (b.pairs, b.raised)
        if found.replicates is not None and whole.replicates is not None:
            np.testing.assert_allclose(found.replicates, whole.replicates, rtol=1e-10)
        assert (found.replicates is None) == (replicates == 0)
    for left, right in zip(run(64, 3).moments, run(64, 1).moments, strict=True):
        np.testing.assert_array_equal(left.mean, right.mean)
