"""Where a verdict turns, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from unskew.engine.plan import ScenarioCells
from unskew.estimators import Naive, Target
from unskew.estimators.scenarios import Axis, Scenario, Scenarios
from unskew.inference.turning import Difference, stretches, whole
from unskew.judging.scenarios import where_it_turns
from unskew.metrics import make

SHARE = Axis("exposure", "share", "{} of popularity comes from exposure", percent=True)
ODDS = Axis("odds", "odds", "the odds are lower by a factor of {}")


def between(low: float, high: float) -> Difference:
    """An interval, decided where it excludes zero."""
    return Difference((low + high) / 2.0, low, high, low > 0.0 or high < 0.0)


def told(
    found: list[Difference], axes: tuple[Axis, ...] = (SHARE,), points: Sequence[tuple[float, ...]] | None = None
) -> tuple[str, float | None]:
    """The sentence on a and b."""
    at = points or [(n / (len(found) - 1),) for n in range(len(found))]
    scenarios = Scenarios(axes, tuple(Scenario(p, Naive(), Target.POOLED) for p in at), "", "")
    cells = ScenarioCells(make("recall@5"), Naive(), Target.POOLED, scenarios, tuple(range(len(at))))
    return where_it_turns(cells, found, ("a", "b"))


A, B, OPEN = between(0.1, 0.3), between(-0.3, -0.1), between(-0.1, 0.1)


LESS, MORE = (
    "as long as less than {} of popularity comes from exposure",
    "if more than {} of popularity comes from exposure",
)
REST = "this log cannot decide"


@pytest.mark.parametrize(
    ("found", "sentence", "at"),
    [
        ([A, A, OPEN, OPEN, OPEN], f"a is ahead {LESS.format('38 %')}; beyond that, {REST}.", 0.375),
        ([OPEN, OPEN, OPEN, B, B], f"b is ahead {MORE.format('62 %')}; below that, {REST}.", 0.625),
        (
            [A, A, OPEN, B, B],
            f"a is ahead {LESS.format('38 %')}; b is ahead {MORE.format('62 %')}; in between, {REST}.",
            0.375,
        ),
        (
            [OPEN, A, A, A, OPEN],
            f"a is ahead if between 12 % and 88 % of popularity comes from exposure; elsewhere, {REST}.",
            0.125,
        ),
        (
            [A, OPEN, A, A, A],
            f"a is ahead {LESS.format('12 %')}; a is ahead {MORE.format('38 %')}; in between, {REST}.",
            0.125,
        ),
    ],
)
def test_sentences(found: list[Difference], sentence: str, at: float) -> None:
    """Ends lie where the nearer end of the interval crosses zero."""
    text, turns = told(found)
    assert text == sentence and turns == pytest.approx(at)


def test_a_jump_from_one_model_to_the_other_has_one_edge() -> None:
    """Where no share lies between, the sentence names one."""
    text, at = told([A, A, B, B, B])
    assert text == "a is ahead as long as less than 38 % of popularity comes from exposure; beyond that, b is."
    assert at == pytest.approx(0.375)


def test_withheld_verdicts_have_no_interval_to_interpolate() -> None:
    """The stretch ends at the last scenario that decides."""
    withheld = Difference(0.2, math.nan, math.nan, False)
    assert told([A, A, withheld, withheld, withheld])[1] == 0.25


def test_on_other_axes_it_must_hold_throughout() -> None:
    """Along the first axis where every scenario agrees; else along the second; else only counted."""
    points = [(odds, slope) for odds in (1.0, 2.0, 4.0) for slope in (0.0, 0.4)]
    text, at = told([A, A, A, OPEN, OPEN, OPEN], (ODDS, SHARE), points)
    assert (
        text
        == "a is ahead as long as the odds are lower by a factor of less than 1.5; beyond that, this log cannot decide."
    )
    assert at == pytest.approx(1.5)
    text, at = told([A, B, A, B, A, B], (ODDS, SHARE), points)
    assert text == "a is ahead as long as less than 20 % of popularity comes from exposure; beyond that, b is."
    text, at = told([A, OPEN, OPEN, B, OPEN, OPEN], (ODDS, SHARE), points)
    assert text == "a is ahead in 1 of 6 scenarios and b is ahead in 1 of 6 scenarios." and at is None


def test_a_lead_that_no_axis_tells_is_counted_and_the_rest_is_open() -> None:
    points = [(odds, slope) for odds in (1.0, 2.0) for slope in (0.0, 0.4)]
    text, at = told([A, OPEN, OPEN, A], (ODDS, SHARE), points)
    assert text == "a is ahead in 2 of 4 scenarios; in the others, this log cannot decide." and at is None


def test_nothing_is_said_where_nothing_is_decided() -> None:
    """No stretch, and nothing holds as a whole."""
    assert not stretches([0.0, 1.0], [[OPEN], [OPEN]]) and whole([0, 0]) == 0 and whole([1, 0]) == 0 and whole([]) == 0
