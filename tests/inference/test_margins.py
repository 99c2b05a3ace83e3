"""When an interval is no evidence that two models are close: ``no_margin``, beside what withholds a verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.said import only
from unskew.core.notice import codes
from unskew.judging.cell_comparisons import CellComparisons
from unskew.result import Verdict

from .worlds import answer, draw, plan_of, setting


def verdicts(
    quality: tuple[float, ...] = (0.5, 0.5), estimator: str = "snips", users: int = 600
) -> tuple[Verdict, ...]:
    held = draw(3, users, quality).held(relative=True)
    return answer(held, plan_of(held, [(estimator, "pooled")]), setting(len(quality))).verdicts


def test_equal_models_of_many_users_may_be_called_close() -> None:
    (found,) = verdicts()
    assert (found.verdict, found.no_margin) == ("undecided", "") and math.isfinite(found.low)


def test_a_biased_estimator_says_nothing_of_closeness_even_if_its_verdict_stands() -> None:
    """Whose the difference is may be confirmed, and its size still be wrong."""
    (found,) = verdicts(estimator="gs(strata=5)")
    assert found.verdict == "undecided" and codes([found.no_margin]) == ("biased-on-purpose",)
    (found,) = verdicts((0.1, 1.5), "gs(strata=5)")
    assert found.verdict == "behind" and codes([found.no_margin]) == ("biased-on-purpose",)


def test_what_withholds_the_verdict_withholds_the_margin() -> None:
    (found,) = verdicts(users=25)
    assert math.isnan(found.low) and found.no_margin and found.no_margin in found.trust


def test_the_model_ahead_must_have_won_often_enough_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a verdict only the one behind must: few but heavy wins of the other are what could have been missed."""
    (found,) = verdicts()
    ahead = int(found.difference < 0.0)
    monkeypatch.setattr(CellComparisons, "wins", lambda self, model, other=None: 5.0 if model == ahead else 50.0)
    (found,) = verdicts()
    assert math.isfinite(found.low) and only("few-wins", [found.no_margin])


def test_among_many_models_margins_are_not_judged() -> None:
    found = verdicts((0.5,) * 7, users=300)
    assert len(found) == 21
    assert codes(v.no_margin for v in found if np.isfinite(v.low)) == ("too-many-models",)
