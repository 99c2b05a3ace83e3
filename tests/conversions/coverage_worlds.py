"""Worlds of users with tastes, lists, exposure and outcomes, all new in each; the truth is that of 400,000 users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from tests.inference.worlds import numbered
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.log import Recommendations

Floats = npt.NDArray[np.float64]

POPULATION, LEVEL = 400_000, 0.95
ITEMS, K = 20, 5
POOLED = "per_user_sum(normalised=pooled)"


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
        hashes=ids.hashes, indptr=indptr, item=item, value=value,
        lists=(Recommendations(ids, items, starts, listed.ravel(), rank),), propensity=propensity,
        candidates=np.full(users, float(ITEMS)), relative=False, q=np.ascontiguousarray(q[user, item]),
        q_total=np.ascontiguousarray(q.sum(axis=1)),
        listed=ListedPairs(np.ones(ITEMS, dtype=np.bool_), predict=lambda u, i: np.asarray(q[u, i])),
    )  # fmt: skip
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
