"""The largest eigenvalues of RᵀR and their vectors, R a sparse 0/1 matrix: the Lanczos method without restarts.

Vectors are added to a basis (``kernels/lanczos.py``) until the residual of each wanted pair (θ, y) of the tridiagonal
matrix T is small: ‖RᵀR y − θ y‖ = β·|last entry of its eigenvector of T|. All vectors are held, which pays where few
pairs are wanted. Columns with the same rows are merged before (``merged_columns.py``).

What one start can reach holds one vector of each eigenvalue. Logs in which a large eigenvalue comes twice (two parts
without a common user or item, of the same shape) are noticed by a few steps from another start, orthogonal to what was
found: no eigenvalue there may exceed the smallest that is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unskew.kernels import lanczos
from unskew.kernels.arrays import Floats
from unskew.log.ids import Codes
from unskew.log.log import Integers
from unskew.models.merged_columns import MergedColumns

RESIDUAL = 1e-12  # of the eigenvalue, at most
WANTED = 64  # pairs, at most
STEPS = 12  # from another start


def basis_size(dim: int, size: int) -> int:
    """How many vectors are held at most; 0 where so many pairs are wanted that another method is better."""
    return min(8 * dim + 40, size) if dim <= WANTED else 0


def leading_vectors(
    start: Integers, column: Codes, size: int, dim: int, random: Callable[[int], Floats]
) -> tuple[Floats, Floats] | None:
    """The ``dim`` largest eigenvalues of RᵀR, largest first, and their vectors as columns.

    ``None`` where more vectors would have to be held than ``basis_size`` allows, or an eigenvalue comes twice.

    Args:
        start, column: the columns of row r are ``column[start[r]:start[r + 1]]``.
        size: how many columns there are.
        random: a start for the n-th time that one is needed; those after the first are needed where a basis spans all
            that its start can reach.
    """
    matrix = MergedColumns.of(start, column, size)
    most = basis_size(dim, matrix.size)
    basis, diagonal, beside = np.empty((most + 1, matrix.size)), np.empty(most), np.empty(most)
    starts = held = 0
    fresh = True
    while held < most:
        while fresh:
            basis[held], starts = matrix.merged(random(starts)), starts + 1
            fresh = not lanczos.begin(basis, held)
        last = min(most, max(3 * dim, held + max(5, dim // 4)))
        held = lanczos.extend(*matrix.arrays, basis, diagonal, beside, held, last)
        fresh = bool(beside[held - 1] == 0.0)
        if held == matrix.size or (not fresh and held > dim and _settled(diagonal[:held], beside[:held], dim)):
            value, vectors = _pairs(diagonal[:held], beside[:held], basis[:held], dim)
            another = matrix.merged(random(starts))
            if held < matrix.size and _largest_left(matrix, vectors, another) > value[-1] * (1.0 + 1e-9):
                return None
            return value, np.ascontiguousarray(matrix.spread(vectors).T)
    return None


def _settled(diagonal: Floats, beside: Floats, dim: int) -> bool:
    """Whether the residuals of all wanted pairs are small."""
    value, entry = diagonal.copy(), np.zeros((len(diagonal), 1))
    entry[-1] = 1.0
    lanczos.eigen(value, beside.copy(), entry)
    best = np.argsort(-value)[:dim]
    return bool((beside[-1] * np.abs(entry[best, 0]) <= RESIDUAL * value[best]).all())


def _largest_left(matrix: MergedColumns, vectors: Floats, another: Floats) -> float:
    """About the largest eigenvalue (at most it) among vectors orthogonal to these rows."""
    known = len(vectors)
    last = min(known + STEPS, vectors.shape[1])
    basis = np.vstack([vectors, another, np.empty((last - known, len(another)))])
    diagonal, beside = np.empty(last), np.zeros(last)
    if not lanczos.begin(basis, known):
        return 0.0
    held = lanczos.extend(*matrix.arrays, basis, diagonal, beside, known, last)
    value = diagonal[known:held]
    lanczos.eigen(value, beside[known:held], np.empty((len(value), 0)))
    return float(value.max())


def _pairs(diagonal: Floats, beside: Floats, basis: Floats, dim: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues, largest first, and their vectors as rows."""
    value, vector = diagonal.copy(), np.eye(len(diagonal))
    lanczos.eigen(value, beside.copy(), vector)
    best = np.argsort(-value, kind="stable")[:dim]
    out = np.empty((len(best), basis.shape[1]))
    lanczos.combine(np.ascontiguousarray(vector[best]), basis, out)
    return value[best], out
