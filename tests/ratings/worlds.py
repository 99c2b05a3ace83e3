"""Worlds of ratings whose truth is known: users of different taste and activity, liked pairs seen more often.

Drawn as arrays and handed to the engine directly, so that thousands of them take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from tests.inference.worlds import numbered
from unskew import estimators, metrics
from unskew.alignment.predicted import no_lists
from unskew.engine.data import EvaluationData
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Summary, Target
from unskew.estimators.summary import Histogram
from unskew.judging.answer import Answer, answer
from unskew.judging.measure import Setting, error_per_comparison, measure

Floats = npt.NDArray[np.float64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]

ITEMS = 20
METRICS = ("mae", "mse", "rmse")


@dataclass(frozen=True, eq=False)
class World:
    """One draw.

    Args:
        predicted: ``[model, row]``.
        total: ``[user, model, 0 or 1]``, the sums over all of a user's pairs of |ŷ − y| and (ŷ − y)².
    """

    indptr: Ints64
    item: Ints32
    rating: Floats
    propensity: Floats
    predicted: Floats
    total: Floats

    def truth(self, metric: str) -> Floats:
        """The models' mean over all pairs."""
        mean = self.total.sum(axis=0) / (len(self.total) * ITEMS)
        of = {"mae": mean[:, 0], "mse": mean[:, 1], "rmse": np.sqrt(mean[:, 1])}
        return np.asarray(of[metric])

    def held(self, *, relative: bool = False) -> EvaluationData:
        """The arrays that an engine works on."""
        return held_of(self.indptr, self.item, self.rating, self.propensity, list(self.predicted), ITEMS, relative)


def held_of(
    indptr: Ints64,
    item: Ints32,
    rating: Floats,
    propensity: Floats,
    predicted: Sequence[Floats],
    items: int,
    relative: bool,
) -> EvaluationData:
    """Held-out ratings and predictions of them, without lists."""
    users = numbered(len(indptr) - 1)
    return EvaluationData(
        hashes=users.hashes, indptr=indptr, item=item, value=np.ones(len(item)),
        lists=tuple(no_lists(users, numbered(items)) for _ in predicted), propensity=propensity,
        candidates=np.full(len(users), float(items)), relative=relative, rating=rating, predicted=tuple(predicted),
    )  # fmt: skip


def draw(seed: int, users: int, noise: Sequence[float] = (0.8,)) -> World:
    """A new world; ``noise`` says per model how far its predictions stray."""
    return World(*_draw(np.random.default_rng(seed), users, np.asarray(noise, dtype=np.float64)))


@njit(cache=True, nogil=True)
def _draw(rng, users, noise):  # type: ignore[no-untyped-def]
    models = len(noise)
    indptr = np.zeros(users + 1, dtype=np.int64)
    item = np.empty(users * ITEMS, dtype=np.int32)
    rating, propensity = np.empty(users * ITEMS), np.empty(users * ITEMS)
    predicted, total = np.empty((models, users * ITEMS)), np.zeros((users, models, 2))
    n = 0
    for u in range(users):
        activity, taste = np.exp(rng.uniform(-1.0, 0.5)), rng.normal()
        for i in range(ITEMS):
            liking = 2.5 + 0.7 * taste + 1.5 * (0.5 - i / ITEMS) + rng.normal()
            y = float(min(max(round(liking), 1), 5))
            p = min(max(activity * 0.08 * 1.5**y, 0.1), 0.95)
            seen = rng.random() < p
            if seen:
                item[n], rating[n], propensity[n] = i, y, p
            for j in range(models):
                guess = 3.4 + 0.6 * taste + noise[j] * rng.normal()
                error = guess - y
                total[u, j, 0] += abs(error)
                total[u, j, 1] += error * error
                if seen:
                    predicted[j, n] = guess
            n += seen
        indptr[u + 1] = n
    return indptr, item[:n].copy(), rating[:n].copy(), propensity[:n].copy(), predicted[:, :n].copy(), total


def plan_of(held: EvaluationData, asked: Sequence[str], named: Sequence[str] = METRICS) -> EvaluationPlan:
    """The library's plan for some estimators and metrics of averages over pairs."""
    wanted = tuple(metrics.make(name) for name in named)
    kept = [(estimators.make(name), Target.PER_PAIR, wanted) for name in asked]
    assert held.propensity is not None
    return make_plan(kept, Summary(pairs=Histogram.of(held.propensity)), len(held.predicted), 1)


def answered(held: EvaluationData, asked: Sequence[str], named: Sequence[str] = METRICS, replicates: int = 0) -> Answer:
    """Estimates and verdicts of one table, with propensities that are known."""
    setting = Setting(
        models=tuple("abcdefgh"[: len(held.predicted)]), propensity="known", tested=True, assumption="", level=0.95,
        replicates=replicates, seed=0, segment=None, single_clicks=0.0, support_gap=None,
    )  # fmt: skip
    measured = measure(MemoryEngine(held, threads=1), plan_of(held, asked, named), setting)
    return answer(measured, error_per_comparison([measured]))
