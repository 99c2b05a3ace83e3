"""Could a list have shown its worth? Places that the log could never show, and hits too rare to come (MATHS §13).

    u_m = Σ_u Σ_listed λ(rank)·1{never shown} / Σ_u Σ_listed λ(rank)

the worth of a model's places on items outside both logs, without a propensity, or no candidates. And for two lists,
over the places in which they differ (d the difference of worth, κ the common rate of relevance),

    expected ess = κ (Σ d)² / Σ (d²/P)

so many equally heavy hits a list could be expected to have: below ten, that it has none says nothing. κ/P has no unit,
so relative propensities will do.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from unskew.engine.guess import Guess
from unskew.engine.held import Floats, Held
from unskew.engine.memory import walk
from unskew.kernels import sums
from unskew.kernels.lists import differing

USERS = 4_096  # whose lists are compared


def unsupported(held: Held, shown: Guess, table: Floats, threads: int | None = None) -> Floats:
    """u_m by [metric, model]; ``table`` is worth by [rank, metric], ``shown`` knows which entries could be seen."""
    columns = np.arange(table.shape[1], dtype=np.int64)

    def one(low: int, high: int) -> Floats:
        out = np.zeros((2, table.shape[1], len(held.lists)))
        for j, lists in enumerate(held.lists):
            first, last = lists.indptr[low], lists.indptr[high]
            indptr, rank = lists.indptr[low : high + 1] - first, lists.rank[first:last]
            never = (~shown.candidates(lists, low, high)).astype(np.float64)
            for part, flag in enumerate((never, np.ones_like(never))):
                x = np.zeros((high - low, table.shape[1]))
                sums.guessed(indptr, rank, flag, table, columns, x)
                out[part, :, j] = x.sum(axis=0)
        return out

    never, every = reduce(np.add, walk(held.users, one, threads))
    return np.asarray(np.divide(never, every, out=np.zeros_like(never), where=every > 0.0), dtype=np.float64)


def expected_ess(held: Held, a: int, b: int, propensity: Floats, worth: Floats, weighed: float) -> tuple[float, float]:
    """The expected effective number of hits of two lists over the places in which they differ.

    Of many users a sample will do, chosen by the hash of their ids.

    Args:
        a, b: the models.
        propensity: P of each item; NaN where there is none (such places say nothing either way).
        worth: by rank.
        weighed: weighted hits of both lists; per unit of listed worth that is κ.
    """
    users = np.arange(held.users, dtype=np.int64)
    if held.users > USERS:
        users = np.sort(np.argpartition(held.hashes, USERS)[:USERS]).astype(np.int64)
    out, (one, two) = np.zeros((2, 3)), (held.lists[a], held.lists[b])
    worth = worth[: int(np.flatnonzero(worth).max(initial=0)) + 1]  # nothing below is looked at
    differing(one.indptr, one.item, one.rank, two.indptr, two.item, two.rank, propensity, worth, users, out)
    times = held.users / max(len(users), 1)
    listed = times * float(out[:, 2].sum())
    rate = weighed / listed if listed > 0.0 else 0.0
    first, second = (times * rate * s * s / q if q > 0.0 else 0.0 for s, q, _ in out)
    return first, second
