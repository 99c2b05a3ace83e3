"""A few worlds of the study of census and tilt; ``box_study`` runs all of it."""

from __future__ import annotations

import pytest

from tests.census.box_study import POINTS, Inside, Tastes, false, limit, one_world
from tests.census.box_worlds import ALONE, NAIVE
from tests.worlds import worlds

pytestmark = pytest.mark.study


def test_any_verdict_is_rarely_wrong_where_the_box_is_right() -> None:
    """30 worlds at five points of the box: at most 5 % + 3 Monte Carlo errors (5 worlds) have a wrong verdict."""
    found = [one_world(Inside(world, *point, 120)) for point in POINTS for world in range(worlds(6, 20))]
    assert false(found) <= limit(len(found))
    counts = [said.counts[ALONE] for said in found]
    assert sum(each.right for each in counts) >= 0.4 * 21 * len(found)
    assert sum(said.covered for said in found) >= 0.9 * sum(said.models for said in found)


def test_few_verdicts_are_wrong_where_people_have_tastes() -> None:
    """At the far corner of the box: at most 5 % of what is decided, and many pairs are; naive is wrong far more often.

    In 40 such worlds 2.4 % of the verdicts of ``tilted`` were wrong, 12 % of those of ``naive``.
    """
    found = [one_world(Tastes(world, 4.0, 0.4, 0.0)) for world in range(worlds(5, 20))]
    right, wrong = (sum(getattr(said.counts[ALONE], what) for said in found) for what in ("right", "wrong"))
    assert wrong <= 0.05 * (right + wrong) and right >= 0.5 * 21 * len(found)
    assert sum(said.counts[NAIVE].wrong for said in found) > 2 * wrong
