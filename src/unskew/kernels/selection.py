"""The value at one place of the sorted order, without sorting (Hoare 1961, "Find"), without branches inside.

Values below a pivot go first, then those equal to it, so that many equal ones end it at once. ``np.partition`` looks
for values that are not numbers too, and takes twice as long.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def smallest(values, place):  # type: ignore[no-untyped-def]
    """The value that would stand at ``place`` if they were sorted; they are moved about."""
    first, last = np.uintp(0), np.uintp(len(values))
    while True:
        pivot, below = values[(first + last) // np.uintp(2)], first
        for m in range(first, last):
            value = values[m]
            values[m] = values[below]
            values[below] = value
            below += np.uintp(value < pivot)
        if place < below:
            last = below
            continue
        equal = below
        for m in range(below, last):
            value = values[m]
            values[m] = values[equal]
            values[equal] = value
            equal += np.uintp(value == pivot)
        if place < equal:
            return pivot
        first = equal
