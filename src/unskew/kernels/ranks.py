"""At which rank does a recommender list each held-out item?

Per user, the list is walked once. A 64-bit filter of the user's held-out items turns most entries away; the rest are
looked up by bisection in the held-out items, which stand in ascending order. The cost is the length of the lists,
whatever the size of the catalogue.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]


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
    """Fill ``out`` with the ranks of the held-out items of users ``low`` … ``high − 1`` (0 = not listed)."""
    base = indptr[low]
    one = np.uint64(1)
    low_bits = np.uint64(63)
    for u in range(low, high):
        first, last = indptr[u], indptr[u + 1]
        mask = np.uint64(0)
        for row in range(first, last):
            out[row - base] = 0
            mask |= one << (np.uint64(item[row]) & low_bits)
        if first == last:
            continue
        for entry in range(list_indptr[u], list_indptr[u + 1]):
            wanted = list_item[entry]
            if (mask >> (np.uint64(wanted) & low_bits)) & one:
                a, b = first, last
                while a < b:
                    middle = (a + b) >> 1
                    if item[middle] < wanted:
                        a = middle + 1
                    else:
                        b = middle
                if a < last and item[a] == wanted:
                    out[a - base] = list_rank[entry]
