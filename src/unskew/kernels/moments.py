"""Moments of per-user columns: everything that estimates, intervals and verdicts need, as sums that merge.

A block of users is a matrix ``x[user, column]``; a *cell* (one metric × estimator × target) is a set of its columns.
Cross products are centred inside the block, so that merging (Chan, Golub & LeVeque 1983) loses no digits.
"""

from __future__ import annotations

import math

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

ROOT_HALF = math.sqrt(0.5)
ROUNDING = 1e-13  # of a user's largest column: sums in another order differ by less


@njit(cache=True, nogil=True)
def cell_moments(
    x: Floats,
    columns: Ints64,
    own: Ints64,
    scores: int,
    active: Ints64,
    mean: Floats,
    cross: Floats,
    differ: Ints64,
    wins: Floats,
) -> None:
    """Mean, centred cross products and counts of one cell.

    ``own[kind, model]`` are the places in ``columns`` that belong to one model; the first ``scores`` kinds add up to
    the model's score of a user. ``active[0]`` counts users with a column ≠ 0, ``differ[a, b]`` users for whom models
    a and b differ in any kind by more than rounding (lists of the same items in another order have the same sum of
    guesses, but for the last digit), ``differ[a, a]`` users with a score ≠ 0.

    With d the score of model a less that of model b, ``wins[:, a, b]`` holds Σ d and Σ d² over the users with d > 0,
    and Σ d⁴ over all users; ``wins[:, a, a]`` Σ |score|, Σ score² and Σ score⁴.
    """
    width = len(columns)
    kinds, models = own.shape
    users = len(x)
    for c in range(width):
        total = 0.0
        for u in range(users):
            total += x[u, columns[c]]
        mean[c] = total / users
    centred, score = np.empty(width), np.empty(models)
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
        noise = 0.0
        for a in range(models):
            score[a] = 0.0
            for kind in range(scores):
                score[a] += x[u, columns[own[kind, a]]]
            for kind in range(kinds):
                noise = max(noise, ROUNDING * abs(x[u, columns[own[kind, a]]]))
        for a in range(models):
            square = score[a] * score[a]
            differ[a, a] += square > 0.0
            wins[0, a, a] += abs(score[a])
            wins[1, a, a] += square
            wins[2, a, a] += square * square
            for b in range(a):
                for kind in range(kinds):
                    if not abs(x[u, columns[own[kind, a]]] - x[u, columns[own[kind, b]]]) <= noise:
                        differ[a, b] += 1
                        break
                d = score[a] - score[b]
                if d == 0.0:
                    continue
                square = d * d
                wins[2, a, b] += square * square
                if d > 0.0:
                    wins[0, a, b] += d
                    wins[1, a, b] += square
                else:
                    wins[0, b, a] -= d
                    wins[1, b, a] += square
    for c in range(width):
        for d in range(c):
            cross[d, c] = cross[c, d]
    for a in range(models):
        for b in range(a):
            differ[b, a] = differ[a, b]
            wins[2, b, a] = wins[2, a, b]


@njit(cache=True, nogil=True)
def tally(indptr: Ints64, weight: Floats, value: Floats, divisor: Floats, bins: Ints64, out: Floats) -> None:
    """Σ|v|, Σv², max|v|, pairs with v ≠ 0, v = weight · value / divisor; ``bins`` counts weights by powers of √2."""
    half = len(bins) // 2
    total, squares, largest, pairs = 0.0, 0.0, 0.0, 0
    for u in range(len(indptr) - 1):
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            v = abs(weight[row] * value[row] / divisor[u])
            if v > 0.0:
                total += v
                squares += v * v
                largest = max(largest, v)
                pairs += 1
                mantissa, exponent = math.frexp(abs(weight[row]))  # ⌊2 log₂ w⌋ without a logarithm
                place = half + 2 * exponent - (1 if mantissa >= ROOT_HALF else 2)
                bins[min(max(place, 0), len(bins) - 1)] += 1
    out[0] += total
    out[1] += squares
    out[2] = max(out[2], largest)
    out[3] += pairs


@njit(cache=True, nogil=True)
def carried(indptr: Ints64, weight: Floats, rank: Ints32, table: Floats, divisor: Floats, out: Floats) -> None:
    """Add to ``out[metric]`` Σ|v|, Σv², max|v| and the number of rows with v ≠ 0, v = weight · worth / divisor.

    These are the rows that carry a number: hits, not all that was seen.
    """
    depth, metrics = table.shape
    for u in range(len(indptr) - 1):
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            r = rank[row]
            if r <= 0 or r >= depth or weight[row] == 0.0:
                continue
            for t in range(metrics):
                v = abs(weight[row] * table[r, t] / divisor[u])
                if v > 0.0:
                    out[t, 0] += v
                    out[t, 1] += v * v
                    out[t, 2] = max(out[t, 2], v)
                    out[t, 3] += 1.0
