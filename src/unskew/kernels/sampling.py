"""Keys for weighted sampling without replacement, their least ones, and rows that repeat others.

    key = −log(U) / w        U uniform in (0, 1), a hash of (seed, user, item, time, count)

The rows with the m least keys are m successive draws, each with probability proportional to w among the rows that are
left (Efraimidis & Spirakis 2006): −log(U)/w is exponential with rate w, and the least of such clocks rings first.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

LEADING = 11  # bits of U that tell its step in the tables that bound −log(U)
STEPS = 1 << LEADING
BATCH = 64  # rows whose places in a table are read before any of them is changed
BOUNDS = np.empty((2, STEPS))  # −log(U) lies between these where U lies in a step; a little wider than rounding errors
with np.errstate(divide="ignore"):
    BOUNDS[0] = -np.log(np.arange(1, STEPS + 1) / STEPS) * (1.0 - 1e-9)
    BOUNDS[1] = -np.log(np.arange(STEPS) / STEPS) * (1.0 + 1e-9)


@njit(cache=True, nogil=True)
def hash_rows(stream, users, items, user, item, time, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = a hash of the ids and the time of row e; ``time`` is empty where there is none."""
    timed = len(time) > 0
    for e in range(len(out)):
        h = mix(mix(users[user[e]] ^ stream) ^ items[item[e]])
        if timed:
            h = mix(h ^ np.uint64(time[e]))
        out[e] = h


@njit(cache=True, nogil=True)
def exponential_keys(rows, count, user, item, user_weight, item_weight, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = −log(U)/w of row e; ``count`` tells equal rows apart, and is empty where there are none."""
    repeated = len(count) > 0
    for e in range(len(out)):
        h = mix(rows[e] ^ mix(np.uint64(count[e] if repeated else 0)))
        out[e] = _key(h, user_weight[user[e]] * item_weight[item[e]])


@njit(cache=True, nogil=True)
def place_keys(rows, count, user, item, user_weight, item_weight, low, high, bounds, below, place, keys):  # type: ignore[no-untyped-def]
    """``below[e]``: whether the key of row e is below ``low``; rows up to ``high`` go to ``place`` and ``keys``.

    Gives back how many these are. Few rows need a logarithm: where low·w and high·w do not lie between the ``bounds``
    of −log(U), these decide.
    """
    repeated, found = len(count) > 0, 0
    for e in range(len(rows)):
        h = mix(rows[e] ^ mix(np.uint64(count[e] if repeated else 0)))
        w, step = user_weight[user[e]] * item_weight[item[e]], h >> np.uint64(64 - LEADING)
        below[e] = bounds[1, step] < low * w
        if below[e] or bounds[0, step] > high * w:
            continue
        key = _key(h, w)
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
def unknown(table, places, out):  # type: ignore[no-untyped-def]
    """List the places whose entry is still 0; gives back how many these are."""
    found = 0
    for e in range(len(places)):
        if table[places[e]] == 0:
            out[found] = places[e]
            found += 1
    return found


@njit(cache=True, nogil=True)
def mark_rows(rows, bits, out):  # type: ignore[no-untyped-def]
    """Mark the hash of each row by four bits of one word; hashes whose bits were set already go to ``out``.

    Gives back how many these are. They hold every hash that was there before, and some that only share the bits.
    """
    last, found = np.uint64(len(bits) - 1), 0
    word, mask, touched = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64), np.uint64(0)
    for start in range(0, len(rows), BATCH):
        n = min(BATCH, len(rows) - start)
        for e in range(n):  # words are read side by side here; one after the other each would be waited for
            h = mix(rows[start + e])
            word[e], mask[e] = h & last, np.uint64(0)
            for shift in (40, 46, 52, 58):
                mask[e] |= np.uint64(1) << ((h >> np.uint64(shift)) & np.uint64(63))
            touched ^= bits[word[e]]
        for e in range(n):
            if bits[word[e]] & mask[e] == mask[e]:
                out[found] = rows[start + e]
                found += 1
            else:
                bits[word[e]] |= mask[e]
    return found, touched


@njit(cache=True, nogil=True)
def enter(rows, table):  # type: ignore[no-untyped-def]
    """Enter hashes other than 0 into a table of 2^k places with open addressing, 0 where a place is free."""
    last = np.uint64(len(table) - 1)
    for e in range(len(rows)):
        place = mix(rows[e]) & last
        while table[place] != 0 and table[place] != rows[e]:
            place = (place + np.uint64(1)) & last
        table[place] = rows[e]


@njit(cache=True, nogil=True)
def number_rows(rows, table, seen, out):  # type: ignore[no-untyped-def]
    """``out[e]`` = how many rows with the hash of row e came before it; hashes outside the table come once."""
    last = np.uint64(len(table) - 1)
    for e in range(len(rows)):
        place = mix(rows[e]) & last
        while table[place] != 0 and table[place] != rows[e]:
            place = (place + np.uint64(1)) & last
        if table[place] == rows[e] and rows[e] != 0:
            out[e] = seen[place]
            seen[place] += 1
        else:
            out[e] = 0
