"""Do 95 % intervals cover 95 % of graded outcomes, with cross-fitted guesses, of differences, and of what is biased?

The worlds of coverage_worlds.py with a second model (the most popular items, shifted by chance), 400 of 1,000 users
(``make verify``: 900): the Monte Carlo error of a coverage near 95 % is 1.1 points (0.7), which is added to the 2
points that are allowed. Outcomes are 0/1 or graded (a success is worth 1 or 3, 2 on average). Population values are
expected ones over 400,000 users; what is biased on purpose (naive, direct, switch, ratios inside users) is held
against its own value over those users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.conversions.coverage_worlds import ITEMS, LEVEL, POOLED, POPULATION, Floats, World, draw
from tests.engine.passes import first_pass
from tests.inference.worlds import many, numbered
from tests.worlds import monte_carlo_error, worlds
from unskew import estimators, metrics
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.engine.sums import Sums
from unskew.estimators import Summary, Target
from unskew.estimators.summary import Histogram
from unskew.inference.contrast import alone, contrast
from unskew.inference.intervals import percentile
from unskew.log import Feedback, Log
from unskew.outcome import Means, crossfit

pytestmark = pytest.mark.study
WORLDS, USERS, K = worlds(400, 900), 1_000, 5
TOLERANCE = 0.02 + monte_carlo_error(LEVEL, WORLDS)
SUM, PER_USER = "per_user_sum", "per_user_sum(normalised=per_user)"
Cell = tuple[str, str]
TRUE: tuple[Cell, ...] = (
    ("ips", SUM), ("dr", SUM), ("sndr", SUM), ("snips", SUM), ("snips(over=list)", SUM), ("ips", POOLED), ("dr", POOLED)
)  # fmt: skip
BIASED: tuple[Cell, ...] = (
    ("naive", SUM), ("direct", SUM), ("switch(tau=5)", SUM), ("switch(tau=5)", POOLED), ("dr", PER_USER),
)  # fmt: skip
FOLDED: tuple[Cell, ...] = (("dr", SUM), ("sndr", SUM), ("dr", POOLED))
MODELS = ("a", "b", "a − b", "a by the bootstrap")
REPLICATES = 300  # whose percentiles hold 94.4 % of the bootstrap distribution


@dataclass(frozen=True, eq=False)
class Pair:
    """A world with two models, and what a success is worth on average."""

    world: World
    other: np.ndarray[Any, np.dtype[np.int32]]
    worth: float

    def truth(self, target: str) -> Floats:
        """Of both models, and their difference."""
        a = self.world.truth[target]
        b = replace(self.world, listed=self.other).truth[target]
        scale = self.worth if target == SUM else 1.0
        return scale * np.array([a, b, a - b, a])


def drawn(seed: int, users: int, *, graded: bool, folded: bool = False) -> Pair:
    """A world of coverage_worlds.py with a second list, graded outcomes on request, and guesses fitted on request."""
    world = draw(seed, users)
    rng = np.random.default_rng([seed, 1])
    held = world.held
    other = np.ascontiguousarray((np.arange(K) + rng.integers(0, 4, (users, 1))).astype(np.int32))
    lists = (*held.lists, replace(held.lists[0], item=other.ravel()))
    value = held.value * rng.choice([1.0, 3.0], len(held.value)) if graded else held.value
    held = replace(held, lists=lists, value=value)
    if folded:
        log = Log(numbered(users), numbered(ITEMS), held.indptr, held.item, value, feedback=Feedback.CONVERSIONS)
        fitted = crossfit(Means(shrink=5.0), log, propensity=held.propensity)
        guess = ListedPairs(np.ones(ITEMS, dtype=np.bool_), predict=fitted.bind(log.users, log.items))
        held = replace(held, q=fitted.of(log), q_total=fitted.totals(log.users, log.items, threads=1), listed=guess)
    return Pair(replace(world, held=held), other, 2.0 if graded else 1.0)


def sums_of(pair: Pair, cells: Sequence[Cell], **how: int) -> tuple[EvaluationPlan, Sums]:
    """What all users bring to these cells."""
    held = pair.world.held
    assert held.propensity is not None
    asked = [(estimators.make(e), Target.make(t), (metrics.make(f"dcg@{K}"),)) for e, t in cells]
    plan = make_plan(asked, Summary(pairs=Histogram.of(held.propensity)), 2, K)
    return plan, first_pass(held, plan, threads=1, **how)


def intervals(pair: Pair, cells: Sequence[Cell], seed: int) -> Floats:
    """``[cell, a | b | a − b | a by the bootstrap, low | high]``."""
    plan, sums = sums_of(pair, cells, replicates=REPLICATES, seed=seed)
    assert sums.replicates is not None
    out = np.empty((len(cells), len(MODELS), 2))
    for place, (cell, m) in enumerate(zip(plan.cells, sums.moments, strict=True)):
        out[place, :3] = [one.interval(1.0 - LEVEL) for one in (alone(m, 0), alone(m, 1), contrast(m, 0, 1))]
        drawn = percentile(cell.form.values(sums.replicates[:, cell.columns])[:, 0], LEVEL)
        out[place, 3] = drawn.low, drawn.high
    return out


@cache
def covered(graded: bool, folded: bool, users: int = USERS, worlds: int = WORLDS) -> dict[tuple[Cell, str], float]:
    """How often each interval held what it should."""
    cells = FOLDED if folded else TRUE + BIASED
    people = drawn(1, POPULATION, graded=graded)
    aims = [people.truth(t) for _, t in cells[: len(FOLDED if folded else TRUE)]]
    if not folded:
        own = (m.values for m in sums_of(people, BIASED)[1].moments)
        aims += [np.array([a, b, a - b, a]) for a, b in own]
    seeds = range(2, 2 + worlds)
    found = np.array(many(lambda seed: intervals(drawn(seed, users, graded=graded, folded=folded), cells, seed), seeds))
    aim = np.array(aims)
    share = np.mean((found[..., 0] <= aim) & (aim <= found[..., 1]), axis=0)
    return {(cell, model): float(share[c, m]) for c, cell in enumerate(cells) for m, model in enumerate(MODELS)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cell", TRUE + BIASED, ids=" ".join)
def test_intervals_of_graded_outcomes_cover(cell: Cell, model: str) -> None:
    """Right propensities, bad guesses, outcomes of 0, 1 and 3: both models, and their difference."""
    assert covered(graded=True, folded=False)[cell, model] == pytest.approx(LEVEL, abs=TOLERANCE)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cell", FOLDED, ids=" ".join)
def test_intervals_with_cross_fitted_guesses_cover(cell: Cell, model: str, graded: bool) -> None:
    """Means of users and items, fitted by folds of pairs in every world: the intervals take them as given, and hold."""
    assert covered(graded=graded, folded=True)[cell, model] == pytest.approx(LEVEL, abs=TOLERANCE)
