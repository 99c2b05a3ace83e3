"""At which rank does a recommender list each held-out item, and where do two lists of a user differ?

Per user, the list is walked once. A small bitmap of the user's held-out items (by their last bits) turns nearly all
other entries away; the rest are looked up in the held-out items, which stand in ascending order. The cost is the length
of the lists, whatever the size of the catalogue. Nothing here branches on what cannot be foreseen, except bisection
for users with many held-out items. Ranks of a list ascend, so that a list whose last rank is its length has the ranks
1, 2, 3, …: its hits need no look at the ranks, each of which would be fetched from memory by itself.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

BITS = 4096  # one byte each: the bitmap stays in the first-level cache
LAST = BITS - 1
FEW = 32  # held-out items: counting the smaller ones is quicker than bisection


@njit(cache=True, nogil=True)
def find_ranks(
    indptr: Ints64,
    item: Ints32,
    list_indptr: Ints64,
    list_item: Ints32,
    list_rank: Ints32,
    low: int,
    high: int,
    out: Ints32,
) -> None:
    """Fill ``out`` with the ranks of the held-out items of users ``low`` … ``high − 1`` (0 = not listed).

    The held-out items of a user ascend, and so do the ranks of a list, from 1 on or later, each of them once.
    """
    base = indptr[low]
    marked = np.zeros(BITS, dtype=np.uint8)
    maybe = np.empty(256, dtype=np.int64)
    for u in range(low, high):
        first, last = indptr[u], indptr[u + 1]
        start, stop = list_indptr[u], list_indptr[u + 1]
        if first == last:
            continue
        if stop - start >= len(maybe):
            maybe = np.empty(2 * (stop - start), dtype=np.int64)
        for row in range(first, last):
            out[row - base] = 0
            marked[np.uintp(item[row] & LAST)] = 1
        n = 0
        for entry in range(start, stop):
            maybe[np.uintp(n)] = entry
            n += marked[np.uintp(list_item[np.uintp(entry)] & LAST)]
        closed = stop > start and list_rank[stop - 1] == stop - start
        for j in range(n):
            wanted = list_item[maybe[j]]
            a, b = first, last
            if last - first <= FEW:
                for row in range(first, last):
                    a += item[np.uintp(row)] < wanted
            else:
                while a < b:
                    middle = (a + b) >> 1
                    if item[middle] < wanted:
                        a = middle + 1
                    else:
                        b = middle
            if a < last and item[a] == wanted:
                out[a - base] = maybe[j] - start + 1 if closed else list_rank[maybe[j]]
        for row in range(first, last):
            marked[np.uintp(item[row] & LAST)] = 0


@njit(cache=True, nogil=True)
def count_ranks(rank: Ints32, shown: Bools, never: Ints64, every: Ints64) -> None:
    """Add to ``every`` how often each rank occurs, as far as it reaches; to ``never`` only what is not ``shown``."""
    depth = len(every)
    for e in range(len(rank)):
        r = rank[e]
        if r < depth:
            every[r] += 1
            never[r] += not shown[e]


@njit(cache=True, nogil=True)
def differing(
    indptr: Ints64,
    item: Ints32,
    rank: Ints32,
    other_indptr: Ints64,
    other_item: Ints32,
    other_rank: Ints32,
    weight: Floats,
    square: Floats,
    worth: Floats,
    users: Ints64,
    out: Floats,
) -> None:
    """``out`` = Σ d, Σ d²/P, Σ worth over the list, Σ d³/P², over the items to which a list gives more worth, by d.

    ``weight`` is 1/P of each item, ``square`` 1/P². Items without a code (−1) or without a weight (NaN) are passed over
    in all but the third.
    """
    depth, items = len(worth), len(weight)
    other, stamp = np.zeros(items), np.full(items, -1, dtype=np.int64)
    for j in range(len(users)):
        u = users[j]
        for e in range(other_indptr[u], other_indptr[u + 1]):
            i, r = other_item[e], other_rank[e]
            if r >= depth:
                break  # ranks ascend
            if i >= 0:
                stamp[i] = j
                other[i] = worth[r]
        for e in range(indptr[u], indptr[u + 1]):
            i, r = item[e], rank[e]
            if r >= depth:
                break
            out[2] += worth[r]
            if i < 0 or not weight[i] > 0.0:
                continue
            d = worth[r] - (other[i] if stamp[i] == j else 0.0)
            if d > 0.0:
                out[0] += d
                out[1] += d * d * weight[i]
                out[3] += d * d * d * square[i]
