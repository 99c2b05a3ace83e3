"""Guesses that have seen a pair's outcome take the correction away; folds of pairs do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.worlds import pairs_of

WORLDS, PEOPLE = 24, 1_500


def taste(seed: int) -> dict[str, Any]:
    """Two kinds of users, two kinds of items: a matching item converts in 80 %, another in 20 %; lists match.

    Means of users and items cannot see the match, so they guess 50 % for everything.
    """
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, PEOPLE)
    p = np.array([0.3, 0.6, 0.5, 0.4])
    match = kind[:, None] == np.array([0, 0, 1, 1])
    y = rng.random((PEOPLE, 4)) < np.where(match, 0.8, 0.2)
    test = pairs_of(rng.random((PEOPLE, 4)) < p, value=y, propensity=p)
    lists = pl.DataFrame({"user": np.arange(PEOPLE), "item": 2 * kind + rng.integers(0, 2, PEOPLE), "rank": 1})
    return {"test": test, "models": {"m": lists}, "users": pl.DataFrame({"user": np.arange(PEOPLE)})}


def estimates(estimator: str, *, in_sample: bool) -> tuple[float, float]:
    """Mean over worlds and the standard error of that mean."""
    values = []
    for seed in range(WORLDS):
        found = us.evaluate(
            **taste(seed), metrics=["recall@1"], estimators=[estimator], propensity="known",
            outcome="means(shrink=0)", in_sample=in_sample, feedback="conversions",
        )  # fmt: skip
        values.append(found.estimates[0].value)
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(WORLDS))


def test_folds_of_pairs_leave_dr_unbiased() -> None:
    """The truth is 0.8; the mean over 24 worlds of 1,500 users lies within 3 of its own standard errors (≈ .004)."""
    mean, error = estimates("dr", in_sample=False)
    assert error < 0.01
    assert mean == pytest.approx(0.8, abs=3.0 * error)


def test_in_sample_guesses_bias_dr() -> None:
    """Fitted to the pairs that correct it, dr leans towards the model: far more than 5 standard errors too low."""
    mean, error = estimates("dr", in_sample=True)
    assert mean < 0.8 - 5.0 * error and mean < 0.75
    direct, _ = estimates("direct", in_sample=False)
    assert direct < 0.6


def test_a_threshold_makes_outcomes_of_ratings() -> None:
    """With --relevant '>=4' the model is fitted to relevant or not, as the sums are: guesses lie between 0 and 1."""
    stars = taste(0)["test"].with_columns(value=1.0 + 4.0 * pl.col("value"))
    given = taste(0) | {"test": stars}
    rated = us.evaluate(
        **given, metrics=["recall@1"], estimators=["direct", "dr"], propensity="known", outcome="means(shrink=10)",
        feedback="ratings", relevant=">=4", target="per_user_sum",
    )  # fmt: skip
    converted = us.evaluate(
        **taste(0), metrics=["recall@1"], estimators=["direct", "dr"], propensity="known", outcome="means(shrink=10)",
        feedback="conversions",
    )  # fmt: skip
    for one, two in zip(rated.estimates, converted.estimates, strict=True):
        assert (one.value, one.se) == pytest.approx((two.value, two.se), rel=1e-12)
