"""How far could wrong propensities move the difference of two models? Sums for the sensitivity analysis.

Weights are ``fixed + varying·g`` with g between 1/Γ and Γ: absolute propensities with odds wrong by at most Γ have
fixed = 1, varying = 1/P − 1; relative ones have fixed = 0, varying = 1/P. ``d`` is the difference that a row makes.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def signed_sums(
    indptr: Ints64, fixed: float, inverse: Floats, value: Floats, d: Floats, divisor: Floats, out: Floats
) -> None:
    """``out[u]`` = Σ fixed·d₊, Σ varying·d₊, Σ fixed·d₋, Σ varying·d₋, each times value over the user's divisor."""
    for u in range(len(indptr) - 1):
        for c in range(4):
            out[u, c] = 0.0
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            if d[row] == 0.0:
                continue
            g = d[row] * value[row] / divisor[u]
            side = 0 if g > 0.0 else 2
            out[u, side] += fixed * abs(g)
            out[u, side + 1] += (inverse[row] - fixed) * abs(g)


@njit(cache=True, nogil=True, error_model="numpy")
def worst_ratios(
    indptr: Ints64, fixed: float, inverse: Floats, value: Floats, d: Floats, sign: float, gammas: Floats, out: Floats
) -> None:
    """``out[u, j]`` = the least Σ weight·value·sign·d / Σ weight·value that Γ = ``gammas[j]`` allows inside the user.

    The minimum puts large weights on the smallest d: sort the distinct d, try every place for the step (a vertex of the
    linear program). Users whose d are all 0 have nothing to bend.
    """
    level, firm, bent = np.empty(64), np.empty(64), np.empty(64)
    count = len(gammas)
    shrunk, stretch = np.empty(count), np.empty(count)
    top, bottom, least = np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        shrunk[k], stretch[k] = 1.0 / gammas[k], gammas[k] - 1.0 / gammas[k]
    for u in range(len(indptr) - 1):
        first, last = indptr[u], indptr[u + 1]
        moves = False
        for row in range(first, last):
            moves |= (value[row] > 0.0) & (d[row] != 0.0)
        if not moves:
            for k in range(count):
                out[u, k] = 0.0
            continue
        if last - first > len(level):
            room = 2 * (last - first)
            level, firm, bent = np.empty(room), np.empty(room), np.empty(room)
        n = 0
        for row in range(first, last):
            if value[row] <= 0.0:
                continue
            here = sign * d[row]
            j = n
            while j > 0 and level[j - 1] > here:
                j -= 1
            if j == 0 or level[j - 1] != here:
                for i in range(n, j, -1):
                    level[i], firm[i], bent[i] = level[i - 1], firm[i - 1], bent[i - 1]
                level[j], firm[j], bent[j] = here, 0.0, 0.0
                n += 1
                j += 1
            firm[j - 1] += fixed * value[row]
            bent[j - 1] += (inverse[row] - fixed) * value[row]
        for k in range(count):  # all Γ side by side, by the same instructions
            top[k], bottom[k] = 0.0, 0.0
        for j in range(n):
            for k in range(count):
                weight = firm[j] + bent[j] * shrunk[k]
                top[k] += weight * level[j]
                bottom[k] += weight
        for k in range(count):
            least[k] = top[k] / bottom[k]
        for j in range(n):
            for k in range(count):
                top[k] += bent[j] * stretch[k] * level[j]
                bottom[k] += bent[j] * stretch[k]
                ratio = top[k] / bottom[k]
                least[k] = ratio if ratio < least[k] else least[k]
        for k in range(count):
            out[u, k] = least[k]
