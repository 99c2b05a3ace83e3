"""Columns of rows to the parts that the rows belong to.

A column is written to as many places at once as there are parts, each of which grows from its beginning to its end: the
next line of every one of them stays in the cache. Whole numbers are kept as what they are above the least of their
part, which takes a byte or two where they are close together.
"""

from __future__ import annotations

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def extents(part, column, low, high):  # type: ignore[no-untyped-def]
    """Lower ``low`` and raise ``high`` of every part to the least and the largest number there."""
    for r in range(len(part)):
        p, number = part[r], column[r]
        if number < low[p]:
            low[p] = number
        if number > high[p]:
            high[p] = number


@njit(cache=True, nogil=True)
def raised(numbers, ends, low, out):  # type: ignore[no-untyped-def]
    """Numbers again from what they are above others: up to each of the ends, above its ``low``."""
    start = 0
    for k in range(len(ends)):
        for r in range(start, ends[k]):
            out[r] = low[k] + numbers[r]
        start = ends[k]


@njit(cache=True, nogil=True)
def spread(column, part, starts, out):  # type: ignore[no-untyped-def]
    """Every number to the next free place of its part; ``starts`` holds the first one of each, and is used up."""
    for r in range(len(part)):
        p = part[r]
        out[starts[p]] = column[r]
        starts[p] += 1


@njit(cache=True, nogil=True)
def spread_above(column, part, low, starts, out):  # type: ignore[no-untyped-def]
    """The same of what every number is above the least of its part."""
    for r in range(len(part)):
        p = part[r]
        out[starts[p]] = column[r] - low[p]
        starts[p] += 1
