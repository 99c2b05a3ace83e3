"""Moments of per-user columns: everything that estimates, intervals and verdicts need, as sums that merge.

A block of users is a matrix ``x[user, column]``; a *cell* (one metric × estimator × target) is a set of its columns.
Cross products are centred inside the block, so that merging (Chan, Golub & LeVeque 1983) loses no digits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Ints64 = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

TILE = 128  # users whose columns stay in the cache while all replicates are drawn


@njit(cache=True, nogil=True)
def cell_moments(
    x: Floats, columns: Ints64, own: Ints64, active: Ints64, mean: Floats, cross: Floats, differ: Ints64
) -> None:
    """Mean, centred cross products and counts of one cell.

    ``own[kind, model]`` are the places in ``columns`` that belong to one model. ``active[0]`` counts users with a
    column ≠ 0, ``differ[a, b]`` users for whom models a and b differ in any kind.
    """
    width = len(columns)
    kinds, models = own.shape
    users = len(x)
    for c in range(width):
        total = 0.0
        for u in range(users):
            total += x[u, columns[c]]
        mean[c] = total / users
    centred = np.empty(width)
    for u in range(users):
        present = False
        for c in range(width):
            value = x[u, columns[c]]
            present = present or value != 0.0
            centred[c] = value - mean[c]
        active[0] += present
        for c in range(width):
            for d in range(c + 1):
                cross[c, d] += centred[c] * centred[d]
        for a in range(models):
            for b in range(a):
                for kind in range(kinds):
                    if x[u, columns[own[kind, a]]] != x[u, columns[own[kind, b]]]:
                        differ[a, b] += 1
                        break
    for c in range(width):
        for d in range(c):
            cross[d, c] = cross[c, d]
    for a in range(models):
        for b in range(a):
            differ[b, a] = differ[a, b]


@njit(cache=True, nogil=True)
def tally(indptr: Ints64, weight: Floats, value: Floats, divisor: Floats, bins: Ints64, out: Floats) -> None:
    """Σ|v|, Σv², max|v|, pairs with v ≠ 0, v = weight · value / divisor; ``bins`` counts weights by powers of √2."""
    half = len(bins) // 2
    for u in range(len(indptr) - 1):
        if divisor[u] <= 0.0:
            continue
        for row in range(indptr[u], indptr[u + 1]):
            v = abs(weight[row] * value[row] / divisor[u])
            if v > 0.0:
                out[0] += v
                out[1] += v * v
                out[2] = max(out[2], v)
                out[3] += 1.0
                place = half + int(np.floor(2.0 * np.log2(abs(weight[row]))))
                bins[min(max(place, 0), len(bins) - 1)] += 1


@njit(cache=True, nogil=True, inline="always")
def _weight(user, stream, limits):  # type: ignore[no-untyped-def]
    """The Poisson(1) weight of a user in one replicate, read off a hash."""
    h = user ^ stream
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = h ^ (h >> np.uint64(31))
    weight = (h >= limits[0]) + (h >= limits[1]) + (h >= limits[2]) + (h >= limits[3])
    if weight == 4:
        while weight < len(limits) and h >= limits[weight]:
            weight += 1
    return weight


@njit(cache=True, nogil=True)
def draw(hashes: Hashes, seed: np.uint64, replicate: int, limits: Hashes, out: Floats) -> None:
    """``out[user]`` = the Poisson(1) weight of every user in one replicate: the same that ``resample`` uses."""
    stream = (seed + np.uint64(replicate)) * np.uint64(0x9E3779B97F4A7C15)
    for u in range(len(hashes)):
        out[u] = _weight(hashes[u], stream, limits)


@njit(cache=True, nogil=True)
def resample(x: Floats, hashes: Hashes, seed: np.uint64, limits: Hashes, out: Floats) -> None:
    """Add to ``out[replicate, column]`` the column sums under Poisson(1) weights per user.

    The weight of (user, replicate) is read off a hash of the seed, the user's id and the replicate's number, so any
    batching of the users gives the same replicates. ``limits`` are the Poisson distribution's quantiles on 64 bits.
    """
    users, columns = x.shape
    drawn, weights = np.empty(TILE + 4, dtype=np.int64), np.empty(TILE + 4)
    for start in range(0, users, TILE):
        for b in range(len(out)):
            stream = (seed + np.uint64(b)) * np.uint64(0x9E3779B97F4A7C15)
            n = 0
            for u in range(start, min(start + TILE, users)):
                weight = _weight(hashes[u], stream, limits)
                drawn[n], weights[n] = u, weight
                n += weight > 0
            for j in range(n, n + 4):  # fill the last group of four with weights of 0
                drawn[j], weights[j] = start, 0.0
            row = out[b]
            for j in range(0, n, 4):
                u0, u1, u2, u3 = drawn[j], drawn[j + 1], drawn[j + 2], drawn[j + 3]
                w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
                for c in range(columns):
                    row[c] += w0 * x[u0, c] + w1 * x[u1, c] + w2 * x[u2, c] + w3 * x[u3, c]
