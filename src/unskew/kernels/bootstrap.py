"""Poisson(1) weights of users in every replicate of a bootstrap, and column sums under them.

The weight of (user, replicate) is read off a hash of the seed, the user's id and the replicate's number, so any
batching of the users gives the same replicates. ``limits`` are the Poisson distribution's quantiles on 64 bits, 8 at
least.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Hashes
from unskew.kernels.compiled import njit

TILE = 32  # users whose weights are held at once
PART = 128  # replicates for which they are held: 32 kB, which stay in the cache while all columns are summed
STEP = 4  # users that are added to a column together


@njit(cache=True, nogil=True, inline="always")
def _hash(user, stream):  # type: ignore[no-untyped-def]
    """64 bits for one user in one replicate (the finaliser of SplitMix64)."""
    h = user ^ stream
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _weight(h, limits):  # type: ignore[no-untyped-def]
    """The weight that a hash stands for: how many limits it reaches."""
    weight = 0
    while weight < len(limits) and h >= limits[weight]:
        weight += 1
    return weight


@njit(cache=True, nogil=True, inline="always")
def _stream(seed, replicate):  # type: ignore[no-untyped-def]
    """What all hashes of one replicate have in common."""
    return (seed + np.uint64(replicate)) * np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def draw(hashes: Hashes, seed: np.uint64, replicate: int, limits: Hashes, out: Floats) -> None:
    """``out[user]`` = the Poisson(1) weight of every user in one replicate: the same that ``resample`` uses."""
    stream = _stream(seed, replicate)
    for u in range(len(hashes)):
        out[u] = _weight(_hash(hashes[u], stream), limits)


@njit(cache=True, nogil=True)
def _weigh(user, streams, first, n, limits, row, out):  # type: ignore[no-untyped-def]
    """``out[row, b]`` = the user's weight in replicate ``first + b``, for ``n`` replicates.

    Without branches, so that several replicates are drawn by one instruction. Seven limits suffice but for one weight
    in 100,000; a part that holds such a one is gone through again.
    """
    l0, l1, l2, l3, l4, l5, l6 = limits[0], limits[1], limits[2], limits[3], limits[4], limits[5], limits[6]
    largest = np.uint64(0)
    for b in range(n):
        h = _hash(user, streams[np.uintp(first + b)])
        weight = 1.0 if h >= l0 else 0.0
        weight = 2.0 if h >= l1 else weight
        weight = 3.0 if h >= l2 else weight
        weight = 4.0 if h >= l3 else weight
        weight = 5.0 if h >= l4 else weight
        weight = 6.0 if h >= l5 else weight
        weight = 7.0 if h >= l6 else weight
        largest = max(largest, h)
        out[row, np.uintp(b)] = weight
    if largest >= limits[7]:
        for b in range(n):
            out[row, b] = _weight(_hash(user, streams[first + b]), limits)


@njit(cache=True, nogil=True)
def resample(x: Floats, hashes: Hashes, seed: np.uint64, limits: Hashes, out: Floats) -> None:
    """Add to ``out[column, replicate]`` the sums of ``x[column, user]`` under Poisson(1) weights per user.

    Numbers that are 0 are passed over, and users with nothing else draw no weights: the cost is that of what is there.
    """
    columns, users = x.shape
    replicates = out.shape[1]
    streams = np.empty(replicates, dtype=np.uint64)
    for b in range(replicates):
        streams[b] = _stream(seed, b)
    weights = np.zeros((TILE + 1, PART))  # the last row stays 0: it fills up steps
    place, number = np.empty((columns, TILE + STEP), dtype=np.int64), np.empty((columns, TILE + STEP))
    count, there = np.empty(columns, dtype=np.int64), np.empty(TILE, dtype=np.bool_)
    for start in range(0, users, TILE):
        here = min(TILE, users - start)
        for u in range(here):
            there[u] = False
        for c in range(columns):
            n = 0
            for u in range(here):
                place[c, n], number[c, n] = u, x[c, start + u]
                there[u] |= number[c, n] != 0.0
                n += number[c, n] != 0.0
            for j in range(n, n + STEP):
                place[c, j], number[c, j] = TILE, 0.0
            count[c] = n
        for first in range(0, replicates, PART):
            n = min(PART, replicates - first)
            for u in range(here):
                if there[u]:
                    _weigh(hashes[start + u], streams, first, n, limits, u, weights)
            for c in range(columns):
                for j in range(0, count[c], STEP):
                    u0, u1 = np.uintp(place[c, j]), np.uintp(place[c, j + 1])
                    u2, u3 = np.uintp(place[c, j + 2]), np.uintp(place[c, j + 3])
                    x0, x1, x2, x3 = number[c, j], number[c, j + 1], number[c, j + 2], number[c, j + 3]
                    for b in range(n):
                        k = np.uintp(b)
                        drawn = x0 * weights[u0, k] + x1 * weights[u1, k] + x2 * weights[u2, k] + x3 * weights[u3, k]
                        out[c, np.uintp(first) + k] += drawn
