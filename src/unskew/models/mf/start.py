"""Where solvers begin: the truncated SVD of the ratings with every gap filled by their mean; no offsets; c = mean.

The filled matrix less its mean is sparse, so nothing of the size users × items is held. Singular vectors come from
subspace iteration (Halko, Martinsson & Tropp 2011, Algorithm 4.4), begun with a hash of (seed, number): the start is
the same on every machine up to rounding, and users' and items' factors share the singular values evenly.
"""

from __future__ import annotations

import numpy as np

from unskew.core.threads import by_blocks
from unskew.kernels import ratings as kernel
from unskew.kernels.gram import padded
from unskew.kernels.hashing import pair_uniform
from unskew.log.log import Floats
from unskew.models.mf.problem import GroupedRatings, MFParameters, Ratings

STEPS = 8
FEW_STEPS = 2  # alternating least squares is itself a kind of subspace iteration: many ratings need no more
MANY = 2_000_000  # ratings
MORE = 8  # further directions, so that the wanted ones converge sooner


def svd_start(ratings: Ratings, dim: int, seed: int = 0, threads: int | None = None) -> MFParameters:
    """Factors of the mean-filled matrix; directions beyond its rank stay 0."""
    users, items = ratings.users, ratings.items
    mean = float(ratings.by_user.value.mean())
    width = min(dim + MORE, users, items)
    numbers = np.arange(items * width, dtype=np.uint64)
    basis = pair_uniform(seed, numbers, numbers[::-1]).reshape(items, width) - 0.5
    with by_blocks(threads) as each:

        def times(side: GroupedRatings, right: Floats) -> Floats:
            """The sparse matrix (or its transpose) times a narrow one."""
            given, out = np.zeros((len(right), padded(width))), np.empty((len(side.indptr) - 1, padded(width)))
            given[:, :width] = right
            rest = (side.indptr, side.other, side.value, mean, given, out)
            each(len(out), lambda first, last: kernel.multiply(first, last, *rest))
            return out[:, :width]

        for _ in range(STEPS if len(ratings.by_user.value) <= MANY else FEW_STEPS):
            basis, _ = np.linalg.qr(times(ratings.by_item, times(ratings.by_user, basis)))
        left, size, right = np.linalg.svd(times(ratings.by_user, basis), full_matrices=False)
    found = MFParameters(np.zeros((users, dim + 1)), np.zeros((items, dim + 1)), mean)
    kept, root = min(width, dim), np.sqrt(size)
    found.user[:, :kept] = (left * root)[:, :kept]
    found.item[:, :kept] = (basis @ right.T * root)[:, :kept]
    return found
