"""Sums over each user's held-out items: one kernel per shape of metric, several metrics in one pass.

Rows are grouped by user (``indptr`` starts at 0). ``weight`` is an estimator's weight times the value; ``rank`` is 0
where a model does not list the item; ``table[rank, metric]`` is what a rank is worth, and ranks beyond the table are
worth nothing.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

FEW = 32  # rows of a user whose weights are sorted together with those of others ...
LANES = 32  # ... of so many users


@njit(cache=True, nogil=True)
def per_user(indptr: Ints64, weight: Floats, out: Floats) -> None:
    """Σ weight of each user."""
    for u in range(len(indptr) - 1):
        total = 0.0
        for row in range(indptr[u], indptr[u + 1]):
            total += weight[row]
        out[u] = total


@njit(cache=True, nogil=True)
def over_seen(indptr: Ints64, weight: Floats, rank: Ints32, table: Floats, columns: Ints64, out: Floats) -> None:
    """``out[columns[t], u]`` += Σ weight · table[rank, t] over the user's rows, whatever the sign of the weight."""
    depth, metrics = table.shape
    total = np.empty(metrics)
    for u in range(len(indptr) - 1):
        total[:] = 0.0
        for row in range(indptr[u], indptr[u + 1]):
            r = rank[row]
            if 0 < r < depth:
                for t in range(metrics):
                    total[t] += weight[row] * table[r, t]
        for t in range(metrics):
            out[columns[t], u] += total[t]


@njit(cache=True, nogil=True)
def worth_difference(a: Ints32, b: Ints32, table: Floats, metric: int, out: Floats) -> None:
    """``out`` = table[a, metric] − table[b, metric] for the ranks that two models give each row."""
    depth = len(table)
    worth = np.empty(depth)
    for r in range(depth):
        worth[r] = table[r, metric] if r > 0 else 0.0
    for row in range(len(out)):
        ours, theirs = a[row], b[row]
        ours, theirs = ours if ours < depth else 0, theirs if theirs < depth else 0
        out[row] = worth[np.uintp(ours)] - worth[np.uintp(theirs)]


@njit(cache=True, nogil=True)
def over_lists(indptr: Ints64, rank: Ints32, q: Floats, table: Floats, columns: Ints64, out: Floats) -> None:
    """``out[columns[t], u]`` += Σ q · table[rank, t] over the user's list."""
    depth, metrics = table.shape
    total = np.empty(metrics)
    for u in range(len(indptr) - 1):
        total[:] = 0.0
        for entry in range(indptr[u], indptr[u + 1]):
            if rank[entry] < depth:
                for t in range(metrics):
                    total[t] += q[entry] * table[rank[entry], t]
        for t in range(metrics):
            out[columns[t], u] += total[t]


@njit(cache=True, nogil=True)
def _downwards(weight: Floats, first: int, last: int, room: Floats) -> Floats:
    """The weights of one user, largest first, in the room given (a larger one if it is too small).

    A shell sort: as quick as numpy's for a handful of weights, and it compiles in a fraction of the time.
    """
    n = last - first
    if n > len(room):
        room = np.empty(2 * n)
    for i in range(n):
        room[i] = weight[first + i]
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            w = room[i]
            j = i
            while j >= gap and room[j - gap] < w:
                room[j] = room[j - gap]
                j -= gap
            room[j] = w
        gap //= 3
    return room


@njit(cache=True, nogil=True)
def _sort_lanes(room: Floats, n: int) -> None:
    """Sort every column of ``room[:n]``, largest first: Batcher's merge exchange, all columns by one instruction."""
    p = 1
    while p < n:
        k = p
        while k > 0:
            for j in range(k % p, n - k, 2 * k):
                for i in range(j, min(j + k, n - k)):
                    if i // (2 * p) == (i + k) // (2 * p):
                        for lane in range(LANES):
                            a, b = room[i, lane], room[i + k, lane]
                            room[i, lane] = a if a > b else b
                            room[i + k, lane] = b if a > b else a
            k //= 2
        p *= 2


@njit(cache=True, nogil=True)
def _ideal_of_lanes(
    indptr: Ints64, weight: Floats, table: Floats, users: Ints64, count: int, room: Floats, out: Floats
) -> None:
    """What ``ideal`` says of ``count`` users with at most ``FEW`` rows, a lane each."""
    depth, metrics = table.shape
    n = 0
    for lane in range(count):
        n = max(n, indptr[users[lane] + 1] - indptr[users[lane]])
    for lane in range(LANES):
        first, size = 0, 0
        if lane < count:
            first, size = indptr[users[lane]], indptr[users[lane] + 1] - indptr[users[lane]]
        for i in range(n):
            room[i, lane] = max(weight[first + i], 0.0) if i < size else 0.0
    _sort_lanes(room, n)
    total = room[FEW]
    for t in range(metrics):
        total[:] = 0.0
        for j in range(min(n, depth - 1)):
            worth = table[j + 1, t]
            for lane in range(LANES):
                total[lane] += room[j, lane] * worth
        for lane in range(count):
            out[t, users[lane]] = total[lane]


@njit(cache=True, nogil=True)
def ideal(indptr: Ints64, weight: Floats, table: Floats, out: Floats) -> None:
    """``out[t, u]`` = the largest Σ weight · table[rank, t] that any list could reach: big weights first.

    Weights of a user that are all the same, as without propensities, need not be put in order.
    """
    depth, metrics = table.shape
    best = np.zeros((depth, metrics))
    for j in range(1, depth):
        for t in range(metrics):
            best[j, t] = best[j - 1, t] + table[j, t]
    lanes, waiting, users = np.empty((FEW + 1, LANES)), 0, np.empty(LANES, dtype=np.int64)
    room = np.empty(64)
    for u in range(len(indptr) - 1):
        first, last = indptr[u], indptr[u + 1]
        row = first
        while row < last and weight[row] == weight[first]:
            row += 1
        if row == last:
            for t in range(metrics):
                out[t, u] = max(weight[first], 0.0) * best[min(last - first, depth - 1), t] if last > first else 0.0
            continue
        if last - first <= FEW:
            users[waiting] = u
            waiting += 1
            if waiting == LANES:
                _ideal_of_lanes(indptr, weight, table, users, waiting, lanes, out)
                waiting = 0
            continue
        room = _downwards(weight, first, last, room)
        for t in range(metrics):
            total = 0.0
            for j in range(min(last - first, depth - 1)):
                total += max(room[j], 0.0) * table[j + 1, t]
            out[t, u] = total
    _ideal_of_lanes(indptr, weight, table, users, waiting, lanes, out)


@njit(cache=True, nogil=True)
def largest(indptr: Ints64, weight: Floats, cuts: Ints64, out: Floats) -> None:
    """``out[u, t]`` = Σ of the ``cuts[t]`` largest weights of the user."""
    room = np.empty(64)
    for u in range(len(indptr) - 1):
        room = _downwards(weight, indptr[u], indptr[u + 1], room)
        for t in range(len(cuts)):
            total = 0.0
            for j in range(min(indptr[u + 1] - indptr[u], cuts[t])):
                total += room[j]
            out[u, t] = total


@njit(cache=True, nogil=True)
def best(indptr: Ints64, value: Floats, rank: Ints32, table: Floats, out: Floats) -> None:
    """``out[u, t]`` = table[the best rank of a relevant item, t]."""
    depth, metrics = table.shape
    for u in range(len(indptr) - 1):
        top = depth
        for row in range(indptr[u], indptr[u + 1]):
            if value[row] > 0.0 and 0 < rank[row] < top:
                top = rank[row]
        for t in range(metrics):
            out[u, t] = table[top, t] if top < depth else 0.0


@njit(cache=True, nogil=True)
def cut(indptr: Ints64, value: Floats, rank: Ints32, out: Floats) -> None:
    """``out[u, 0]`` = hits among the first n* ranks, over n*, the number of the user's relevant items."""
    for u in range(len(indptr) - 1):
        relevant = 0
        for row in range(indptr[u], indptr[u + 1]):
            relevant += value[row] > 0.0
        hits = 0
        for row in range(indptr[u], indptr[u + 1]):
            hits += value[row] > 0.0 and 0 < rank[row] <= relevant
        out[u, 0] = hits / relevant if relevant else 0.0


@njit(cache=True, nogil=True)
def group_mean(indptr: Ints64, group: Ints32, groups: int, number: Floats, value: Floats, out: Floats) -> None:
    """Mean of ``number`` over the user's rows in the same group, weighted by ``value`` (0 where nothing weighs)."""
    total, mass = np.zeros(groups), np.zeros(groups)
    for u in range(len(indptr) - 1):
        first, last = indptr[u], indptr[u + 1]
        for row in range(first, last):
            total[group[row]] += number[row] * value[row]
            mass[group[row]] += value[row]
        for row in range(first, last):
            out[row] = total[group[row]] / mass[group[row]] if mass[group[row]] > 0.0 else 0.0
        for row in range(first, last):
            total[group[row]] = 0.0
            mass[group[row]] = 0.0
