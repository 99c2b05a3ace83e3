"""Monte Carlo over whole worlds: do 95 % intervals of sums cover 95 %? (``test_enumerated``: they are unbiased.)

800 worlds of 1,000 users (``make verify``: 2,000); users, tastes, lists, outcomes and exposure are new in each. The
Monte Carlo error of a coverage near 95 % is 0.8 points (0.5); a point and two such errors are tolerated. The
population's values are expected ones (Σ m λ) over 400,000 users; their own error is 5 % of the standard error of a
world, which moves a coverage by 0.1 points at most. Percentiles of 400 replicates hold 94.5 % of the bootstrap
distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from tests.engine.passes import first_pass
from tests.inference.worlds import many, numbered
from tests.worlds import monte_carlo_error, worlds
from unskew import estimators, metrics
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Summary, Target
from unskew.estimators.summary import Histogram
from unskew.inference.contrast import alone
from unskew.inference.intervals import percentile
from unskew.log import Recommendations

Floats = npt.NDArray[np.float64]

pytestmark = pytest.mark.study
WORLDS, USERS, REPLICATES, LEVEL = worlds(800, 2_000), 1_000, 400, 0.95
TOLERANCE = 0.01 + 2.0 * monte_carlo_error(LEVEL, WORLDS)  # 2.5 points, with all worlds 2
POPULATION = 400_000
ITEMS, K = 20, 5
POOLED = "per_user_sum(normalised=pooled)"
CELLS = (
    ("ips", "per_user_sum"),
    ("dr", "per_user_sum"),
    ("sndr", "per_user_sum"),
    ("snips", "per_user_sum"),
    ("snips(over=list)", "per_user_sum"),
    ("ips", POOLED),
    ("dr", POOLED),
)


@dataclass(frozen=True, eq=False)
class World:
    """One draw: the rows, the lists, and E[y] of every pair."""

    held: EvaluationData
    mean: Floats
    listed: npt.NDArray[np.int32]

    @property
    def truth(self) -> dict[str, float]:
        """What would be found if everything were seen, of every target."""
        worth = 1.0 / np.log2(np.arange(2.0, K + 2.0))
        gain = np.take_along_axis(self.mean, self.listed, axis=1) @ worth
        return {"per_user_sum": float(gain.mean()), POOLED: float(gain.sum() / self.mean.sum())}


def draw(seed: int, users: int) -> World:
    """Popular items are shown more, stand higher, and convert more often; some users see nothing.

    Guesses are bad: too high, and the same for every user.
    """
    indptr, item, value, propensity, mean, listed = _draw(np.random.default_rng(seed), users)
    q = np.broadcast_to(0.9 - 0.4 * np.arange(ITEMS) / ITEMS, mean.shape)
    user = np.repeat(np.arange(users), np.diff(indptr))
    ids, items = numbered(users), numbered(ITEMS)
    starts = np.arange(users + 1, dtype=np.int64) * K
    rank = np.tile(np.arange(1, K + 1, dtype=np.int32), users)
    held = EvaluationData(
        hashes=ids.hashes,
        indptr=indptr,
        item=item,
        value=value,
        lists=(Recommendations(ids, items, starts, listed.ravel(), rank),),
        propensity=propensity,
        candidates=np.full(users, float(ITEMS)),
        relative=False,
        q=np.ascontiguousarray(q[user, item]),
        q_total=np.ascontiguousarray(q.sum(axis=1)),
        listed=ListedPairs(np.ones(ITEMS, dtype=np.bool_), predict=lambda u, i: np.asarray(q[u, i])),
    )
    return World(held, mean, listed)


@njit(cache=True, nogil=True)
def _draw(rng, users):  # type: ignore[no-untyped-def]
    indptr = np.zeros(users + 1, dtype=np.int64)
    item = np.empty(users * ITEMS, dtype=np.int32)
    value, propensity = np.empty(users * ITEMS), np.empty(users * ITEMS)
    mean = np.empty((users, ITEMS))
    listed = np.empty((users, K), dtype=np.int32)
    best = np.empty(K)
    popular = np.arange(1.0, ITEMS + 1.0) ** -0.6
    n = 0
    for u in range(users):
        activity, breadth = 0.15 + 0.7 * rng.random(), 0.1 + 0.6 * rng.random()
        best[:] = -np.inf
        for i in range(ITEMS):
            mean[u, i] = breadth * (0.3 + 0.7 * rng.random()) * (0.4 + 0.6 * popular[i])
            p = min(max(activity * (0.2 + 0.8 * popular[i]), 0.1), 0.95)
            if rng.random() < p:
                item[n], value[n], propensity[n] = i, rng.random() < mean[u, i], p
                n += 1
            score = mean[u, i] + 0.3 * popular[i] + 0.3 * rng.random()
            place = K
            while place > 0 and best[place - 1] < score:
                place -= 1
                if place < K - 1:
                    best[place + 1], listed[u, place + 1] = best[place], listed[u, place]
            if place < K:
                best[place], listed[u, place] = score, i
        indptr[u + 1] = n
    return indptr, item[:n].copy(), value[:n].copy(), propensity[:n].copy(), mean, listed


def plan_of(held: EvaluationData, cells: Sequence[tuple[str, str]]) -> EvaluationPlan:
    """The library's plan."""
    asked = [(estimators.make(e), Target.make(t), (metrics.make(f"dcg@{K}"),)) for e, t in cells]
    assert held.propensity is not None
    return make_plan(asked, Summary(pairs=Histogram.of(held.propensity)), 1, K)


@dataclass(frozen=True, eq=False)
class Found:
    """Truths by target, ``[world, cell]`` values and bounds."""

    truth: dict[str, float]
    values: Floats
    bounds: dict[str, Floats]


@pytest.fixture(scope="module")
def found() -> Found:
    truth = draw(1, POPULATION).truth
    main = np.array(many(_one, range(2, 2 + WORLDS))).reshape(WORLDS, len(CELLS), 5)
    return Found(truth, main[:, :, 4], {"score": main[:, :, :2], "bootstrap": main[:, :, 2:4]})


def _one(seed: int) -> Floats:
    """Per cell the bounds of both intervals and the value."""
    world = draw(seed, USERS)
    plan = plan_of(world.held, CELLS)
    sums = first_pass(world.held, plan, replicates=REPLICATES, seed=seed, threads=1)
    assert sums.replicates is not None
    out = np.empty((len(CELLS), 5))
    for place, (cell, moments) in enumerate(zip(plan.cells, sums.moments, strict=True)):
        value = float(moments.values[0])
        low, high = alone(moments, 0).interval(1.0 - LEVEL)
        drawn = percentile(cell.form.values(sums.replicates[:, cell.columns])[:, 0], LEVEL)
        out[place] = low, high, drawn.low, drawn.high, value
    return out.ravel()


@pytest.mark.parametrize("method", ["score", "bootstrap"])
@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_intervals_cover_the_truth(found: Found, cell: tuple[str, str], method: str) -> None:
    """95 %, for right propensities and bad guesses."""
    low, high = found.bounds[method][:, CELLS.index(cell)].T
    truth = found.truth[cell[1]]
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(LEVEL, abs=TOLERANCE)


def test_normalising_over_the_list_varies_less(found: Found) -> None:
    """snips(over=list) divides by the weights of what it sums, and varies less than snips over all seen pairs."""
    spread = {cell: float(np.std(found.values[:, j])) for j, cell in enumerate(CELLS)}
    assert spread["snips(over=list)", "per_user_sum"] < spread["snips", "per_user_sum"]
