"""Exposure affinity: which users and items were seen together more often than activity and popularity explain.

    a = the rank-r matrix nearest to  O_ui − n_u n_i / n        O the seen training pairs

by subspace iteration with a sparse matrix and a product of two vectors; no users × items matrix is ever held.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unskew.kernels.arrays import Floats
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log

STEPS = 8  # of the iteration
SPARE = 6  # directions besides those that are kept


def affinity(train: Log, rank: int) -> tuple[Floats, Floats]:
    """Factors of users and items whose products are a; behind each stands one without training rows.

    It starts with hashes of items, so that the order of rows and ids does not matter.
    """
    users, items, n = len(train.users), len(train.items), len(train)
    kept = min(rank, users, items)
    if kept == 0 or n == 0:
        return np.zeros((users + 1, max(kept, 1))), np.zeros((items + 1, max(kept, 1)))
    seen = sparse.csr_array((np.ones(n), train.item, train.indptr), (users, items))
    of_users, of_items = np.diff(train.indptr).astype(np.float64), np.bincount(train.item, minlength=items) * 1.0
    wide = min(kept + SPARE, users, items)
    drawn = pair_uniform(0, np.repeat(train.items.hashes, wide), np.tile(np.arange(wide, dtype=np.uint64), items))
    basis, _ = np.linalg.qr(drawn.reshape(items, wide) - 0.5)

    def ahead(of: Floats) -> Floats:
        return np.asarray(seen @ of - np.outer(of_users, of_items @ of) / n)

    def back(of: Floats) -> Floats:
        return np.asarray(seen.T @ of - np.outer(of_items, of_users @ of) / n)

    for _ in range(STEPS):
        basis, _ = np.linalg.qr(back(ahead(basis)))
    reached = ahead(basis)
    _, turn = np.linalg.eigh(reached.T @ reached)  # the largest come last
    turn = turn[:, ::-1][:, :kept]
    return _with_nobody(reached @ turn), _with_nobody(basis @ turn)


def _with_nobody(factors: Floats) -> Floats:
    return np.vstack([factors, np.zeros(factors.shape[1])])
