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
import numpy.typing as npt

from unskew.engine.guess import Guess
from unskew.engine.held import Floats, Held
from unskew.engine.memory import walk
from unskew.kernels import sums
from unskew.kernels.lists import differing
from unskew.log import Recommendations


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


def expected_ess(
    a: Recommendations, b: Recommendations, propensity: Floats, worth: Floats, rate: float, users: npt.NDArray[np.int64]
) -> tuple[float, float]:
    """The expected effective number of hits of each list over the places in which the two differ.

    Args:
        propensity: P of each item; NaN where there is none (such places say nothing either way).
        worth: by rank.
        rate: κ, weighted hits per unit of listed worth.
        users: whose lists count.
    """
    out = np.zeros((2, 2))
    differing(a.indptr, a.item, a.rank, b.indptr, b.item, b.rank, propensity, worth, users, out)
    first, second = (rate * s * s / q if q > 0.0 else 0.0 for s, q in out)
    return first, second
