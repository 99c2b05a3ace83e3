"""Which columns of a sparse 0/1 matrix have the same rows: partition refinement, exact and in one walk over the rows.

All columns begin in one group. Every row divides the groups that it meets into the columns that it has and those that
it has not (Paige & Tarjan 1987); what is together at the end has the same rows.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def same_columns(start, column, size):  # type: ignore[no-untyped-def]
    """Of every column its group, numbered as groups come up along the columns, and how many groups there are."""
    group, members = np.zeros(size, np.int32), np.zeros(size + 1, np.int32)
    met, goes_to, shared = np.zeros(size + 1, np.int32), np.full(size + 1, -1, np.int32), np.empty(size, np.int32)
    members[0], known = size, 1
    for r in range(len(start) - 1):
        many = np.uintp(0)
        for e in range(np.uintp(start[r]), np.uintp(start[r + 1])):
            own = group[np.uintp(column[e])]
            shared[many] = column[e]  # a column alone in its group cannot be divided
            is_shared = members[own] > 1
            met[own] += is_shared
            many += np.uintp(is_shared)
        for e in range(many):
            g = group[shared[e]]
            if goes_to[g] < 0:
                goes_to[g] = g if met[g] == members[g] else known
                known += goes_to[g] == known
        for e in range(many):
            g = group[shared[e]]
            new = goes_to[g]
            met[g] -= 1
            if met[g] == 0:
                goes_to[g] = -1
            members[g] -= 1
            members[new] += 1
            group[shared[e]] = new
    number, count = np.full(size + 1, -1, np.int32), 0
    for c in range(size):
        if number[group[c]] < 0:
            number[group[c]] = count
            count += 1
        group[c] = number[group[c]]
    return group, count


@njit(cache=True, nogil=True)
def merge_columns(start, column, group, count, new_start, new_column, alone):  # type: ignore[no-untyped-def]
    """The matrix with one column per group: rows with two entries or more, and how many have one of each column.

    Gives back how many rows and entries are filled in ``new_start`` and ``new_column``.
    """
    seen, rows, entries = np.full(count, -1, np.int64), 0, 0
    for r in range(len(start) - 1):
        begin = entries
        for e in range(start[r], start[r + 1]):
            g = group[column[e]]
            if seen[g] != r:
                seen[g] = r
                new_column[entries] = g
                entries += 1
        if entries == begin + 1:
            alone[new_column[begin]] += 1.0
            entries = begin
        elif entries > begin:
            rows += 1
            new_start[rows] = entries
    return rows, entries
