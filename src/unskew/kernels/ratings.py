"""Rows of a factorisation of ratings: each one a weighted ridge regression on the other side.

    y_e ≈ v·w_o + a + b_o + c          one row (v, a) against the rows (w_o, b_o) that it has ratings with

The other side comes as ``design[o] = (w_o, 1, b_o + c, 0 …)``, padded to whole vectors. With
z = √s·(w_o, 1, y − b_o − c) the matrix Σ z zᵀ holds the normal equations and their right-hand side at once, and
eliminating it leaves the minimum in its corner. Rows do not depend on each other: any division of the rows among
threads gives the same numbers.

The absolute loss is met by majorising it at the present residual r (Hunter & Lange 2004),

    |x| ≤ x²/(2q) + q/2,   q = max(|r|, ε),

so that s = weight/(2q): a step never raises the loss in which |x| is rounded off below ε.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.gram import add_gram, put, solve

CHUNK = 64  # ratings that are worked on together


@njit(cache=True, nogil=True)
def transpose(indptr, item, value, weight, at, user_out, value_out, weight_out):  # type: ignore[no-untyped-def]
    """The same ratings by item: ``at`` (zeros at first) becomes the first place of every item; users ascend."""
    for e in range(len(item)):
        at[item[e] + 1] += 1
    for i in range(1, len(at)):
        at[i] += at[i - 1]
    free = at[:-1].copy()
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            place = free[item[e]]
            user_out[place], value_out[place], weight_out[place] = u, value[e], weight[e]
            free[item[e]] = place + 1


@njit(cache=True, nogil=True)
def solve_rows(first, last, indptr, index, value, weight, own, design, penalty, ridge, edge, loss):  # type: ignore[no-untyped-def]
    """Solve the rows ``first`` … ``last − 1`` of ``own`` (the d factors, then the offset).

    ``penalty`` is that of the factors, ``ridge`` that of the offset. ``edge`` = 0 is the squared loss; above 0 it is ε
    of the absolute loss, of which one majorised step is taken. ``loss[r]`` becomes Σ weight·δ after the step. A row
    without ratings becomes 0.
    """
    width, d = design.shape[1], own.shape[1] - 1
    rows, normal, mine = np.empty((CHUNK, width)), np.empty((width, width)), np.zeros(width)
    for r in range(first, last):
        loss[r] = 0.0
        if indptr[r] == indptr[r + 1]:
            own[r] = 0.0
            continue
        mine[: d + 1] = own[r]
        mine[d + 1] = 1.0
        normal[:] = 0.0
        for start in range(indptr[r], indptr[r + 1], CHUNK):
            n = min(CHUNK, indptr[r + 1] - start)
            for e in range(n):
                o, y, s = np.uintp(index[start + e]), value[start + e], weight[start + e]
                if edge > 0.0:
                    s /= 2.0 * max(abs(y - _dot(design, o, mine)), edge)
                s = np.sqrt(s)
                put(rows, e, design, o, s, 0, False)
                rows[e, d + 1] = s * y - rows[e, d + 1]
            add_gram(rows, n, normal)
        for j in range(d):
            normal[j, j] += penalty
        normal[d, d] += ridge
        solve(normal, d + 1, mine)
        own[r] = mine[: d + 1]
        if edge > 0.0:
            for e in range(indptr[r], indptr[r + 1]):
                loss[r] += weight[e] * abs(value[e] - _dot(design, np.uintp(index[e]), mine))
        else:
            least = normal[d + 1, d + 1] - ridge * mine[d] ** 2
            for j in range(d):
                least -= penalty * mine[j] ** 2
            loss[r] = max(least, 0.0)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(design, o, mine):  # type: ignore[no-untyped-def]
    """design[o]·mine; sums may be reordered (vectors)."""
    total = 0.0
    for j in range(len(mine)):
        total += design[o, j] * mine[j]
    return total


@njit(cache=True, nogil=True)
def multiply(first, last, indptr, index, value, shift, other, out):  # type: ignore[no-untyped-def]
    """out[r] = Σ over the ratings of r of (value − shift)·other[o]; widths are multiples of 8."""
    for r in range(first, last):
        out[r] = 0.0
        for e in range(indptr[r], indptr[r + 1]):
            put(out, r, other, index[e], value[e] - shift, 0, True)


@njit(cache=True, nogil=True)
def slope(indptr, item, value, weight, users, items, level, absolute, edge, user_slope, item_slope):  # type: ignore[no-untyped-def]
    """Σ weight·δ and its derivative by c; those by the rows of users and items are added to the two arrays.

    |x| becomes x²/(2ε) + ε/2 below ε = ``edge``.
    """
    loss, level_slope, d = 0.0, 0.0, users.shape[1] - 1
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            i = np.uintp(item[e])
            rest = level + users[u, d] + items[i, d] - value[e]
            for j in range(d):
                rest += users[u, j] * items[i, j]
            if not absolute:
                loss += weight[e] * rest * rest
                pull = weight[e] * 2.0 * rest
            elif abs(rest) >= edge:
                loss += weight[e] * abs(rest)
                pull = weight[e] * np.sign(rest)
            else:
                loss += weight[e] * (rest * rest / edge + edge) / 2.0
                pull = weight[e] * rest / edge
            for j in range(d):
                user_slope[u, j] += pull * items[i, j]
                item_slope[i, j] += pull * users[u, j]
            user_slope[u, d] += pull
            item_slope[i, d] += pull
            level_slope += pull
    return loss, level_slope
