"""Moments of per-user columns: everything that estimates, intervals and verdicts need, as sums that merge.

A block of users is a matrix ``x[column, user]``; a *cell* (one metric × estimator × target) is a set of its columns.
Cross products are centred inside the block, so that merging (Chan, Golub & LeVeque 1983) loses no digits.
"""

from __future__ import annotations

import math

import numpy as np

from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.compiled import njit

MANTISSA = 2**52 - 1  # the bits of a number behind its exponent
ROOT_TWO = int(np.float64(math.sqrt(2.0)).view(np.int64)) & MANTISSA
ROUNDING = 1e-13  # of a user's largest column: sums in another order differ by less
PART = 512  # users whose columns are looked at together: they stay in the first-level cache
ORDER = {"reassoc"}  # sums may be taken in any order, several users by one instruction; nothing else may change


@njit(cache=True, nogil=True, fastmath=ORDER)
def _add_wins(
    part: Floats, score: Floats, noise: Floats, own: Ints64, a: int, size: int, differ: Ints64, wins: Floats
) -> None:
    """Add what ``cell_moments`` says of model a, and of model a against those before it, over some users."""
    total, squares, fourth, some = 0.0, 0.0, 0.0, 0
    for u in range(size):
        square = score[a, u] * score[a, u]
        some += square > 0.0
        total += abs(score[a, u])
        squares += square
        fourth += square * square
    wins[0, a, a] += total
    wins[1, a, a] += squares
    wins[2, a, a] += fourth
    differ[a, a] += some
    unlike = np.empty(size, dtype=np.bool_)
    for b in range(a):
        unlike[:] = False
        for kind in range(len(own)):
            mine, other = part[own[kind, a]], part[own[kind, b]]
            for u in range(size):
                unlike[u] |= not abs(mine[u] - other[u]) <= noise[u]
        some = 0
        for u in range(size):
            some += unlike[u]
        differ[a, b] += some
        ours, theirs, our_squares, their_squares, fourth = 0.0, 0.0, 0.0, 0.0, 0.0
        for u in range(size):  # without a branch: who is ahead cannot be foreseen
            d = score[a, u] - score[b, u]
            ahead, behind = max(d, 0.0), max(-d, 0.0)
            square = d * d
            ours += ahead
            theirs += behind
            our_squares += ahead * ahead
            their_squares += behind * behind
            fourth += square * square
        wins[0, a, b] += ours
        wins[0, b, a] += theirs
        wins[1, a, b] += our_squares
        wins[1, b, a] += their_squares
        wins[2, a, b] += fourth


@njit(cache=True, nogil=True, fastmath=ORDER)
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
    """Mean, centred cross products and counts of cells alike; ``x[column, user]``, all others are by cell first.

    ``own[kind, model]`` are the places in ``columns`` that belong to one model; the first ``scores`` kinds add up to
    the model's score of a user. ``active`` counts users with a column ≠ 0, ``differ[a, b]`` users for whom models
    a and b differ in any kind by more than rounding (lists of the same items in another order have the same sum of
    guesses, but for the last digit), ``differ[a, a]`` users with a score ≠ 0.

    With d the score of model a less that of model b, ``wins[:, a, b]`` holds Σ d and Σ d² over the users with d > 0,
    and Σ d⁴ over all users; ``wins[:, a, a]`` Σ |score|, Σ score² and Σ score⁴.
    """
    cells, width = columns.shape
    kinds, models = own.shape
    users = x.shape[1]
    part, score, noise = np.empty((width, PART)), np.empty((models, PART)), np.empty(PART)
    present = np.empty(PART, dtype=np.bool_)
    for cell in range(cells):
        for c in range(width):
            total = 0.0
            for u in range(users):
                total += x[columns[cell, c], u]
            mean[cell, c] = total / users
        for low in range(0, users, PART):
            size = min(PART, users - low)
            present[:] = False
            for c in range(width):
                column = x[columns[cell, c], low : low + size]
                for u in range(size):
                    part[c, u] = column[u]
                    present[u] |= column[u] != 0.0
            some = 0
            for u in range(size):
                some += present[u]
            active[cell] += some
            noise[:] = 0.0
            score[:] = 0.0
            for a in range(models):
                for kind in range(kinds):
                    mine = part[own[kind, a]]
                    for u in range(size):
                        noise[u] = max(noise[u], ROUNDING * abs(mine[u]))
                    if kind < scores:
                        for u in range(size):
                            score[a, u] += mine[u]
            for a in range(models):
                _add_wins(part, score, noise, own, a, size, differ[cell], wins[cell])
            for c in range(width):
                centre = mean[cell, c]
                for u in range(size):
                    part[c, u] -= centre
            for c in range(width):
                for d in range(c + 1):
                    total = 0.0
                    for u in range(size):
                        total += part[c, u] * part[d, u]
                    cross[cell, c, d] += total
        for c in range(width):
            for d in range(c):
                cross[cell, d, c] = cross[cell, c, d]
        for a in range(models):
            for b in range(a):
                differ[cell, b, a] = differ[cell, a, b]
                wins[cell, 2, b, a] = wins[cell, 2, a, b]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ORDER)
def tally(indptr: Ints64, weight: Floats, value: Floats, divisor: Floats, bins: Ints64, out: Floats) -> None:
    """Σ|v|, Σv², max|v|, pairs with v ≠ 0, v = weight · value / divisor; ``bins`` counts weights by powers of √2."""
    rows = indptr[-1]
    v = np.empty(rows)
    for u in range(len(indptr) - 1):
        for row in range(indptr[u], indptr[u + 1]):
            v[row] = divisor[u]
    total, squares, largest, pairs = 0.0, 0.0, 0.0, 0
    for row in range(rows):  # several rows by one instruction
        counted = abs(weight[row] * value[row])
        v[row] = counted / v[row] if counted > 0.0 and v[row] > 0.0 else 0.0
        total += v[row]
        squares += v[row] * v[row]
        pairs += v[row] > 0.0
    half, last = len(bins) // 2, len(bins) - 1
    counts, bits = np.zeros(len(bins) + 1, dtype=np.int64), weight.view(np.int64)
    for row in range(rows):  # ⌊2 log₂ w⌋ without a logarithm: the exponent's bits, and whether the mantissa is ≥ √2
        exponent, mantissa = (bits[row] >> 52 & 0x7FF) - 1023, bits[row] & MANTISSA
        place = min(max(half + 2 * exponent + (mantissa >= ROOT_TWO), 0), last)
        counts[np.uintp(place if v[row] > 0.0 else last + 1)] += 1
        largest = max(largest, v[row])
    for place in range(len(bins)):
        bins[place] += counts[place]
    out[0] += total
    out[1] += squares
    out[2] = max(out[2], largest)
    out[3] += pairs
