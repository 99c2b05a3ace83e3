"""Sums over all candidates of a user of what a logistic model says of them, under several tilts in one pass.

A tilt multiplies the odds of every pair by exp(κz − δ), so e^−η is computed once per pair and one division per tilt is
left. Every ``step``-th item is looked at, from a start of the user's own, and counts ``step`` times.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

LIMIT = 30.0  # of log-odds


@njit(cache=True, nogil=True, error_model="numpy")
def candidate_totals(
    low: int,
    high: int,
    items: Ints32,
    gone_start: Ints64,
    gone: Ints32,
    of_user: Floats,
    of_item: Floats,
    user_factors: Floats,
    item_factors: Floats,
    item: Floats,
    offset: float,
    affinity: float,
    against: Floats,
    start: Ints64,
    step: int,
    out: Floats,
) -> None:
    """``out[u − low, t]`` = Σ q, Σ v, Σ v·(two item features), Σ v·a over the user's candidates; v = q(1 − q).

    η = of_user[u] + of_item[i] + affinity · a,  a = offset + the product of factors;  q = 1/(1 + e^−η against[i, t]).
    Candidates are ``items`` without the user's ``gone`` ones.
    """
    tilts, rank = against.shape[1], user_factors.shape[1]
    stamp = np.full(len(of_item), -1, dtype=np.int64)
    total, slope = np.empty(tilts), np.empty(tilts)
    first, second, last = np.empty(tilts), np.empty(tilts), np.empty(tilts)
    for u in range(low, high):
        for place in range(gone_start[u], gone_start[u + 1]):
            stamp[gone[place]] = u
        total[:] = 0.0
        slope[:] = 0.0
        first[:] = 0.0
        second[:] = 0.0
        last[:] = 0.0
        for place in range(start[u], len(items), step):
            i = items[place]
            if stamp[i] == u:
                continue
            a = offset
            for r in range(rank):
                a += user_factors[u, r] * item_factors[i, r]
            eta = of_user[u] + of_item[i] + affinity * a
            e = np.exp(-min(max(eta, -LIMIT), LIMIT))
            x, y = item[i, 0], item[i, 1]
            for t in range(tilts):  # several tilts by one instruction
                q = 1.0 / (1.0 + e * against[i, t])
                v = q - q * q
                total[t] += q
                slope[t] += v
                first[t] += v * x
                second[t] += v * y
                last[t] += v * a
        for t in range(tilts):
            out[u - low, t, 0] = step * total[t]
            out[u - low, t, 1] = step * slope[t]
            out[u - low, t, 2] = step * first[t]
            out[u - low, t, 3] = step * second[t]
            out[u - low, t, 4] = step * last[t]
