"""Lists as they come from a file, piece by piece: runs of one user, ranks that ascend, every item once.

Files of lists mostly hold one user after the other, each from rank 1 on. Then nothing has to be put in order: a user is
looked at once for each list, not once for each row, and a row costs one look at its item and one at its rank.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit

RUN, RANK = 0, 1  # of what is carried from piece to piece: the run under way, and its last rank


@njit(cache=True, nogil=True)
def number_heads(ids, heads):  # type: ignore[no-untyped-def]
    """Write into ``heads`` the rows that hold another number than the row before; gives back how many there are."""
    count = 0
    for r in range(len(ids)):
        heads[np.uintp(count)] = r
        count += r == 0 or ids[r] != ids[r - 1]
    return count


@njit(cache=True, nogil=True)
def view_heads(views, heads):  # type: ignore[no-untyped-def]
    """The same of texts by their views: equal views are equal texts, others may be."""
    count = 0
    for r in range(len(views)):
        heads[np.uintp(count)] = r
        count += r == 0 or views[r, 0] != views[r - 1, 0] or views[r, 1] != views[r - 1, 1]
    return count


@njit(cache=True, nogil=True)
def number_ids(ids, start, low, table, known, values, out):  # type: ignore[no-untyped-def]
    """Number ids as they appear, from row ``start`` on; how many are known then, and the row reached.

    ``table[id − low]`` holds numbers, −1 where there is none, and ``values`` the id of each number. Stops at an id
    that lies outside the table.
    """
    size = np.uint64(len(table))
    for r in range(start, len(ids)):
        at = np.uint64(ids[r] - low)
        if at >= size:
            return known, r
        number = table[at]
        if number < 0:
            number = known
            table[at] = number
            values[number] = ids[r]
            known += 1
        out[r] = number
    return known, len(ids)


@njit(cache=True, nogil=True)
def walk_runs(starts, item, rank, highest, carried, stamp, out):  # type: ignore[no-untyped-def]
    """Copy ranks into ``out`` and say whether they ascend in every run, from 1 to ``highest``, with every item once.

    ``starts`` are the rows of this piece where runs begin, ``item`` numbers of items. ``carried`` is the run under way
    (−1 before the first) and its last rank; ``stamp`` remembers the last run of every item.
    """
    run, last, fine, row = carried[RUN], carried[RANK], True, 0
    for s in range(len(starts) + 1):
        stop = starts[s] if s < len(starts) else len(item)
        for r in range(row, stop):
            i, k = np.uintp(item[r]), rank[r]
            fine &= (k > last) & (stamp[i] != run)
            stamp[i] = run
            out[r] = k
            last = k
        fine &= last <= highest
        if s < len(starts):
            run += 1
            last = 0
        row = stop
    carried[RUN], carried[RANK] = run, last
    return fine


@njit(cache=True, nogil=True)
def lay_runs(starts, order, item, rank, names, out_item, out_rank):  # type: ignore[no-untyped-def]
    """Put run ``order[j]`` in place j; numbers of items become their ``names``."""
    at = 0
    for run in order:
        for r in range(starts[run], starts[run + 1]):
            out_item[at] = names[np.uintp(item[r])]
            out_rank[at] = rank[r]
            at += 1
