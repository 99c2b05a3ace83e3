"""Non-negative factorisation by multiplication (Lee & Seung 2001), over seen pairs only.

    v_uk ← v_uk · Σ_i y_ui w_ik / (Σ_i ŷ_ui w_ik + n_u·l2·v_uk)        i over the user's pairs, ŷ = v_u·w_i

and the same for items. With the other side held, a renewed side never has a larger

    ½ Σ (y − ŷ)² + ½ l2 (Σ_u n_u |v_u|² + Σ_i n_i |w_i|²)

so that both are renewed in turn. Cornac renews both at once, from the old values: where all ŷ are c times too large,
both sides shrink by c, and then all ŷ are c times too small; that repeats without end. Numbers are of single precision.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import njit
from unskew_papers.kernels.sgd import ORDER

EPSILON = np.float32(1e-9)
TINY = np.float32(1e-30)  # what is smaller becomes 0: its products would be too small for single precision
NONE = np.float32(0.0)


@njit(cache=True, nogil=True, fastmath=ORDER, error_model="numpy")
def renew(indptr, index, y, other, own, l2):  # type: ignore[no-untyped-def]
    """Renew all rows of ``own``; gives back Σ ½ (y − ŷ)² as it was before. Rows without pairs become 0."""
    total, width = 0.0, own.shape[1]
    up, down = np.empty(width, np.float32), np.empty(width, np.float32)
    for r in range(len(own)):
        many = np.float32(indptr[r + 1] - indptr[r])
        up[:], down[:] = NONE, EPSILON
        for e in range(indptr[r], indptr[r + 1]):
            o, z = np.intp(index[e]), NONE
            for j in range(width):
                z += own[r, j] * other[o, j]
            error = y[e] - z
            total += 0.5 * error * error
            for j in range(width):
                up[j] += y[e] * other[o, j]
                down[j] += z * other[o, j]
        for j in range(width):
            new = own[r, j] * up[j] / (down[j] + many * l2 * own[r, j])
            own[r, j] = new if new > TINY else NONE
    return total
