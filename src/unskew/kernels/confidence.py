"""Rows of an implicit factorisation: every unseen pair counts as a zero, none of them is visited.

    x = argmin  Σ over all o of c_o (p_o − x·y_o)² + λ|x|²      p = w and c = 1 + α w where seen, p = 0 and c = 1 else

so that  A x = b,  A = YᵀY + λ + Σ_seen α w y yᵀ,  b = Σ_seen (1 + α w) w y  (Hu, Koren & Volinsky 2008, Eq. 4, with
w = 1). Weights w are given by pair; none means 1. YᵀY + λ is
the same for all rows, so that a row costs its seen pairs only. ``solve_rows`` eliminates, in n·d² steps for n seen
pairs and in double precision; ``approach_rows`` takes a few steps of conjugate gradients from where the row was, in n·d
steps each and in single precision (Takács, Pilászy & Tikk 2011), which is as good from sweep to sweep and much faster
for many factors. Its time goes into reading: pairs are read from all over Y once, with the gradient at the start, and
then from a copy that stays in the cache. Rows do not depend on each other: any division of the rows among threads gives
the same numbers.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.fours import FOUR, LANES, fetch_four, multiply_four, prefetch, squares_four, visit_four
from unskew.kernels.gram import add_gram, put, solve

CHUNK = 64  # pairs that are worked on together
STAY = 1 << 17  # numbers that stay in the second cache: half a megabyte
AHEAD = 16  # pairs between the one that is worked on and those whose rows are asked for
SETTLED = np.float32(1e-20)  # squared length of a gradient below which a row stays where it is


@njit(cache=True, nogil=True)
def solve_rows(first, last, indptr, index, weight, other, base, alpha, own):  # type: ignore[no-untyped-def]
    """Solve the rows ``first`` … ``last − 1`` of ``own``; a row without pairs becomes 0.

    ``other`` is Y, padded with zeros to whole vectors, ``base`` is YᵀY + λ (upper triangle), padded to hold one more
    column.
    """
    d = own.shape[1]
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
                w = weight[start + e] if len(weight) else 1.0
                put(rows, e, other, o, np.sqrt(alpha * w), 0, False)
                put(total, 0, other, o, (1.0 + alpha * w) * w, 0, True)
            add_gram(rows, n, normal)
        normal[:d, d] = total[0, :d]
        solve(normal, d, mine)
        own[r] = mine[:d]


@njit(cache=True, nogil=True)
def approach_rows(first, last, indptr, index, weight, other, base, alpha, steps, own):  # type: ignore[no-untyped-def]
    """Take ``steps`` conjugate gradients in the rows ``first`` … ``last − 1`` of ``own``; all numbers are float32.

    ``base`` is the whole of YᵀY + λ; widths are multiples of 16. A row without pairs becomes 0. Up to four rows take
    their steps together, so that ``base`` is read once for all of them: as many as have pairs that stay in the second
    cache together. A row's numbers do not depend on the others.
    """
    most, zero, width = FOUR, np.float32(0.0), other.shape[1]
    for r in range(first, last):
        most = max(most, indptr[r + 1] - indptr[r] + FOUR)
    seen = np.empty((max(most, STAY // width + FOUR * FOUR), width), np.float32)
    rest, way, bent = np.zeros_like(seen[:FOUR]), np.zeros_like(seen[:FOUR]), np.zeros_like(seen[:FOUR])
    start, stop, before = np.empty(FOUR, np.intp), np.empty(FOUR, np.intp), np.empty(FOUR, np.float32)
    r = first
    while r < last:
        rows = 1
        while rows < FOUR and r + rows < last and (indptr[r + rows + 1] - indptr[r]) * width <= STAY:
            rows += 1
        way[:rows] = own[r : r + rows]
        _multiply(base, way, bent)
        end = 0
        for g in range(rows):
            start[g] = end
            for j in range(width):
                rest[g, j] = -bent[g, j]
            stop[g] = indptr[r + g + 1]
            end = _fetch(other, index, weight, indptr[r + g], stop[g], seen, end, own[r + g], alpha, rest[g])
            stop[g] = end
            way[g] = rest[g]
            before[g] = _product(rest[g], rest[g])
            if start[g] == stop[g]:
                own[r + g], before[g] = zero, zero
        for step in range(steps):
            _multiply(base, way, bent)
            for g in range(rows):
                if before[g] < SETTLED:
                    continue
                if step == steps - 1:  # of the last step, only its length is needed
                    along = _product(way[g], bent[g]) + alpha * _squares(seen, start[g], stop[g], way[g])
                else:
                    for e in range(start[g], stop[g], FOUR):
                        visit_four(seen, e, way[g], zero, alpha, bent[g])
                    along = _product(way[g], bent[g])
                before[g] = _step(own[r + g], rest[g], way[g], bent[g], before[g], along)
        r += rows


@njit(cache=True, nogil=True)
def _fetch(other, index, weight, first, last, seen, end, x, alpha, rest):  # type: ignore[no-untyped-def]
    """Copy the rows of a row's pairs, times √w, to ``seen`` from ``end`` on, and zeros up to a multiple of four.

    rest += Σ ((1 + α w)·w − α w·(y·x))·y. Gives back the new end.
    """
    shift = np.float32(1.0) + alpha
    fours = first if len(weight) else last - (last - first) % FOUR
    for e in range(first, fours, FOUR):
        for ahead in range(e + AHEAD, min(e + AHEAD + FOUR, len(index))):
            prefetch(other, np.intp(index[ahead]))
        fetch_four(other, index, e, seen, end, x, shift, -alpha, rest)
        end += FOUR
    begin = end
    for e in range(fours, last):
        seen[end] = other[np.intp(index[e])]
        if len(weight):
            root = np.sqrt(np.float32(weight[e]))
            for j in range(len(x)):
                seen[end, j] *= root
                rest[j] += (np.float32(1.0) + alpha * root * root) * root * seen[end, j]
        end += 1
    while (end - begin) % FOUR:
        seen[end] = np.float32(0.0)
        end += 1
    for e in range(begin, end, FOUR):
        visit_four(seen, e, x, np.float32(0.0) if len(weight) else shift, -alpha, rest)
    return end


@njit(cache=True, nogil=True)
def _step(x, rest, way, bent, before, along):  # type: ignore[no-untyped-def]
    """Go one step, and turn; gives back the squared length of the gradient, 0 where there was nowhere to go."""
    if not along > np.float32(0.0):
        return np.float32(0.0)
    length = before / along
    for j in range(len(x)):
        x[j] += length * way[j]
        rest[j] -= length * bent[j]
    after = _product(rest, rest)
    turn = after / before
    for j in range(len(x)):
        way[j] = rest[j] + turn * way[j]
    return after


@njit(cache=True, nogil=True)
def _multiply(matrix, vectors, out):  # type: ignore[no-untyped-def]
    """out = vectors·matrix for four vectors; 32 columns at a time."""
    width = matrix.shape[1]
    for first in range(0, width - LANES, 2 * LANES):
        multiply_four(matrix, first, 2, vectors, out)
    if width % (2 * LANES):
        multiply_four(matrix, width - LANES, 1, vectors, out)


@njit(cache=True, nogil=True)
def _squares(rows, first, last, x):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for e in range(first, last, FOUR):
        total += squares_four(rows, e, x)
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _product(x, y):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for j in range(len(x)):
        total += x[j] * y[j]
    return total
