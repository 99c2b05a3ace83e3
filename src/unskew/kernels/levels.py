"""What inverse propensities add up to, user by user: each of two halves of the users on items that the other saw.

``half`` is 0 or 1 for every user, ``counts[h, i]`` how many users of half h have item i, ``seen[h, i]`` whether any
does. Where all items count, every entry of ``seen`` is true.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def count_halves(indptr, item, half, counts):  # type: ignore[no-untyped-def]
    """Count how often each half of the users has each item."""
    for u in range(len(half)):
        for r in range(indptr[u], indptr[u + 1]):
            counts[half[u], item[r]] += 1


@njit(cache=True, nogil=True)
def count_in_other(indptr, item, half, seen, out):  # type: ignore[no-untyped-def]
    """Take off ``out`` each user's rows on items that the other half has."""
    for u in range(len(half)):
        for r in range(indptr[u], indptr[u + 1]):
            if seen[1 - half[u], item[r]]:
                out[u] -= 1.0


@njit(cache=True, nogil=True)
def inverse_sums(indptr, item, p, gain, half, seen, sums):  # type: ignore[no-untyped-def]
    """Write each user's Σ w into ``sums``, w = gain/p (1/p where ``gain`` is empty), over items of the other half.

    Gives back Σ w, Σ w² and Σ (1 − p) w² over everybody.
    """
    graded = len(gain) > 0
    total, square, design = 0.0, 0.0, 0.0
    for u in range(len(half)):
        own = 0.0
        for r in range(indptr[u], indptr[u + 1]):
            if seen[1 - half[u], item[r]]:
                w = (gain[r] if graded else 1.0) / p[r]
                own += w
                square += w * w
                design += (1.0 - p[r]) * w * w
        sums[u] = own
        total += own
    return total, square, design


@njit(cache=True, nogil=True)
def group_sums(indptr, item, p, half, group, low, high, out):  # type: ignore[no-untyped-def]
    """Add 1/p of each row to ``out[u − low, g]``, g = ``group[half of u, item]``; −1 belongs to no group.

    Gives back per group the number of rows, Σ w, Σ w², Σ (1 − p) w² and Σ w³, w = 1/p.
    """
    sums = np.zeros((5, out.shape[1]))
    for u in range(low, high):
        for r in range(indptr[u], indptr[u + 1]):
            g = group[half[u], item[r]]
            if g >= 0:
                w = 1.0 / p[r]
                out[u - low, g] += w
                sums[0, g] += 1.0
                sums[1, g] += w
                sums[2, g] += w * w
                sums[3, g] += (1.0 - p[r]) * w * w
                sums[4, g] += w * w * w
    return sums


@njit(cache=True, nogil=True)
def group_counts(indptr, item, half, group, low, high, out):  # type: ignore[no-untyped-def]
    """Take each user's rows off ``out[u − low, g]``."""
    for u in range(low, high):
        for r in range(indptr[u], indptr[u + 1]):
            g = group[half[u], item[r]]
            if g >= 0:
                out[u - low, g] -= 1.0


@njit(cache=True, nogil=True)
def item_totals(indptr, item, p, half, low, high, inverse, noise):  # type: ignore[no-untyped-def]
    """By half of the users and item: the least and largest p, Σ 1/p and Σ (1 − p)/p² over the rows."""
    for u in range(len(half)):
        h = half[u]
        for r in range(indptr[u], indptr[u + 1]):
            i = item[r]
            low[h, i] = min(low[h, i], p[r])
            high[h, i] = max(high[h, i], p[r])
            inverse[h, i] += 1.0 / p[r]
            noise[h, i] += (1.0 - p[r]) / (p[r] * p[r])
