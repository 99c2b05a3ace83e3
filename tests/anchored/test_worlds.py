"""A few worlds of the study (``study.py``): equal models are not told apart, and intervals cover."""

from __future__ import annotations

import pytest

from tests.anchored.plan_worlds import KINDS, judge_plan
from tests.anchored.study import covered, limit, wrong
from tests.anchored.worlds import Draw, judge


@pytest.mark.parametrize("kind", ["cancelled", "positives"])
@pytest.mark.parametrize(("rate", "questions"), [(0.002, 100), (0.3, 500)])
def test_equal_models_stay_undecided(kind: str, rate: float, questions: int) -> None:
    """The log leads by far for one of them; answers do not follow it."""
    found = [judge(Draw(world, kind, rate, questions)) for world in range(12)]
    assert wrong(found) <= limit(len(found))
    assert covered(found) >= 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_equal_models_stay_undecided_as_a_plan_asks(kind: str) -> None:
    """Several rounds, one question for each user, silence, useless guesses: nobody is named."""
    found = [judge_plan(Draw(world, kind, 0.15, 300)) for world in range(4)]
    assert wrong(found) <= limit(len(found))
    assert sum(said.positive for said in found) > 40
