"""RᵀR x for a 0/1 matrix R by its rows, without making RᵀR: two short walks over each row while it is in the cache.

Columns may stand for several that are the same (``same_columns.py``): with D the numbers of these, √D RᵀR √D has the
eigenvalues of the whole matrix's RᵀR that are not 0. Rows with one entry only add to the diagonal.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def gram_product(start, column, alone, root, x, scaled, out):  # type: ignore[no-untyped-def]
    """out = √D RᵀR √D x; the columns of row r are ``column[start[r]:start[r + 1]]``.

    ``alone`` holds for every column how many further rows have nothing else, ``root`` is √D; ``scaled`` is room for one
    vector. A row is added up as four sums, none of which waits for another; their order is always the same.
    """
    for c in range(np.uintp(len(x))):
        scaled[c] = root[c] * x[c]
        out[c] = alone[c] * scaled[c]
    one, four = np.uintp(1), np.uintp(4)
    for r in range(len(start) - 1):
        first, last = np.uintp(start[r]), np.uintp(start[r + 1])
        e, sum_0, sum_1, sum_2, sum_3 = first, 0.0, 0.0, 0.0, 0.0
        while e + four <= last:
            sum_0 += scaled[np.uintp(column[e])]
            sum_1 += scaled[np.uintp(column[e + one])]
            sum_2 += scaled[np.uintp(column[e + one + one])]
            sum_3 += scaled[np.uintp(column[e + one + one + one])]
            e += four
        while e < last:
            sum_0 += scaled[np.uintp(column[e])]
            e += one
        total = (sum_0 + sum_1) + (sum_2 + sum_3)
        for again in range(first, last):
            out[np.uintp(column[again])] += total
    for c in range(np.uintp(len(x))):
        out[c] *= root[c]
