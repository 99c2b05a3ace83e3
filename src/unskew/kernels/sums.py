"""Sums over each user's held-out items: one kernel per shape of metric, several metrics in one pass.

Rows are grouped by user (``indptr`` starts at 0). ``weight`` is an estimator's weight times the value; ``rank`` is 0
where a model does not list the item; ``table[rank, metric]`` is what a rank is worth, and ranks beyond the table are
worth nothing.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def per_user(indptr: Ints64, weight: Floats, out: Floats) -> None:
    """Σ weight of each user."""
    for u in range(len(indptr) - 1):
        total = 0.0
        for row in range(indptr[u], indptr[u + 1]):
            total += weight[row]
        out[u] = total


@njit(cache=True, nogil=True, error_model="numpy")
def over_hits(
    indptr: Ints64,
    weight: Floats,
    value: Floats,
    rank: Ints32,
    table: Floats,
    additive: int,
    below: Floats,
    columns: Ints64,
    out: Floats,
) -> None:
    """Sums over the user's hits, the relevant items that are listed, all metrics in one pass.

    ``out[u, columns[t]]`` = Σ weight · table[rank, t] for the first ``additive`` metrics, for the others Σ weight ·
    precision · table[rank, t], precision being the share of hits among the ranks down to this one. Each is divided by
    ``below[u, t]`` (0 where that is 0), unless ``below`` is empty.
    """
    depth, metrics = table.shape
    hits, total = np.empty(64, dtype=np.int64), np.empty(metrics)
    for u in range(len(indptr) - 1):
        first, last = indptr[u], indptr[u + 1]
        total[:] = 0.0
        if last - first >= len(hits):
            hits = np.empty(2 * (last - first), dtype=np.int64)
        n = 0
        for row in range(first, last):  # without a branch: whether an item is listed cannot be foreseen
            hits[np.uintp(n)] = row
            n += (rank[row] > 0) & (rank[row] < depth) & (value[row] > 0.0)
        if metrics > additive:
            for i in range(1, n):
                row = hits[i]
                j = i
                while j > 0 and rank[hits[j - 1]] > rank[row]:
                    hits[j] = hits[j - 1]
                    j -= 1
                hits[j] = row
        for j in range(n):
            w, r = weight[hits[j]], rank[hits[j]]
            for t in range(additive):
                total[t] += w * table[r, t]
            w *= (j + 1.0) / r
            for t in range(additive, metrics):
                total[t] += w * table[r, t]
        for t in range(metrics):
            if len(below) > 0 and n > 0:
                total[t] = total[t] / below[u, t] if below[u, t] > 0.0 else 0.0
            out[u, columns[t]] = total[t]


@njit(cache=True, nogil=True)
def over_seen(indptr: Ints64, weight: Floats, rank: Ints32, table: Floats, columns: Ints64, out: Floats) -> None:
    """``out[u, columns[t]]`` += Σ weight · table[rank, t] over the user's rows, whatever the sign of the weight."""
    depth, metrics = table.shape
    for u in range(len(indptr) - 1):
        for row in range(indptr[u], indptr[u + 1]):
            r = rank[row]
            if 0 < r < depth:
                for t in range(metrics):
                    out[u, columns[t]] += weight[row] * table[r, t]


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
    """``out[u, columns[t]]`` += Σ q · table[rank, t] over the user's list."""
    depth, metrics = table.shape
    for u in range(len(indptr) - 1):
        for entry in range(indptr[u], indptr[u + 1]):
            if rank[entry] < depth:
                for t in range(metrics):
                    out[u, columns[t]] += q[entry] * table[rank[entry], t]


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
def ideal(indptr: Ints64, weight: Floats, table: Floats, out: Floats) -> None:
    """``out[u, t]`` = the largest Σ weight · table[rank, t] that any list could reach: big weights first."""
    depth, metrics = table.shape
    best = np.zeros_like(table)  # Σ of the table down to each rank: what equal weights of 1 could reach
    for r in range(1, depth):
        for t in range(metrics):
            best[r, t] = best[r - 1, t] + table[r, t]
    room = np.empty(64)
    for u in range(len(indptr) - 1):
        first, last = indptr[u], indptr[u + 1]
        even = True
        for row in range(first, last):
            even &= weight[row] == weight[first]
        if even:
            w = weight[first] if first < last and weight[first] > 0.0 else 0.0
            r = min(last - first, depth - 1)
            for t in range(metrics):
                out[u, t] = w * best[r, t]
            continue
        for t in range(metrics):
            out[u, t] = 0.0
        room = _downwards(weight, first, last, room)
        for j in range(min(last - first, depth - 1)):
            if room[j] <= 0.0:
                break
            for t in range(metrics):
                out[u, t] += room[j] * table[j + 1, t]


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
