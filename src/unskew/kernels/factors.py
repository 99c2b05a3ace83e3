"""Logistic matrix factorisation by blocks: which pairs, one Newton step for every row, the loss of held-out pairs.

A pair is one number, 2·item + seen (or 2·user + seen), so that a list of pairs is one array. A row of factors holds
the d factors and, last, the offset. Given the other side, every row is a penalised logistic regression of its own

    max over (v, a) of  Σ_pairs ωr [ seen·z − log(1 + e^z) ] − ½ (penalty·|v|² + ridge·a²),     z = v·w_o + a + b_o + c

(ω counts the other side's row; r weighs the pair, 1 unless told) and rows do not depend on each other: any division of
the rows among threads gives the same numbers. Where seen pairs are a random part of a whole, with a known ``share`` t,
the probability of a pair is t·σ(z), and lift + log t + z − log(1 + (1 − t) e^z) stands in the place of z in the
likelihood (``lift`` is that of sampled unseen pairs).

A Newton step is shortened until no logit moves by more than ``REACH``. The curvature then changes by at most e^REACH
on the way, so that the step gains at least 1 − (e^REACH − 1 − REACH)/REACH² > 0 of what it promises (Bach 2010,
self-concordance of the logistic loss): the penalised likelihood never falls.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

REACH = 1.5
LIMIT = 15.0  # logits are cut here: P stays between 3e-7 and 1 − 3e-7
CHUNK = 128  # pairs that are worked on together
UNIT = 1.0 / 9007199254740992.0  # 2^-53


@njit(cache=True, nogil=True, inline="always")
def draw(key):  # type: ignore[no-untyped-def]
    """A number in (0, 1) from 64 bits."""
    return (np.float64(mix(key) >> np.uint64(11)) + 0.5) * UNIT


@njit(cache=True, nogil=True)
def gather(indptr, item, users, items, seed, rate, held, kept_at, kept, held_at, held_out):  # type: ignore[no-untyped-def]
    """List the pairs of every user: all seen ones, and each unseen one with probability ``rate``, items ascending.

    Each listed pair is held out with probability ``held``. Draws hash (seed, user, item), or for unseen pairs the
    number of the draw: gaps between sampled items are geometric, so that the cost is that of the pairs drawn.
    Called with empty ``kept`` it counts only; ``kept_at`` and ``held_at`` become the first places of every user.
    """
    count, n_kept, n_held = len(kept) == 0, 0, 0
    scale = 0.0 if rate >= 1.0 else 1.0 / np.log1p(-rate)
    for u in range(len(users)):
        key = mix(users[u] ^ seed)
        row, last, drawn, at = indptr[u], indptr[u + 1], np.uint64(0), -1
        while True:
            if rate >= 1.0:
                at += 1
            else:
                drawn += np.uint64(1)
                at = int(min(at + 1.0 + np.floor(np.log(draw(key + drawn)) * scale), len(items) + 0.0))
            while row < last and item[row] <= at:  # seen pairs come on the way
                if draw(mix(key) ^ items[item[row]]) < held:
                    if not count:
                        held_out[n_held] = 2 * item[row] + 1
                    n_held += 1
                else:
                    if not count:
                        kept[n_kept] = 2 * item[row] + 1
                    n_kept += 1
                row += 1
            if at >= len(items):
                break
            if row > indptr[u] and item[row - 1] == at:
                continue
            if draw(mix(key) ^ items[at]) < held:
                if not count:
                    held_out[n_held] = 2 * at
                n_held += 1
            else:
                if not count:
                    kept[n_kept] = 2 * at
                n_kept += 1
        kept_at[u + 1], held_at[u + 1] = n_kept, n_held


@njit(cache=True, nogil=True)
def transpose(indptr, pair, at, out):  # type: ignore[no-untyped-def]
    """The same pairs by item: ``at`` becomes the first place of every item, ``out`` holds 2·user + seen."""
    for e in range(len(pair)):
        at[(pair[e] >> 1) + 1] += 1
    for i in range(1, len(at)):
        at[i] += at[i - 1]
    free = at[:-1].copy()
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            i = pair[e] >> 1
            out[free[i]] = 2 * u + (pair[e] & 1)
            free[i] += 1


@njit(cache=True, nogil=True)
def ascend(  # type: ignore[no-untyped-def]
    first, last, indptr, pair, pull, own, other, weight, level, penalty, ridge, settled, lift=0.0, share=1.0
):
    """One Newton step for the rows ``first`` … ``last − 1`` of ``own``; ``weight`` counts the rows of ``other``.

    ``pull`` says what each pair weighs (empty: 1), ``penalty`` what holds the factors of each row. Once factors are
    ``settled`` only the offset moves.
    """
    width = own.shape[1]
    d = width - 1
    step, curvature = np.empty(width), np.empty((width, width))
    x, z, rest, bend = np.ones((width, CHUNK)), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    longest = 1.0
    for o in range(len(other)):
        longest = max(longest, 1.0 + np.sum(other[o, :d] ** 2))
    for r in range(first, last):
        mine = own[r]
        curvature[:] = 0.0
        for j in range(width):
            curvature[j, j] = penalty[r] if j < d else ridge
            step[j] = -curvature[j, j] * mine[j]
        for start in range(indptr[r], indptr[r + 1], CHUNK):
            n = min(CHUNK, indptr[r + 1] - start)
            for e in range(n):
                theirs = other[pair[start + e] >> 1]
                total = level + mine[d] + theirs[d]
                for j in range(d):
                    x[j, e] = theirs[j]
                    total += mine[j] * theirs[j]
                z[e] = total
            for e in range(n):
                eta, slope = min(max(z[e], -LIMIT), LIMIT), 1.0
                if share < 1.0:
                    slope = 1.0 / (1.0 + (1.0 - share) * np.exp(eta))
                    eta += lift + np.log(share * slope)
                p = 1.0 / (1.0 + np.exp(-eta))
                w = weight[pair[start + e] >> 1]
                if len(pull):
                    w *= pull[start + e]
                rest[e], bend[e] = w * slope * ((pair[start + e] & 1) - p), w * slope * slope * p * (1.0 - p)
            accumulate(x, rest, bend, n, z, step, curvature)
        if settled:
            step[:d] = 0.0
            step[d] /= curvature[d, d]
        else:
            solve(curvature, step)
        scale = 1.0
        if np.sum(step**2) * longest > REACH * REACH:
            far = REACH
            for e in range(indptr[r], indptr[r + 1]):
                theirs = other[pair[e] >> 1]
                moved = step[d]
                for j in range(d):
                    moved += step[j] * theirs[j]
                far = max(far, abs(moved))
            scale = REACH / far
        for j in range(width):
            mine[j] += scale * step[j]


@njit(cache=True, nogil=True)
def information(first, last, indptr, pair, own, other, weight, level, lift, share, out):  # type: ignore[no-untyped-def]
    """``out[r]`` = what the pairs of a row tell of its offset: Σ ω·p(1 − p), times the squared slope of the link."""
    d = own.shape[1] - 1
    for r in range(first, last):
        total = 0.0
        for e in range(indptr[r], indptr[r + 1]):
            o = pair[e] >> 1
            eta, slope = level + own[r, d] + other[o, d], 1.0
            for j in range(d):
                eta += own[r, j] * other[o, j]
            eta = min(max(eta, -LIMIT), LIMIT)
            if share < 1.0:
                slope = 1.0 / (1.0 + (1.0 - share) * np.exp(eta))
                eta += lift + np.log(share * slope)
            p = 1.0 / (1.0 + np.exp(-eta))
            total += weight[o] * slope * slope * p * (1.0 - p)
        out[r] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def accumulate(x, rest, bend, n, scratch, gradient, curvature):  # type: ignore[no-untyped-def]
    """Add a chunk's Σ rest·x to the gradient and Σ bend·x·xᵀ to the lower triangle; sums may be reordered (SIMD)."""
    for j in range(len(gradient)):
        total = 0.0
        for e in range(n):
            scratch[e] = bend[e] * x[j, e]
            total += rest[e] * x[j, e]
        gradient[j] += total
        for k in range(j + 1):
            total = 0.0
            for e in range(n):
                total += scratch[e] * x[k, e]
            curvature[j, k] += total


@njit(cache=True, nogil=True)
def solve(matrix, vector):  # type: ignore[no-untyped-def]
    """Solve in place by Cholesky; the lower triangle of a positive definite matrix is used up."""
    n = len(vector)
    for j in range(n):
        for k in range(j):
            matrix[j, j] -= matrix[j, k] ** 2
        matrix[j, j] = np.sqrt(max(matrix[j, j], 1e-12))
        for i in range(j + 1, n):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            matrix[i, j] /= matrix[j, j]
    for j in range(n):
        for k in range(j):
            vector[j] -= matrix[j, k] * vector[k]
        vector[j] /= matrix[j, j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            vector[j] -= matrix[k, j] * vector[k]
        vector[j] /= matrix[j, j]


@njit(cache=True, nogil=True)
def log_loss(indptr, pair, pull, users, items, weight, level, lift=0.0, share=1.0):  # type: ignore[no-untyped-def]
    """Σ ωr and Σ ωr·(log(1 + e^z) − seen·z) over some pairs by user; ``pull`` is r (empty: 1)."""
    total, loss, d = 0.0, 0.0, users.shape[1] - 1
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            i = pair[e] >> 1
            z = level + users[u, d] + items[i, d]
            for j in range(d):
                z += users[u, j] * items[i, j]
            z = min(max(z, -LIMIT), LIMIT)
            if share < 1.0:
                z += lift + np.log(share) - np.log1p((1.0 - share) * np.exp(z))
            w = weight[u] * pull[e] if len(pull) else weight[u]
            loss += w * (np.log1p(np.exp(-abs(z))) + max(z, 0.0) - (pair[e] & 1) * z)
            total += w
    return total, loss
