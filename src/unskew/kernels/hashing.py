"""Counter-based hashing: random numbers that depend on ids and a seed, never on batching, order or engine.

``mix`` is the finaliser of SplitMix64 (Steele, Lea & Flood 2014), a bijection of 64 bits that passes BigCrush when
it is fed a counter; texts are folded by FNV-1a first. The same (seed, text, replicate) gives the same number on
every machine, so results merge from any partition of the users.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats, Hashes
from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True, inline="always")
def mix(x):  # type: ignore[no-untyped-def]
    """Scramble 64 bits (SplitMix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def hash_bytes(data, ends, out):  # type: ignore[no-untyped-def]
    """``out[i]`` = hash of the bytes between the ends i − 1 and i."""
    start = 0
    for i in range(len(ends)):
        h = np.uint64(0xCBF29CE484222325)
        for j in range(start, ends[i]):
            h = (h ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        out[i] = mix(h)
        start = ends[i]


@njit(cache=True, nogil=True)
def hash_number(number):  # type: ignore[no-untyped-def]
    """The hash of the text of a number of 64 bits."""
    h, left, digits = np.uint64(0xCBF29CE484222325), np.uint64(number), np.uint64(1)
    if number < 0:
        h, left = (h ^ np.uint64(45)) * np.uint64(0x100000001B3), np.uint64(0) - left  # a minus sign
    while left // digits >= 10:
        digits *= np.uint64(10)
    while digits > 0:
        h = (h ^ (np.uint64(48) + left // digits % np.uint64(10))) * np.uint64(0x100000001B3)
        digits //= np.uint64(10)
    return mix(h)


@njit(cache=True, nogil=True, inline="always")
def unit(key):  # type: ignore[no-untyped-def]
    """A number in [0, 1) from 64 bits, of which 53 are used."""
    return np.float64(mix(key) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def uniform(seed, left, right, out):  # type: ignore[no-untyped-def]
    """A number in [0, 1) for each pair of hashes."""
    for i in range(len(out)):
        out[i] = unit(mix(left[i] ^ seed) ^ right[i])


@njit(cache=True, nogil=True)
def hash_lists(indptr, item, rank, users, items, depth):  # type: ignore[no-untyped-def]
    """Σ over listed pairs with rank ≤ depth of a hash of user, item and rank, from the hashes of their ids."""
    total = np.uint64(0)
    for u in range(len(users)):
        own = mix(users[u])
        for e in range(indptr[u], indptr[u + 1]):
            if rank[e] > depth:
                break
            listed = items[item[e]] if item[e] >= 0 else np.uint64(0)
            total += mix(mix(own ^ listed) ^ np.uint64(rank[e]))
    return total


def pair_uniform(seed: int, left: Hashes, right: Hashes) -> Floats:
    """Uniform numbers that depend only on (seed, left id, right id)."""
    out = np.empty(len(left), dtype=np.float64)
    uniform(np.uint64(mix(np.uint64(seed))), left, right, out)
    return out
