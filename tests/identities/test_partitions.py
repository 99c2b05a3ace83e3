"""Blocks, partitions and threads: the numbers do not depend on them."""

from __future__ import annotations

import numpy as np
import polars as pl

import unskew as us
from unskew.engine.walk import BLOCK


def test_threads_do_not_change_a_result() -> None:
    """A bootstrapped evaluation of several blocks is the same to the last bit with 1, 2 and 5 threads."""
    rng = np.random.default_rng(0)
    n = 3 * BLOCK
    test = pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "propensity": rng.uniform(0.1, 1.0, n)})
    lists = {
        name: pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "rank": rng.integers(1, 5, n)})
        for name in ("a", "b")
    }
    found = [
        us.evaluate(
            test,
            lists,
            metrics=["recall@3"],
            estimators=["snips"],
            propensity="known",
            target="pooled",
            interval="bootstrap",
            replicates=60,
            threads=threads,
        )
        for threads in (1, 2, 5)
    ]
    assert found[0].estimates == found[1].estimates == found[2].estimates
    assert found[0].verdicts_ == found[1].verdicts_ == found[2].verdicts_
    assert {e.users for e in found[0].estimates} == {n}


def test_the_bootstrap_depends_on_users_not_on_their_order() -> None:
    """The same rows in another order draw the same replicates; another seed draws others."""
    rng = np.random.default_rng(1)
    test = pl.DataFrame(
        {"user": np.arange(80), "item": rng.integers(0, 5, 80), "propensity": rng.uniform(0.2, 1.0, 80)}
    )
    lists = {"a": pl.DataFrame({"user": np.arange(80), "item": rng.integers(0, 5, 80), "rank": np.ones(80, dtype=int)})}

    def run(frame: pl.DataFrame, seed: int) -> tuple[float, float]:
        result = us.evaluate(
            frame, lists, estimators=["snips"], target="pooled", propensity="known", interval="bootstrap", seed=seed
        )
        return result.estimates[0].low, result.estimates[0].se

    assert run(test, 0) == run(test.sample(fraction=1.0, shuffle=True, seed=3), 0) != run(test, 1)
