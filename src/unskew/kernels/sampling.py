"""Keys for weighted sampling without replacement, their least ones, and rows that repeat others.

    key = −log(U) / w        U uniform in (0, 1), a hash of (seed, user, item, time, count)

The rows with the m least keys are m successive draws, each with probability proportional to w among the rows that are
left (Efraimidis & Spirakis 2006): −log(U)/w is exponential with rate w, and the least of such clocks rings first.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import hash_number, mix

LEADING = 11  # bits of U that tell its step in the tables that bound −log(U)
STEPS = 1 << LEADING
BATCH = 64  # rows whose entries of large tables are read side by side: one after the other each would be waited for
BOUNDS = np.empty((2, STEPS))  # −log(U) lies between these where U lies in a step; a little wider than rounding errors
with np.errstate(divide="ignore"):
    BOUNDS[0] = -np.log(np.arange(1, STEPS + 1) / STEPS) * (1.0 - 1e-9)
    BOUNDS[1] = -np.log(np.arange(STEPS) / STEPS) * (1.0 + 1e-9)


@njit(cache=True, nogil=True)
def count_rows(ids, low, table, numbers, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = the hash of the id of row e, and rows are counted.

    ``table[id − low]`` holds the hash and the rows of each id; where ids are ``numbers``, a hash is made when it is
    needed first.
    """
    for e in range(len(ids)):
        at = np.uint64(ids[e] - low)
        table[at, 1] += np.uint64(1)
        out[e] = table[at, 0]
    if numbers:
        for e in range(len(ids)):
            if out[e] == 0:
                out[e] = hash_number(ids[e])
                table[np.uint64(ids[e] - low), 0] = out[e]


@njit(cache=True, nogil=True)
def weigh_rows(ids, low, table, value, out, weight):  # type: ignore[no-untyped-def]
    """``out[e]`` = the hash of the id of row e, and ``weight[e]`` is multiplied by the weight of the id.

    ``table[id − low]`` holds the hash and, as ``value[id − low]``, the weight. Gives back whether all ids are there.
    """
    size, known = np.uint64(len(table)), True
    for e in range(len(ids)):
        at = np.uint64(ids[e] - low)
        if at >= size:
            return False
        out[e] = table[at, 0]
        weight[e] *= value[at, 1]
        known &= weight[e] > 0.0
    return known


@njit(cache=True, nogil=True)
def hash_rows(stream, user, item, time, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = a hash of the time of row e and of the hashes of its ids; ``time`` is empty where there is none."""
    for e in range(len(out)):
        out[e] = mix(mix(user[e] ^ stream) ^ item[e])
    for e in range(len(time)):
        out[e] = mix(out[e] ^ np.uint64(time[e]))


@njit(cache=True, nogil=True)
def exponential_keys(rows, count, weight, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = −log(U)/w of row e; ``count`` tells equal rows apart, and is empty where there are none."""
    repeated = len(count) > 0
    for e in range(len(out)):
        out[e] = _key(mix(rows[e] ^ mix(np.uint64(count[e] if repeated else 0))), weight[e])


@njit(cache=True, nogil=True)
def place_keys(rows, count, weight, low, high, bounds, below, place, keys):  # type: ignore[no-untyped-def]
    """``below[e]``: whether the key of row e is below ``low``; rows up to ``high`` go to ``place`` and ``keys``.

    Gives back how many these are. Few rows need a logarithm: where low·w and high·w do not lie between the ``bounds``
    of −log(U), these decide.
    """
    repeated, found = len(count) > 0, 0
    for e in range(len(rows)):
        h = mix(rows[e] ^ mix(np.uint64(count[e] if repeated else 0)))
        step = h >> np.uint64(64 - LEADING)
        below[e] = bounds[1, step] < low * weight[e]
        if (bounds[0, step] <= high * weight[e]) & (not below[e]):
            key = _key(h, weight[e])
            below[e] = key < low
            if low <= key <= high:
                place[found], keys[found] = e, key
                found += 1
    return found


@njit(cache=True, nogil=True, inline="always")
def _key(h, w):  # type: ignore[no-untyped-def]
    uniform = (np.float64(h >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(uniform) / w


@njit(cache=True, nogil=True)
def mark_rows(rows, bits, out):  # type: ignore[no-untyped-def]
    """Mark the hash of each row by four bits of one word; hashes whose bits were set already go to ``out``.

    Gives back how many these are. They hold every hash that was there before, and some that only share the bits.
    """
    last, six, one, found = np.uint64(len(bits) - 1), np.uint64(63), np.uint64(1), 0
    word, mask, touched = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64), np.uint64(0)
    for start in range(0, len(rows), BATCH):
        n = min(BATCH, len(rows) - start)
        for e in range(n):
            h = rows[start + e]
            high, low = one << (h >> np.uint64(58)), one << (h >> np.uint64(52) & six)
            word[e], mask[e] = (
                h & last,
                high | low | one << (h >> np.uint64(46) & six) | one << (h >> np.uint64(40) & six),
            )
        for e in range(n):
            touched ^= bits[word[e]]
        for e in range(n):
            held = bits[word[e]]
            bits[word[e]] = held | mask[e]
            out[found] = rows[start + e]
            found += held & mask[e] == mask[e]
    return found, touched


@njit(cache=True, nogil=True)
def enter(rows, table):  # type: ignore[no-untyped-def]
    """Enter hashes other than 0 into a table of 2^k places with open addressing, 0 where a place is free."""
    last = np.uint64(len(table) - 1)
    for e in range(len(rows)):
        place = rows[e] & last
        while table[place] != 0 and table[place] != rows[e]:
            place = (place + np.uint64(1)) & last
        table[place] = rows[e]


@njit(cache=True, nogil=True)
def number_rows(rows, table, seen, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = how many rows with the hash of row e came before it; hashes outside the table come once."""
    last = np.uint64(len(table) - 1)
    for e in range(len(rows)):
        place = rows[e] & last
        while table[place] != 0 and table[place] != rows[e]:
            place = (place + np.uint64(1)) & last
        if table[place] == rows[e] and rows[e] != 0:
            out[e] = seen[place]
            seen[place] += 1
        else:
            out[e] = 0
