"""How often "not worse by …" is answered with yes although it is false: at the margin itself, where that is easiest."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worlds import monte_carlo_error, worlds
from unskew.estimators import Target
from unskew.result import MetricTraits, Result

from .worlds import METRIC, answer, draw, many, plan_of, setting

pytestmark = pytest.mark.study
WORLDS, USERS = worlds(300, 4_000), 600
QUALITY = (0.5, 0.75)  # a is worse than b
ERROR = 0.05


@pytest.fixture(scope="module")
def truth() -> tuple[float, float]:
    """The values of both models over very many users."""
    gains = [draw(seed, 100_000, QUALITY) for seed in range(2)]
    a, b = np.mean([world.truth(Target.POOLED) for world in gains], axis=0)
    return float(a), float(b)


@pytest.fixture(scope="module")
def answers(truth: tuple[float, float]) -> dict[str, list[str]]:
    """What is said in every world, by statement."""
    a, b = truth
    lost = b - a
    asked = {
        "absolute": f"a not worse than b by {lost:.12f} on {METRIC}",
        "relative": f"a not worse than b by {100 * lost / b:.12f} % on {METRIC}",
        "half": f"a not worse than b by {lost / 2:.12f} on {METRIC}",
        "wide": f"a not worse than b by {4 * lost:.12f} on {METRIC}",
        "better": f"a better than b on {METRIC}",
    }

    def one(seed: int) -> list[str]:
        held = draw(seed, USERS, QUALITY).held(relative=True)
        found = answer(held, plan_of(held, [("snips", "pooled")]), setting(2))
        result = Result(found.estimates, found.verdicts, (), {}, (), traits={METRIC: MetricTraits()})
        return [item.answer for item in result.require(*asked.values())]

    rows = many(one, range(50_000, 50_000 + WORLDS))
    return {name: [row[place] for row in rows] for place, name in enumerate(asked)}


def share(answers: list[str], said: str) -> float:
    return sum(answer == said for answer in answers) / len(answers)


def test_a_false_yes_at_an_absolute_margin_is_rare(answers: dict[str, list[str]]) -> None:
    """The lower end of a two-sided interval: 2.5 % where weights are alike on both sides, as here; never above 5 %."""
    wrong = share(answers["absolute"], "yes")
    assert wrong == pytest.approx(ERROR / 2, abs=3.0 * monte_carlo_error(ERROR / 2, WORLDS))
    assert share(answers["absolute"], "no") <= ERROR / 2 + 3.0 * monte_carlo_error(ERROR / 2, WORLDS)


def test_a_false_yes_at_a_relative_margin_is_rare(answers: dict[str, list[str]]) -> None:
    """At most 5 %: the error of the base is paid for as well."""
    assert share(answers["relative"], "yes") <= ERROR + 2.0 * monte_carlo_error(ERROR, WORLDS)


def test_margins_that_are_far_off_are_answered(answers: dict[str, list[str]]) -> None:
    """Undecided is no way out: four times the difference is shown in most worlds, half of it is no margin in some."""
    assert share(answers["wide"], "yes") > 0.9
    assert share(answers["half"], "yes") <= share(answers["absolute"], "yes")
    assert share(answers["better"], "yes") <= ERROR / 2
