"""The first sentence: how skewed the log is, against chance, and what that means for evaluating on it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.auditing.spread import top_share
from unskew.simulate import World


def even(rows_per_item: float, items: int = 400, users: int = 300, seed: int = 0) -> pl.DataFrame:
    """Pairs drawn at random: nothing but chance."""
    seen = np.random.default_rng(seed).random((users, items)) < rows_per_item / users
    user, item = np.nonzero(seen)
    return pl.DataFrame({"user": user, "item": item})


@pytest.mark.parametrize("rows_per_item", [1.5, 3.0, 20.0])
def test_chance_alone_is_hardly_skewed_however_sparse(rows_per_item: float) -> None:
    """With three rows per item the luckiest tenth has a fifth of the rows: that is not called skewed."""
    audit = us.audit(even(rows_per_item))
    assert audit.skew == "hardly"
    assert audit.items.top_10_percent == pytest.approx(audit.items.top_10_chance, rel=0.1)
    assert audit.items.top_10_chance > 0.12


def test_the_share_by_chance_is_that_of_simulated_counts() -> None:
    """The luckiest tenth of zero-truncated Poisson counts, by simulation (Monte Carlo error below 0.2 %)."""
    rng = np.random.default_rng(0)
    for rate in (0.5, 2.0, 30.0):
        counts = rng.poisson(rate, 400_000)
        counts = np.sort(counts[counts > 0])[::-1]
        drawn = counts[: len(counts) // 10].sum() / counts.sum()
        assert top_share(float(counts.mean()), 0.1) == pytest.approx(drawn, rel=0.01)


def test_a_shop_in_which_naive_is_wrong_is_called_heavily_skewed() -> None:
    """The world of the demo, where naive picks the wrong model; one that shows all items alike is not."""
    assert us.audit(World().train).skew == "heavily"
    assert us.audit(World(skew=0.0).train).skew == "moderately"
