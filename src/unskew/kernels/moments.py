"""Moments of per-user columns: everything that estimates, intervals and verdicts need, as sums that merge.

A block of users is a matrix ``x[user, column]``; a *cell* (one metric × estimator × target) is a set of its columns.
Cross products are centred inside the block, so that merging (Chan, Golub & LeVeque 1983) loses no digits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Ints64 = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def cell_moments(
    x: Floats, columns: Ints64, own: Ints64, active: Ints64, mean: Floats, cross: Floats, differ: Ints64
) -> None:
    """Mean, centred cross products and counts of one cell.

    ``own[kind, model]`` are the places in ``columns`` that belong to one model. ``active[0]`` counts users with a
    column ≠ 0, ``differ[a, b]`` users for whom models a and b differ in any kind.
    """
    width = len(columns)
    kinds, models = own.shape
    users = len(x)
    for c in range(width):
        total = 0.0
        for u in range(users):
            total += x[u, columns[c]]
        mean[c] = total / users
    centred = np.empty(width)
    for u in range(users):
        present = False
        for c in range(width):
            value = x[u, columns[c]]
            present = present or value != 0.0
            centred[c] = value - mean[c]
        active[0] += present
        for c in range(width):
            for d in range(c + 1):
                cross[c, d] += centred[c] * centred[d]
        for a in range(models):
            for b in range(a):
                for kind in range(kinds):
                    if x[u, columns[own[kind, a]]] != x[u, columns[own[kind, b]]]:
                        differ[a, b] += 1
                        break
    for c in range(width):
        for d in range(c):
            cross[d, c] = cross[c, d]
    for a in range(models):
        for b in range(a):
            differ[b, a] = differ[a, b]


@njit(cache=True, nogil=True)
def tally(indptr: Ints64, weight: Floats, value: Floats, divisor: Floats, bins: Ints64, out: Floats) -> None:
    """Σ|v|, Σv², max|v|, pairs with v ≠ 0, v = weight · value / divisor; ``bins`` counts weights by powers of √2."""
    half = len(bins) // 2
    for u in range(len(indptr) - 1):
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            v = abs(weight[row] * value[row] / divisor[u])
            if v > 0.0:
                out[0] += v
                out[1] += v * v
                out[2] = max(out[2], v)
                out[3] += 1.0
                place = half + int(np.floor(2.0 * np.log2(abs(weight[row]))))
                bins[min(max(place, 0), len(bins) - 1)] += 1
