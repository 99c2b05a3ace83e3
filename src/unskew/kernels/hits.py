"""Sums over each user's hits (the held-out items that a list holds): few, and looked up once for all that is summed.

Hits of user u are ``starts[u] … starts[u + 1] − 1``, the best rank first: ``row`` is the row of each (rows are grouped
by user), ``place`` its rank, ``precision`` the share of relevant items among the ranks down to it. ``weight`` is by
row, an estimator's weight times the value; ``table[rank, metric]`` is what a rank is worth.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

LANES = 4  # metrics that are summed by the same instruction
PART = 64  # users whose sums are divided together


@njit(cache=True, nogil=True)
def sort_hits(indptr: Ints64, rank: Ints32, starts: Ints64, row: Ints64, place: Ints64) -> None:
    """Find the rows with a rank, the best of each user first; the last two have room for one more than there are rows.

    Where lists are at hand, ``ranks.find_listed`` finds them in this order.
    """
    users, n = len(indptr) - 1, 0
    for u in range(users):
        first = n
        starts[u] = n
        for i in range(indptr[u], indptr[u + 1]):  # without a branch: whether an item is listed cannot be foreseen
            row[np.uintp(n)] = (np.int64(rank[i]) << 32) | i
            n += rank[i] > 0
        for i in range(first + 1, n):
            key = row[i]
            j = i
            while j > first and row[j - 1] > key:
                row[j] = row[j - 1]
                j -= 1
            row[j] = key
    starts[users] = n
    for h in range(n):
        place[h], row[h] = row[h] >> 32, row[h] & 0xFFFFFFFF


@njit(cache=True, nogil=True, error_model="numpy")
def rate_hits(starts: Ints64, row: Ints64, place: Ints64, value: Floats, depth: int, precision: Floats) -> None:
    """Fill in the precision at each hit; those from rank ``depth`` on are left out, in place."""
    n = 0
    for u in range(len(starts) - 1):
        first, relevant = starts[u], 0
        starts[u] = n
        for h in range(first, starts[u + 1]):
            if place[h] >= depth:
                break
            row[n], place[n] = row[h], place[h]
            relevant += value[row[n]] > 0.0
            precision[n] = relevant / place[n]
            n += 1
    starts[len(starts) - 1] = n


@njit(cache=True, nogil=True, error_model="numpy")
def over_hits(
    starts: Ints64,
    row: Ints64,
    place: Ints64,
    precision: Floats,
    weight: Floats,
    table: Floats,
    additive: int,
    below: Floats,
    divisor: Ints64,
    columns: Ints64,
    out: Floats,
) -> None:
    """``out[columns[t], u]`` = Σ weight · table[rank, t] over the user's hits, all metrics in one pass.

    From metric ``additive`` on it is Σ weight · precision · table[rank, t]. Each is divided by ``below[divisor[t], u]``
    (0 where that is not above 0), unless ``below`` is empty. ``additive`` and the width of the table are multiples of
    ``LANES``; metrics without a column (−1) fill it up. Rows that are not relevant must have the weight 0.
    """
    users, width = len(starts) - 1, table.shape[1]
    scaled = np.empty((2, starts[users]))
    for h in range(starts[users]):
        w = weight[row[h]]
        scaled[0, h], scaled[1, h] = w, w * precision[h]
    total = np.empty((width, PART))
    for low in range(0, users, PART):
        size = min(PART, users - low)
        for t in range(0, width, LANES):
            w = scaled[0] if t < additive else scaled[1]
            for u in range(size):
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                for h in range(starts[low + u], starts[low + u + 1]):
                    r = place[h]
                    s0 += w[h] * table[r, t]
                    s1 += w[h] * table[r, t + 1]
                    s2 += w[h] * table[r, t + 2]
                    s3 += w[h] * table[r, t + 3]
                total[t, u], total[t + 1, u], total[t + 2, u], total[t + 3, u] = s0, s1, s2, s3
        for t in range(width):
            if columns[t] < 0:
                continue
            column = out[columns[t], low : low + size]
            if len(below) == 0:
                for u in range(size):
                    column[u] = total[t, u]
                continue
            under = below[divisor[t], low : low + size]
            for u in range(size):
                column[u] = total[t, u] / under[u] if under[u] > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def carried(
    starts: Ints64, row: Ints64, place: Ints64, weight: Floats, table: Floats, divisor: Floats, out: Floats
) -> None:
    """Add to ``out[metric]`` Σ|v|, Σv², max|v| and the number of rows with v ≠ 0, v = weight · worth / divisor.

    These are the rows that carry a number: hits, not all that was seen. Hits at one rank are worth the same, so that
    weights are added up by rank first.
    """
    depth, metrics = table.shape
    by_rank = np.zeros((depth, 4))
    for u in range(len(starts) - 1):
        for h in range(starts[u], starts[u + 1]):
            w, sums = abs(weight[row[h]]), by_rank[np.uintp(place[h])]
            v = w / divisor[u] if w > 0.0 and divisor[u] > 0.0 else 0.0
            sums[0] += v
            sums[1] += v * v
            sums[2] = max(sums[2], v)
            sums[3] += v > 0.0
    for r in range(depth):
        for t in range(metrics):
            worth = abs(table[r, t])
            out[t, 0] += by_rank[r, 0] * worth
            out[t, 1] += by_rank[r, 1] * worth * worth
            out[t, 2] = max(out[t, 2], by_rank[r, 2] * worth)
            out[t, 3] += by_rank[r, 3] if worth > 0.0 else 0.0
