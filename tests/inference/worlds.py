"""Small worlds with a known population: every draw brings new users, preferences, lists and exposure.

Items differ in popularity. Popular items are shown more often *and* stand higher in the lists, so what was seen
flatters every list: naive estimates are too high. Users differ in activity (how much they are shown), in breadth (how
many items are relevant to them, often none) and in taste. Rows are all seen pairs, zeros included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from numba import njit

from unskew import estimators, metrics
from unskew.engine.data import EvaluationData
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Estimator, Summary, Target
from unskew.estimators.summary import Histogram
from unskew.judging import answer as answers
from unskew.judging.measure import Setting, error_per_comparison, measure
from unskew.log import Ids, Recommendations

Floats = npt.NDArray[np.float64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]
T = TypeVar("T")

ITEMS = 24
K = 5
METRIC = "dcg@5"


@dataclass(frozen=True, eq=False)
class World:
    """One draw.

    Args:
        relevant: n_u of each user.
        listed: ``[user, model, place]``, the item at rank place + 1.
        gain: ``[user, model]``, Σ worth(rank) over all relevant items, seen or not: what a perfect log would show.
    """

    indptr: Ints64
    item: Ints32
    value: Floats
    propensity: Floats
    relevant: Floats
    listed: Ints32
    gain: Floats

    @property
    def users(self) -> int:
        return len(self.relevant)

    def truth(self, target: Target) -> Floats:
        """The models' values of a target if everything were seen."""
        if target is Target.PER_USER:
            some = self.relevant > 0.0
            return np.asarray((self.gain[some] / self.relevant[some, None]).mean(axis=0))
        if target is Target.POOLED:
            return np.asarray(self.gain.sum(axis=0) / self.relevant.sum())
        return np.asarray(self.gain.mean(axis=0))

    def held(self, *, relative: bool = False) -> EvaluationData:
        """The arrays that an engine works on."""
        users, models, places = self.listed.shape
        ids, items = numbered(users), numbered(ITEMS)
        starts = np.arange(users + 1, dtype=np.int64) * places
        rank = np.tile(np.arange(1, places + 1, dtype=np.int32), users)
        lists = tuple(
            Recommendations(ids, items, starts, np.ascontiguousarray(self.listed[:, j]).ravel(), rank)
            for j in range(models)
        )
        return EvaluationData(
            hashes=ids.hashes, indptr=self.indptr, item=self.item, value=self.value, lists=lists,
            propensity=self.propensity, relevant=self.relevant, candidates=np.full(users, float(ITEMS)),
            relative=relative,
        )  # fmt: skip


@cache
def numbered(count: int) -> Ids:
    """The ids 0 … count − 1."""
    return Ids(pl.Series("id", np.arange(count)))


def draw(seed: int, users: int, quality: Sequence[float]) -> World:
    """A new world; ``quality`` says per model how strongly its scores follow relevance (0 = not at all)."""
    return World(*_draw(np.random.default_rng(seed), users, np.asarray(quality, dtype=np.float64)))


@njit(cache=True, nogil=True)
def _draw(rng, users, quality):  # type: ignore[no-untyped-def]
    models = len(quality)
    indptr = np.zeros(users + 1, dtype=np.int64)
    item = np.empty(users * ITEMS, dtype=np.int32)
    value, propensity = np.empty(users * ITEMS), np.empty(users * ITEMS)
    relevant, gain = np.zeros(users), np.zeros((users, models))
    listed = np.empty((users, models, K), dtype=np.int32)
    likes = np.empty(ITEMS, dtype=np.bool_)
    best = np.empty(K)
    popular = np.arange(1.0, ITEMS + 1.0) ** -0.7
    worth = 1.0 / np.log2(np.arange(2.0, K + 2.0))
    pull = 0.5 * np.log(popular)
    n = 0
    for u in range(users):
        activity = np.exp(rng.uniform(-1.0, 0.6))
        breadth = 0.8 * rng.random() ** 2
        niche = rng.random()
        for i in range(ITEMS):
            likes[i] = rng.random() < breadth * (niche + (1.0 - niche) * popular[i])
            relevant[u] += likes[i]
            p = min(max(activity * popular[i], 0.1), 0.95)
            if rng.random() < p:
                item[n], value[n], propensity[n] = i, likes[i], p
                n += 1
        indptr[u + 1] = n
        for j in range(models):
            best[:] = -np.inf
            for i in range(ITEMS):
                score = pull[i] + quality[j] * likes[i] + 2.0 * rng.random()
                place = K
                while place > 0 and best[place - 1] < score:
                    place -= 1
                    if place < K - 1:
                        best[place + 1], listed[u, j, place + 1] = best[place], listed[u, j, place]
                if place < K:
                    best[place], listed[u, j, place] = score, i
            for place in range(K):
                if likes[listed[u, j, place]]:
                    gain[u, j] += worth[place]
    return indptr, item[:n].copy(), value[:n].copy(), propensity[:n].copy(), relevant, listed, gain


def plan_of(held: EvaluationData, cells: Sequence[tuple[str | Estimator, str]], metric: str = METRIC) -> EvaluationPlan:
    """The library's plan for some (estimator, target), with strata and clips taken from this log."""
    asked = [(estimators.make(e), Target.make(t), (metrics.make(metric),)) for e, t in cells]
    assert held.propensity is not None
    summary = Summary(pairs=Histogram.of(held.propensity[held.value > 0.0]))
    return make_plan(asked, summary, len(held.lists), K)


def setting(
    models: int,
    *,
    replicates: int = 0,
    seed: int = 0,
    level: float = 0.95,
    single_clicks: float = 0.0,
    support_gap: float | None = None,
) -> Setting:
    """The setting of an answer about models a, b, c, …"""
    return Setting(
        models=tuple("abcdefghijklmnop"[:models]), propensity="known", tested=True, assumption="", level=level,
        replicates=replicates, seed=seed, segment=None, single_clicks=single_clicks, support_gap=support_gap,
    )  # fmt: skip


def answer(held: EvaluationData, plan: EvaluationPlan, chosen: Setting) -> answers.Answer:
    """The answer of one table, at the simultaneous level of its own pairs."""
    measured = measure(MemoryEngine(held, threads=1), plan, chosen)
    return answers.answer(measured, error_per_comparison([measured]))


def many(one: Callable[[int], T], seeds: Sequence[int]) -> list[T]:
    """``one`` of every seed, two at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(one, seeds))
