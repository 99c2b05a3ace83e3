"""Intervals of averages over samples cover the value of an endless log, and equal models are not told apart.

40 worlds of the hardest case (``make verify``: 500 of each). Without the term for the fixed size intervals would cover
three quarters there; ``draw_study`` prints both.
"""

from __future__ import annotations

import pytest

from tests.sampling.draw_study import CASES, LEVEL, coverage, false_verdicts
from tests.worlds import ALL, monte_carlo_error, worlds

pytestmark = pytest.mark.study
WORLDS = worlds(40, 500)
TOLERANCE = 0.01 + 3.0 * monte_carlo_error(LEVEL, WORLDS)


@pytest.mark.parametrize(("strategy", "size", "repeats"), CASES if ALL else CASES[:1])
def test_intervals_cover_the_value_of_an_endless_log(strategy: str, size: float, repeats: int) -> None:
    """Of two values and their difference, pooled and per user."""
    shares = coverage(strategy, size, repeats, WORLDS).full.mean(axis=0)
    assert (abs(shares - LEVEL) <= TOLERANCE).all(), shares


def test_equal_models_are_not_told_apart() -> None:
    """Neither two lists of one distribution, nor two that owe the same score to other items: 5 %, and chance."""
    for kind, share in false_verdicts(0.5, 10 if ALL else 3, WORLDS).items():
        assert share <= 1.0 - LEVEL + 3.0 * monte_carlo_error(LEVEL, WORLDS), kind
