"""RᵀR x for a 0/1 matrix R by its rows, without making RᵀR: two short walks over each row while it is in the cache."""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def gram_product(start, column, x, out):  # type: ignore[no-untyped-def]
    """out = RᵀR x; the columns of row r are ``column[start[r]:start[r + 1]]``."""
    out[:] = 0.0
    for r in range(len(start) - 1):
        first, last, total = np.uintp(start[r]), np.uintp(start[r + 1]), 0.0
        for e in range(first, last):
            total += x[np.uintp(column[e])]
        for e in range(first, last):
            out[np.uintp(column[e])] += total
