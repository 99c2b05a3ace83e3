"""How far could wrong propensities move the difference of two models? Sums for the sensitivity analysis.

Weights are ``fixed + varying·g`` with g between 1/Γ and Γ: absolute propensities with odds wrong by at most Γ have
fixed = 1, varying = 1/P − 1; relative ones have fixed = 0, varying = 1/P. ``d`` is the difference that a row makes.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.compiled import njit

FEW = 64  # rows that move, up to which equal ones are not worth merging


@njit(cache=True, nogil=True)
def signed_sums(
    indptr: Ints64, fixed: float, inverse: Floats, value: Floats, d: Floats, divisor: Floats, out: Floats
) -> None:
    """``out[:, u]`` = Σ fixed·d₊, Σ varying·d₊, Σ fixed·d₋, Σ varying·d₋, each times value over the user's divisor."""
    for u in range(len(indptr) - 1):
        for c in range(4):
            out[c, u] = 0.0
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            if d[row] == 0.0:
                continue
            g = d[row] * value[row] / divisor[u]
            side = 0 if g > 0.0 else 2
            out[side, u] += fixed * abs(g)
            out[side + 1, u] += (inverse[row] - fixed) * abs(g)


@njit(cache=True, nogil=True)
def _merge(level, bent, n, here, more):  # type: ignore[no-untyped-def]
    """Put a level in its place among the first n, which are distinct and ascend; how many there are then."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if level[middle] < here:
            low = middle + 1
        else:
            high = middle
    if low < n and level[low] == here:
        bent[low] += more
        return n
    for j in range(n, low, -1):
        level[j], bent[j] = level[j - 1], bent[j - 1]
    level[low], bent[low] = here, more
    return n + 1


@njit(cache=True, nogil=True, error_model="numpy")
def worst_ratios(
    indptr: Ints64, fixed: float, inverse: Floats, value: Floats, d: Floats, sign: float, gammas: Floats, out: Floats
) -> None:
    """``out[j, u]`` = the least Σ weight·value·sign·d / Σ weight·value that Γ = ``gammas[j]`` allows inside the user.

    The minimum puts large weights on the rows whose d lie below it, so that with d in order

        (Σ fixed·d + Σ varying·d/Γ + (Γ − 1/Γ) Σ varying·d of the first ones) / (the same without d)

    is least where the next d is no longer below. It falls as Γ grows (``gammas`` ascend), and fewer d are below then.
    Users whose d are all 0 have nothing to bend.
    """
    shrunk, stretch = 1.0 / gammas, gammas - 1.0 / gammas
    longest = 0
    for u in range(len(indptr) - 1):
        longest = max(longest, indptr[u + 1] - indptr[u])
    rows, level, bent = np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1), np.empty(longest + 1)
    above, below = np.empty(longest + 2), np.empty(longest + 2)  # Σ varying·d and Σ varying of the first ones
    for u in range(len(indptr) - 1):
        moved, n, firm, firm_sum, rest = 0, 1, 0.0, 0.0, 0.0
        for row in range(indptr[u], indptr[u + 1]):  # without a branch: which rows move cannot be foreseen
            worth = max(value[row], 0.0)
            moves = (d[row] != 0.0) & (worth > 0.0)
            rows[np.uintp(moved)] = row
            moved += moves
            firm += fixed * worth
            more = (inverse[row] - fixed) * worth
            rest += 0.0 if moves else more
        level[0], bent[0] = 0.0, rest
        for i in range(moved if moved > FEW else 0):
            row = rows[i]
            here = sign * d[row]
            firm_sum += fixed * value[row] * here
            n = _merge(level, bent, n, here, (inverse[row] - fixed) * value[row])
        for i in range(moved if moved <= FEW else 0):
            row = rows[i]
            here = sign * d[row]
            firm_sum += fixed * value[row] * here
            j = n
            while j > 0 and level[j - 1] > here:
                level[j], bent[j] = level[j - 1], bent[j - 1]
                j -= 1
            level[j], bent[j] = here, (inverse[row] - fixed) * value[row]
            n += 1
        all_above, all_below = 0.0, 0.0
        for j in range(n):
            above[j], below[j] = all_above, all_below
            all_above += bent[j] * level[j]
            all_below += bent[j]
        above[n], below[n] = all_above, all_below
        j = n
        for k in range(len(gammas)):
            least, divisor = firm_sum + all_above * shrunk[k], firm + all_below * shrunk[k]
            top, bottom = least + stretch[k] * above[j], divisor + stretch[k] * below[j]
            while j > 0 and level[j - 1] * bottom >= top:
                j -= 1
                top, bottom = least + stretch[k] * above[j], divisor + stretch[k] * below[j]
            out[k, u] = top / bottom if moved > 0 else 0.0
