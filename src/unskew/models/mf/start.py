"""Where solvers begin: the truncated SVD of the ratings with every gap filled by their mean; no offsets; c = mean.

The filled matrix less its mean is sparse, so nothing of the size users × items is held. Singular vectors come from
subspace iteration (Halko, Martinsson & Tropp 2011, Algorithm 4.4), begun with a hash of (seed, number): the start is
the same on every machine up to rounding, and users' and items' factors share the singular values evenly.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unskew.kernels.hashing import pair_uniform
from unskew.models.mf.problem import Factors, Ratings

STEPS = 8
FEW_STEPS = 2  # alternating least squares is itself a kind of subspace iteration: many ratings need no more
MANY = 2_000_000  # ratings
MORE = 8  # further directions, so that the wanted ones converge sooner


def svd_start(ratings: Ratings, dim: int, seed: int = 0) -> Factors:
    """Factors of the mean-filled matrix; directions beyond its rank stay 0."""
    side, users, items = ratings.by_user, ratings.users, ratings.items
    mean = float(side.value.mean())
    matrix = sparse.csr_array((side.value - mean, side.other, side.indptr), (users, items))
    width = min(dim + MORE, users, items)
    numbers = np.arange(items * width, dtype=np.uint64)
    basis = pair_uniform(seed, numbers, numbers[::-1]).reshape(items, width) - 0.5
    for _ in range(STEPS if len(side.value) <= MANY else FEW_STEPS):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    left, size, right = np.linalg.svd(matrix @ basis, full_matrices=False)
    found = Factors(np.zeros((users, dim + 1)), np.zeros((items, dim + 1)), mean)
    kept, root = min(width, dim), np.sqrt(size)
    found.user[:, :kept] = (left * root)[:, :kept]
    found.item[:, :kept] = (basis @ right.T * root)[:, :kept]
    return found
