"""Intervals of averages over samples cover the value of an endless log, and equal models are not told apart.

40 worlds of the hardest case: estimates are off by as much as their errors say, the mean of z² is 1 within 3.5 of its
own errors. Without the term for the fixed size it is 3 there. ``make verify`` draws 500 worlds of each case, and counts
how many intervals hold the value; ``draw_study`` prints that.
"""

from __future__ import annotations

import math

import pytest

from tests.sampling.draw_study import CASES, LEVEL, false_verdicts, intervals
from tests.worlds import ALL, monte_carlo_error, worlds

pytestmark = pytest.mark.study
WORLDS = worlds(40, 500)


@pytest.mark.parametrize(("strategy", "size", "repeats"), CASES if ALL else CASES[:1])
def test_intervals_cover_the_value_of_an_endless_log(strategy: str, size: float, repeats: int) -> None:
    """Of two values and their difference, pooled and per user."""
    found = intervals(strategy, size, repeats, WORLDS)
    squares = (found.z**2).mean(axis=0)
    assert (abs(squares - 1.0) <= 0.1 + 3.5 * math.sqrt(2.0 / WORLDS)).all(), squares
    if ALL:
        shares = found.hold.mean(axis=0)
        assert (abs(shares - LEVEL) <= 0.01 + 3.0 * monte_carlo_error(LEVEL, WORLDS)).all(), shares


def test_equal_models_are_not_told_apart() -> None:
    """Neither two lists of one distribution, nor two that owe the same score to other items: 5 %, and chance."""
    for kind, share in false_verdicts(0.5, 10 if ALL else 3, WORLDS).items():
        assert share <= 1.0 - LEVEL + 3.0 * monte_carlo_error(LEVEL, WORLDS), kind
