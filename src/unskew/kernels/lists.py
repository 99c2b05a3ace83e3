"""Two lists of the same users, place by place."""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def differing(
    indptr: Ints64,
    item: Ints32,
    rank: Ints32,
    other_indptr: Ints64,
    other_item: Ints32,
    other_rank: Ints32,
    propensity: Floats,
    worth: Floats,
    users: Ints64,
    out: Floats,
) -> None:
    """``out`` = Σ d and Σ d²/P over the items to which a list gives more worth than the other list, by d.

    The third number is Σ worth over the list. Items without a code (−1) or without a propensity (NaN) are passed over
    in the first two.
    """
    depth, items = len(worth), len(propensity)
    other, stamp = np.zeros(items), np.full(items, -1, dtype=np.int64)
    for j in range(len(users)):
        u = users[j]
        for e in range(other_indptr[u], other_indptr[u + 1]):
            i, r = other_item[e], other_rank[e]
            if r >= depth:
                break  # ranks ascend
            if i >= 0:
                stamp[i] = j
                other[i] = worth[r]
        for e in range(indptr[u], indptr[u + 1]):
            i, r = item[e], rank[e]
            if r >= depth:
                break
            out[2] += worth[r]
            if i < 0 or not propensity[i] > 0.0:
                continue
            d = worth[r] - (other[i] if stamp[i] == j else 0.0)
            if d > 0.0:
                out[0] += d
                out[1] += d * d / propensity[i]
