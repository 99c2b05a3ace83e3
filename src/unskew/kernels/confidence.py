"""Rows of an implicit factorisation: every unseen pair counts as a zero, none of them is visited.

    x = argmin  Σ over all o of c_o (p_o − x·y_o)² + λ|x|²          p = 1 and c = 1 + α where seen, p = 0 and c = 1 else

so that  A x = b,  A = YᵀY + λ + α Σ_seen y yᵀ,  b = (1 + α) Σ_seen y  (Hu, Koren & Volinsky 2008, Eq. 4). YᵀY + λ is
the same for all rows, so that a row costs its seen pairs only. ``solve_rows`` eliminates, in n·d² steps for n seen
pairs and in double precision; ``approach_rows`` takes a few steps of conjugate gradients from where the row was, in n·d
steps each and in single precision (Takács, Pilászy & Tikk 2011), which is as good from sweep to sweep and much faster
for many factors. Rows do not depend on each other: any division of the rows among threads gives the same numbers.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.fours import FOUR, meet_four, spread_four
from unskew.kernels.gram import add_gram, put, solve

CHUNK = 64  # pairs that are worked on together
SETTLED = np.float32(1e-20)  # squared length of a gradient below which a row stays where it is


@njit(cache=True, nogil=True)
def solve_rows(first, last, indptr, index, other, base, alpha, own):  # type: ignore[no-untyped-def]
    """Solve the rows ``first`` … ``last − 1`` of ``own``; a row without pairs becomes 0.

    ``other`` is Y, padded with zeros to whole vectors, ``base`` is YᵀY + λ (upper triangle), padded to hold one more
    column.
    """
    d, root = own.shape[1], np.sqrt(alpha)
    rows, total = np.empty((CHUNK, other.shape[1])), np.empty((1, other.shape[1]))
    normal, mine = np.empty_like(base), np.empty(len(base))
    for r in range(first, last):
        if indptr[r] == indptr[r + 1]:
            own[r] = 0.0
            continue
        normal[:], total[:] = base, 0.0
        for start in range(indptr[r], indptr[r + 1], CHUNK):
            n = min(CHUNK, indptr[r + 1] - start)
            for e in range(n):
                o = np.uintp(index[start + e])
                put(rows, e, other, o, root, 0, False)
                put(total, 0, other, o, 1.0 + alpha, 0, True)
            add_gram(rows, n, normal)
        normal[:d, d] = total[0, :d]
        solve(normal, d, mine)
        own[r] = mine[:d]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def approach_rows(first, last, indptr, index, other, base, alpha, steps, own):  # type: ignore[no-untyped-def]
    """Take ``steps`` conjugate gradients in the rows ``first`` … ``last − 1`` of ``own``; all numbers are float32.

    ``base`` is the whole of YᵀY + λ; widths are multiples of 16. A row without pairs becomes 0.
    """
    most, zero = 0, np.float32(0.0)
    for r in range(first, last):
        most = max(most, indptr[r + 1] - indptr[r])
    seen = np.empty((most, other.shape[1]), np.float32)
    rest, way, bent = np.empty_like(other[0]), np.empty_like(other[0]), np.empty_like(other[0])
    for r in range(first, last):
        n, x = indptr[r + 1] - indptr[r], own[r]
        if n == 0:
            x[:] = 0.0
            continue
        rest[:] = zero
        for e in range(n):
            o = np.uintp(index[indptr[r] + e])
            for j in range(other.shape[1]):
                seen[e, j] = other[o, j]
        _add(seen, n, x, np.float32(1.0) + alpha, -alpha, rest)
        _add_product(base, x, np.float32(-1.0), rest)
        way[:] = rest
        before = _square(rest)
        for _ in range(steps):
            bent[:] = zero
            _add(seen, n, way, zero, alpha, bent)
            _add_product(base, way, np.float32(1.0), bent)
            along = zero
            for j in range(len(way)):
                along += way[j] * bent[j]
            if before < SETTLED or not along > zero:
                break
            length = before / along
            for j in range(len(way)):
                x[j] += length * way[j]
                rest[j] -= length * bent[j]
            after = _square(rest)
            for j in range(len(way)):
                way[j] = rest[j] + after / before * way[j]
            before = after


@njit(cache=True, nogil=True)
def _add(rows, n, x, shift, slope, out):  # type: ignore[no-untyped-def]
    """out += Σ over the first n rows y of (shift + slope·(y·x))·y; four rows at a time."""
    whole = n // FOUR * FOUR
    for e in range(0, whole, FOUR):
        s, t, u, v = meet_four(rows, e, x)
        spread_four(rows, e, shift + slope * s, shift + slope * t, shift + slope * u, shift + slope * v, out)
    for e in range(whole, n):
        total = np.float32(0.0)
        for j in range(len(x)):
            total += rows[e, j] * x[j]
        for j in range(len(x)):
            out[j] += (shift + slope * total) * rows[e, j]


@njit(cache=True, nogil=True)
def _add_product(matrix, x, factor, out):  # type: ignore[no-untyped-def]
    """out += factor·matrix·x, for a symmetric matrix whose width is a multiple of 16."""
    for k in range(0, len(x), FOUR):
        s, t, u, v = factor * x[k], factor * x[k + 1], factor * x[k + 2], factor * x[k + 3]
        spread_four(matrix, k, s, t, u, v, out)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _square(x):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for j in range(len(x)):
        total += x[j] * x[j]
    return total
