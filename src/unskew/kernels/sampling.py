"""Keys for weighted sampling without replacement, their least ones, and rows that repeat others.

    key = −log(U) / w        U uniform in (0, 1), a hash of (seed, user, item, time, count)

The rows with the m least keys are m successive draws, each with probability proportional to w among the rows that are
left (Efraimidis & Spirakis 2006): −log(U)/w is exponential with rate w, and the least of such clocks rings first.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

BITS = 22  # of a key's pattern that tell its bin: the exponent, and ten of its mantissa (0.1 % of the key)
SHIFT = 64 - BITS


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
        h = mix(rows[e] ^ mix(np.uint64(count[e]))) if repeated else mix(rows[e] ^ mix(np.uint64(0)))
        uniform = (np.float64(h >> np.uint64(11)) + 0.5) / 9007199254740992.0
        out[e] = -np.log(uniform) / (user_weight[user[e]] * item_weight[item[e]])


@njit(cache=True, nogil=True)
def tally_bins(patterns, bins):  # type: ignore[no-untyped-def]
    """Count keys by bin; ``patterns`` are keys as 64 bits, which ascend as positive numbers do."""
    for e in range(len(patterns)):
        bins[patterns[e] >> np.uint64(SHIFT)] += 1


@njit(cache=True, nogil=True)
def mark_rows(rows, bits, out):  # type: ignore[no-untyped-def]
    """Mark the hash of each row in a table of bits; hashes whose bit was set already go to ``out``, and are counted.

    They hold every hash that was there before, and some that only share a bit.
    """
    last, found = np.uint64(64 * len(bits) - 1), 0
    for e in range(len(rows)):
        place = mix(rows[e]) & last
        word, bit = place >> np.uint64(6), np.uint64(1) << (place & np.uint64(63))
        if bits[word] & bit:
            out[found] = rows[e]
            found += 1
        else:
            bits[word] |= bit
    return found


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
