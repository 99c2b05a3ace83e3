"""At which rank does a recommender list each held-out item, and where do two lists of a user differ?

Per user, the list is walked once. A small bitmap of the user's held-out items (by their last bits) turns nearly all
other entries away; a second one says which held-out item has these bits, and where several have them the item is
bisected, as they stand in ascending order. The cost is the length of the lists, whatever the size of the catalogue, and
the long walk has no branch. Ranks of a list ascend, so that hits come best first, and a list whose last rank is its
length has the ranks 1, 2, 3, …: its hits need no look at the ranks, each of which would be fetched from memory by
itself.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64
from unskew.kernels.compiled import njit

BITS = 4096  # one byte each: the bitmap stays in the first-level cache
LAST = BITS - 1
CLASH = 2**16 - 1  # in place of the held-out item, where there are several, or too many for 16 bits


@njit(cache=True, nogil=True)
def find_listed(
    indptr: Ints64,
    item: Ints32,
    list_indptr: Ints64,
    list_item: Ints32,
    list_rank: Ints32,
    low: int,
    high: int,
    out: Ints32,
    starts: Ints64,
    row: Ints64,
    place: Ints64,
) -> None:
    """Fill ``out`` with the ranks of the held-out items of users ``low`` … ``high − 1`` (0 = not listed).

    The hits of user u, best first, are ``starts[u − low] … starts[u − low + 1] − 1``: ``row`` their places in ``out``,
    ``place`` their ranks. The held-out items of a user ascend, and so do the ranks of a list, from 1 on or later, each
    of them once; every item is there once.
    """
    base, hits = indptr[low], 0
    marked, owner = np.zeros(BITS, dtype=np.uint8), np.zeros(BITS, dtype=np.uint16)
    longest = 0
    for u in range(low, high):
        longest = max(longest, list_indptr[u + 1] - list_indptr[u])
    maybe = np.empty(longest + 1, dtype=np.int32)
    for u in range(low, high):  # with a way to skip users, or to make more room, all of it takes half as long again
        starts[u - low] = hits
        own, ranks = item[indptr[u] : indptr[u + 1]], out[indptr[u] - base : indptr[u + 1] - base]
        start = list_indptr[u]
        entries = list_item[start : list_indptr[u + 1] if len(own) > 0 else start]
        for r in range(len(own)):
            ranks[r] = 0
            slot = np.uintp(own[r] & LAST)
            owner[slot] = CLASH if marked[slot] else min(r, CLASH)
            marked[slot] = 1
        n = 0
        for e in range(len(entries)):
            maybe[np.uintp(n)] = e
            n += marked[np.uintp(entries[e] & LAST)]
        closed = len(entries) > 0 and list_rank[start + len(entries) - 1] == len(entries)
        for j in range(n):
            e = maybe[j]
            wanted = entries[np.uintp(e)]
            at = int(owner[np.uintp(wanted & LAST)])
            if at == CLASH:
                at, end = 0, len(own) - 1
                while at < end:
                    middle = (at + end) >> 1
                    if own[middle] < wanted:
                        at = middle + 1
                    else:
                        end = middle
            if own[at] == wanted and ranks[at] == 0:
                ranks[at] = e + 1 if closed else list_rank[start + e]
                row[hits], place[hits] = indptr[u] - base + at, ranks[at]
                hits += 1
        for r in range(len(own)):
            marked[np.uintp(own[r] & LAST)] = 0
    starts[high - low] = hits


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
    """The ranks alone."""
    rows = indptr[high] - indptr[low]
    starts, row, place = (
        np.empty(high - low + 1, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    )  # fmt: skip
    find_listed(indptr, item, list_indptr, list_item, list_rank, low, high, out, starts, row, place)


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
