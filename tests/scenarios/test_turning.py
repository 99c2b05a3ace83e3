"""Where a verdict turns, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from unskew.core.notice import Notice
from unskew.engine.plan import ScenarioCells
from unskew.estimators import Naive, Target
from unskew.estimators.scenarios import Axis, Scenario, Scenarios
from unskew.inference.turning import Difference, stretches, whole
from unskew.judging.scenarios import where_it_turns
from unskew.metrics import make

SHARE = Axis("exposure", "share", "{}", percent=True)
ODDS = Axis("odds", "odds", "{}")


def between(low: float, high: float) -> Difference:
    """An interval, decided where it excludes zero."""
    return Difference((low + high) / 2.0, low, high, low > 0.0 or high < 0.0)


def told(
    found: list[Difference], axes: tuple[Axis, ...] = (SHARE,), points: Sequence[tuple[float, ...]] | None = None
) -> tuple[str, object, float | None]:
    """What is said of a and b: the code, the axis, and where the first stretch ends or begins."""
    at = points or [(n / (len(found) - 1),) for n in range(len(found))]
    scenarios = Scenarios(axes, tuple(Scenario(p, Naive(), Target.POOLED) for p in at), "", "")
    cells = ScenarioCells(make("recall@5"), Naive(), Target.POOLED, scenarios, tuple(range(len(at))))
    said, turns = where_it_turns(cells, found, ("a", "b"))
    assert isinstance(said, Notice)
    return said.code, said.fields.get("axis"), turns


A, B, OPEN = between(0.1, 0.3), between(-0.3, -0.1), between(-0.1, 0.1)
WITHHELD = Difference(0.2, math.nan, math.nan, False)
IN_PART, REVERSES = "ahead-in-part", "reverses"
GRID = [(odds, slope) for odds in (1.0, 2.0, 4.0) for slope in (0.0, 0.4)]


@pytest.mark.parametrize(
    ("found", "code", "at"),
    [
        ([A, A, OPEN, OPEN, OPEN], IN_PART, 0.375),
        ([OPEN, OPEN, OPEN, B, B], IN_PART, 0.625),
        ([A, A, OPEN, B, B], REVERSES, 0.375),
        ([OPEN, A, A, A, OPEN], IN_PART, 0.125),
        ([A, OPEN, A, A, A], IN_PART, 0.125),
        ([A, A, B, B, B], REVERSES, 0.375),  # a jump has one edge
        ([A, A, WITHHELD, WITHHELD, WITHHELD], IN_PART, 0.25),  # nothing to interpolate: the last that decides
    ],
)
def test_ends_lie_where_the_nearer_end_of_the_interval_crosses_zero(
    found: list[Difference], code: str, at: float
) -> None:
    *said, turns = told(found)
    assert said == [code, "exposure"] and turns == pytest.approx(at)


@pytest.mark.parametrize(
    ("found", "points", "said"),
    [
        ([A, A, A, OPEN, OPEN, OPEN], GRID, (IN_PART, "odds", 1.5)),
        ([A, B, A, B, A, B], GRID, (REVERSES, "exposure", 0.2)),
        ([A, OPEN, OPEN, B, OPEN, OPEN], GRID, (REVERSES, None, None)),  # no axis tells it: only counted
        ([A, OPEN, OPEN, A], GRID[:4], (IN_PART, None, None)),
    ],
)
def test_on_other_axes_it_must_hold_throughout(
    found: list[Difference], points: list[tuple[float, ...]], said: tuple[str, str | None, float | None]
) -> None:
    """Along the first axis where every scenario agrees; else along the second; else only counted."""
    *words, turns = told(found, (ODDS, SHARE), points)
    assert words == [*said[:2]] and turns == (said[2] and pytest.approx(said[2]))


def test_nothing_is_said_where_nothing_is_decided() -> None:
    """No stretch, and nothing holds as a whole."""
    assert not stretches([0.0, 1.0], [[OPEN], [OPEN]]) and whole([0, 0]) == 0 and whole([1, 0]) == 0 and whole([]) == 0
