"""Two lists of the same users, place by place."""

from __future__ import annotations

import numpy as np

from unskew.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def differing(
    indptr_a: Ints64,
    item_a: Ints32,
    rank_a: Ints32,
    indptr_b: Ints64,
    item_b: Ints32,
    rank_b: Ints32,
    propensity: Floats,
    worth: Floats,
    users: Ints64,
    out: Floats,
) -> None:
    """``out[side]`` = Σ d and Σ d²/P over the items to which list a (side 0) or b (side 1) gives more worth, by d.

    The third number is Σ worth over the side's list. Items without a code (−1) or without a propensity (NaN) are passed
    over in the first two.
    """
    depth, items = len(worth), len(propensity)
    other, stamp = np.zeros(items), np.full(items, -1, dtype=np.int64)
    for side in range(2):
        for j in range(len(users)):
            u, mark = users[j], 2 * j + side
            first, last = (indptr_b[u], indptr_b[u + 1]) if side == 0 else (indptr_a[u], indptr_a[u + 1])
            for e in range(first, last):
                i = item_b[e] if side == 0 else item_a[e]
                r = rank_b[e] if side == 0 else rank_a[e]
                if r >= depth:
                    break  # ranks ascend
                if i >= 0:
                    stamp[i] = mark
                    other[i] = worth[r]
            first, last = (indptr_a[u], indptr_a[u + 1]) if side == 0 else (indptr_b[u], indptr_b[u + 1])
            for e in range(first, last):
                i = item_a[e] if side == 0 else item_b[e]
                r = rank_a[e] if side == 0 else rank_b[e]
                if r >= depth:
                    break
                out[side, 2] += worth[r]
                if i < 0 or not propensity[i] > 0.0:
                    continue
                d = worth[r] - (other[i] if stamp[i] == mark else 0.0)
                if d > 0.0:
                    out[side, 0] += d
                    out[side, 1] += d * d / propensity[i]
