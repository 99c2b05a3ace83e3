"""Intervals over folds hold where users come back with the same taste; folds taken as independent would not."""

from __future__ import annotations

import pytest

from tests.cross_validation.returning_users import figures, leaning, truths
from tests.worlds import monte_carlo_error, worlds
from unskew.cross_validation import Average

pytestmark = pytest.mark.study


def test_intervals_and_verdicts_hold_at_their_level() -> None:
    """95 % of the intervals hold the value of the population, and 5 % of equal pairs are told apart, at most.

    With the error of independent folds it would be four times as many.
    """
    count = worlds(120, 2_000)
    found, truth = figures(count), truths()
    assert abs(truth[Average.MACRO] - truth[Average.POOLED]) > 0.01  # the two are not the same number
    for way in Average:
        assert found.inside[way] == pytest.approx(0.95, abs=0.015 + 3.0 * monte_carlo_error(0.95, count)), way
        assert found.decided[way] <= 0.05 + 3.0 * monte_carlo_error(0.05, count), way
        assert found.decided[way] >= 0.05 - 0.02 - 3.0 * monte_carlo_error(0.05, count), way
    assert found.careless > 0.15


def test_small_folds_with_uneven_weights_do_not_decide_by_their_lean() -> None:
    """An average of ratios, each inside a fold with few users, leans: it is decided only where the lean allows it."""
    count = worlds(80, 2_000)
    found = leaning(count)
    assert found.inside >= 0.95 - 3.0 * monte_carlo_error(0.95, count)
    assert found.decided <= 0.05 + 3.0 * monte_carlo_error(0.05, count)
    assert found.careless > 0.1
