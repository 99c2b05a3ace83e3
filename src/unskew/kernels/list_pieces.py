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
def lay_runs(  # type: ignore[no-untyped-def]
    starts, places, row, item, rank, highest, carried, stamp, out_item, out_rank
):
    """Put the entries of a piece, from ``row`` on, where their runs belong: run j from ``places[j]`` on.

    Says whether ranks ascend in every run, from 1 to ``highest``, with every item once. Runs begin at ``starts``, whose
    last is the end of all rows; ``item`` holds numbers of items. ``carried`` is the run under way (−1 before the first)
    and its last rank; ``stamp`` remembers the last run of every item. Where ``out_rank`` is empty, ranks must be
    1, 2, 3, …, and are not kept.
    """
    run, last, fine, r = carried[RUN], carried[RANK], True, 0
    farthest = 1 if len(out_rank) == 0 else highest
    while r < len(item):
        if run < 0 or row + r >= starts[run + 1]:
            run += 1
            last = 0
        stop, shift = min(starts[run + 1] - row, len(item)), places[run] - starts[run] + row
        for e in range(r, stop):
            i, k = np.uintp(item[e]), rank[e]
            fine &= (k > last) & (k - last <= farthest) & (stamp[i] != run)
            stamp[i] = run
            out_item[e + shift] = item[e]
            last = k
        if len(out_rank) > 0:
            for e in range(r, stop):
                out_rank[e + shift] = rank[e]
        fine &= last <= highest
        r = stop
    carried[RUN], carried[RANK] = run, last
    return fine
