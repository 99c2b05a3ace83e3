"""The chance of training counts over folds: against counts that are drawn again and again."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.cross_validation.count_errors import spread_over_folds


def test_folds_that_count_the_same_rows_go_together() -> None:
    """Later folds hold the rows of earlier ones: the sums of Σ_i t_if w_if over folds vary as draws of counts do."""
    rng = np.random.default_rng(5)
    items, folds, a = 12, 4, 0.7
    rates = rng.uniform(100.0, 300.0, (folds, items))  # new rows of every fold
    worth = rng.uniform(0.5, 2.0, (folds, 2, items))
    draws = rng.poisson(rates, size=(20_000, folds, items)).cumsum(axis=1)
    sums = np.einsum("fci,dfi->dc", worth, (draws + (1.0 + a) / 2.0) ** -a)
    counts = rates.cumsum(axis=0)
    weights = (counts + (1.0 + a) / 2.0) ** -a
    everything = [np.arange(items)] * folds
    found = spread_over_folds(everything, list(counts), list(worth * weights[:, None, :]), lambda n: a**2 / (n + 0.5))
    np.testing.assert_allclose(found, np.cov(sums.T), rtol=0.04)


def test_folds_with_other_items_and_no_order_of_counts() -> None:
    """Against a loop over pairs of folds: the covariance is one over the larger count, whichever fold has it."""
    rng = np.random.default_rng(2)
    item = [np.array([0, 2, 5]), np.array([1, 2]), np.array([0, 1, 2, 5])]
    seen = [rng.integers(0, 6, len(own)).astype(float) for own in item]
    totals = [rng.normal(size=(2, len(own))) for own in item]
    expected = np.zeros((2, 2))
    for f, mine in enumerate(item):
        for g, theirs in enumerate(item):
            for p, i in enumerate(mine):
                for q, j in enumerate(theirs):
                    if i == j:
                        expected += np.outer(totals[f][:, p], totals[g][:, q]) / (max(seen[f][p], seen[g][q]) + 0.5)
    assert spread_over_folds(item, seen, totals, lambda n: 1.0 / (n + 0.5)) == pytest.approx(expected)
