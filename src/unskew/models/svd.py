"""Truncated singular value decomposition of the 0/1 matrix of users × items, as in jeunen18 §3.1.

    R ≈ U S Vᵀ with the ``dim`` largest singular values
    score(u, i) = (U S)_u · V_i = Σ over the user's items j of V_j · V_i

Unseen pairs are plain zeros (PureSVD of Cremonesi, Koren & Turrin 2010). The left vectors come from the Lanczos
method (``leading_vectors.py``; for many of them from ARPACK's) with a start that is a hash of the ids, or from the
eigenvectors of a small Gram matrix; V = RᵀU/S and U S = R V are then summed row
by row in the order of the rows. So items with the same users have the same factors to the last bit and are tied, and
only rounding depends on the machine. Where the next singular value equals the last one that is kept, the choice among
their directions is arbitrary, but always the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from unskew.core.bounds import DIM
from unskew.core.memory import require
from unskew.core.parts import option
from unskew.kernels.gram_product import gram_product
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids
from unskew.log.expected import a_log, some_ids
from unskew.log.ids import stream_of
from unskew.log.log import Floats, Log
from unskew.models.base import Model
from unskew.models.by_factors import ByFactors, Scored
from unskew.models.leading_vectors import basis_size, leading_vectors
from unskew.models.merged_columns import MergedColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMALL = 64  # users or items for which the Gram matrix is made
ROUNDING = 1e-10  # of an item's factors: where no kept vector reaches it they are 0, and rounding must not rank by them
NOTHING = 1e-7  # of a singular value, relative to the largest: the root of what a Gram matrix rounds off


@dataclass(eq=False, repr=False)
class SVD(ByFactors, Model):
    """Rank items by the product of singular vectors.

    Users without positives, or unknown to the training log, score 0 everywhere: their lists are random. Items without
    positives score 0 for everybody, and so do those that no kept vector reaches, of parts of the log without a user or
    item in common with the rest.
    """

    dim: int = option(50, DIM, "singular values that are kept")
    users_: Ids = field(init=False)
    user_: Floats = field(init=False)
    item_: Floats = field(init=False)
    values_: Floats = field(init=False)  # singular values, largest first; fewer than dim if the rank is lower

    name = "svd"

    def footprint(self, log: Log) -> int:
        """The factors, and the vectors that are held meanwhile, besides."""
        few, many = sorted((len(log.users), len(log.items)))
        held = max(5 * self.dim, self.dim + basis_size(self.dim, few))
        return super().footprint(log) + 8 * (held * few + 2 * self.dim * many)

    def fit(self, log: Log) -> Self:
        """Decompose the matrix of positives."""
        from scipy.sparse import csr_array  # slow to import, and needed here only

        liked = a_log(log).positives()
        require(self.footprint(log), f"'{self}'", "Take a smaller dim.")
        shape = len(log.users), len(log.items)
        matrix = csr_array((np.ones(len(liked)), liked.item, liked.indptr), shape=shape)
        by_item = matrix.T.tocsr()
        left, self.values_ = _left_vectors(matrix, by_item, self.dim, (log.users, log.items))
        self.users_, self.items_ = log.users, log.items
        self.item_ = by_item @ (left / self.values_)
        self.item_[np.abs(self.item_).max(axis=1, initial=0.0) < ROUNDING] = 0.0
        self.user_ = matrix @ self.item_
        return self

    def factors(self) -> tuple[Floats, Floats]:
        """Matrices of users and items whose product holds all scores: U S and V."""
        _ = self.catalogue
        return self.user_, self.item_

    def scored(self, users: Ids) -> Scored:
        """By the product."""
        items, rows = self.catalogue, some_ids(users).into(self.users_)
        return Scored(rows, self.factors(), np.zeros(len(items)), items)


def _left_vectors(matrix: csr_array, by_item: csr_array, dim: int, ids: tuple[Ids, Ids]) -> tuple[Floats, Floats]:
    """U and S, the largest first; directions that are 0 but for rounding are left out."""
    users, items = matrix.shape
    few = min(users, items)
    if few <= max(SMALL, 2 * dim):
        square, vectors = np.linalg.eigh((matrix @ by_item if users <= items else by_item @ matrix).toarray())
    else:
        own, rows = (ids[0], by_item) if users <= items else (ids[1], matrix)
        found = None
        if basis_size(dim, few):
            found = leading_vectors(rows.indptr, rows.indices, few, dim, lambda number: _start(own, number))
        square, vectors = _by_arpack(rows, few, dim, _start(own, 0)) if found is None else found
    left = vectors if users <= items else matrix @ vectors / np.sqrt(np.maximum(square, 1e-300))
    value = np.sqrt(np.maximum(square, 0.0))
    order = np.argsort(-value, kind="stable")[:dim]
    order = order[value[order] > NOTHING * value.max(initial=0.0)]
    return np.ascontiguousarray(left[:, order]), value[order]


def _start(ids: Ids, number: int) -> Floats:
    """A vector by a hash of the ids."""
    return pair_uniform(stream_of(f"svd {number}"), ids.hashes, ids.hashes) - 0.5


def _by_arpack(rows: csr_array, size: int, dim: int, start: Floats) -> tuple[Floats, Floats]:
    """The largest eigenvalues of RᵀR and their vectors, for as many as one likes."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    matrix, scaled = MergedColumns.unmerged(rows.indptr, rows.indices, size), np.empty(size)

    def product(x: Floats) -> Floats:
        out = np.empty(size)
        gram_product(*matrix.arrays, x.ravel(), scaled, out)
        return out

    square, vectors = eigsh(LinearOperator((size, size), product, dtype=np.float64), k=dim, v0=start)
    return square, vectors
