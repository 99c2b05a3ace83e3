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
PART = 512  # users whose columns are looked at together: they stay in the first-level cache


@njit(cache=True, nogil=True)
def _add_wins(part: Floats, score: Floats, own: Ints64, a: int, size: int, differ: Ints64, wins: Floats) -> None:
    """Add what ``cell_moments`` says of model a, and of model a against those before it, over some users."""
    kinds = len(own)
    total, squares, fourth, some = wins[0, a, a], wins[1, a, a], wins[2, a, a], 0
    for u in range(size):
        square = score[a, u] * score[a, u]
        some += square > 0.0
        total += abs(score[a, u])
        squares += square
        fourth += square * square
    wins[0, a, a], wins[1, a, a], wins[2, a, a] = total, squares, fourth
    differ[a, a] += some
    for b in range(a):
        some = 0
        for u in range(size):
            unlike = False
            for kind in range(kinds):
                unlike |= part[own[kind, a], u] != part[own[kind, b], u]
            some += unlike
        differ[a, b] += some
        ours, theirs, our_squares, their_squares = wins[0, a, b], wins[0, b, a], wins[1, a, b], wins[1, b, a]
        fourth = wins[2, a, b]
        for u in range(size):  # without a branch: who is ahead cannot be foreseen
            d = score[a, u] - score[b, u]
            ahead, behind = max(d, 0.0), max(-d, 0.0)
            square = d * d
            ours += ahead
            theirs += behind
            our_squares += ahead * ahead
            their_squares += behind * behind
            fourth += square * square
        wins[0, a, b], wins[0, b, a], wins[1, a, b], wins[1, b, a] = ours, theirs, our_squares, their_squares
        wins[2, a, b] = fourth


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
    a and b differ in any kind, ``differ[a, a]`` users with a score ≠ 0.

    With d the score of model a less that of model b, ``wins[:, a, b]`` holds Σ d and Σ d² over the users with d > 0,
    and Σ d⁴ over all users; ``wins[:, a, a]`` Σ |score|, Σ score² and Σ score⁴.
    """
    width = len(columns)
    models, users = own.shape[1], len(x)
    part, score = np.empty((width, PART)), np.empty((models, PART))
    for c in range(width):
        total = 0.0
        for u in range(users):
            total += x[u, columns[c]]
        mean[c] = total / users
    for low in range(0, users, PART):
        size = min(PART, users - low)
        for u in range(size):
            present = False
            for c in range(width):
                value = x[low + u, columns[c]]
                present |= value != 0.0
                part[c, u] = value
            active[0] += present
        for a in range(models):
            for u in range(size):
                score[a, u] = 0.0
            for kind in range(scores):
                for u in range(size):
                    score[a, u] += part[own[kind, a], u]
        for a in range(models):
            _add_wins(part, score, own, a, size, differ, wins)
        for c in range(width):
            for u in range(size):
                part[c, u] -= mean[c]
        for c in range(width):
            for d in range(c + 1):
                total = cross[c, d]
                for u in range(size):
                    total += part[c, u] * part[d, u]
                cross[c, d] = total
    for c in range(width):
        for d in range(c):
            cross[d, c] = cross[c, d]
    for a in range(models):
        for b in range(a):
            differ[b, a] = differ[a, b]
            wins[2, b, a] = wins[2, a, b]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def carried(indptr: Ints64, weight: Floats, rank: Ints32, table: Floats, divisor: Floats, out: Floats) -> None:
    """Add to ``out[metric]`` Σ|v|, Σv², max|v| and the number of rows with v ≠ 0, v = weight · worth / divisor.

    These are the rows that carry a number: hits, not all that was seen.
    """
    depth, metrics = table.shape
    total, squares, largest, rows = np.zeros(metrics), np.zeros(metrics), np.zeros(metrics), np.zeros(metrics)
    for u in range(len(indptr) - 1):
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            r = rank[row]
            if r <= 0 or r >= depth or weight[row] == 0.0:
                continue
            for t in range(metrics):  # all metrics side by side, by the same instructions
                v = abs(weight[row] * table[r, t] / divisor[u])
                total[t] += v
                squares[t] += v * v
                largest[t] = v if v > largest[t] else largest[t]
                rows[t] += 1.0 if v > 0.0 else 0.0
    for t in range(metrics):
        out[t, 0] += total[t]
        out[t, 1] += squares[t]
        out[t, 2] = max(out[t, 2], largest[t])
        out[t, 3] += rows[t]
