"""Number texts as they appear, straight from Arrow's string views: no Python object, no copy of the column.

A view has 16 bytes, read as two words: the length (the low half of the first word) and the text itself where it has at
most 12 bytes; else its first four bytes, and where it stands in a buffer. A short text *is* its view, so two words tell
it apart from every other. A longer one is told apart by two hashes of its bytes under a secret of the process, 96 bits
in all besides its length: among a billion texts two fall together with a chance of 10⁻¹¹.

Open addressing with at most half of the slots taken; the table is made larger from outside.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

INLINE = 12  # bytes of a text that a view holds itself
HALF = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def number_texts(views, data, bases, secret, start, slots, first, second, rows, known, out):  # type: ignore[no-untyped-def]
    """Number the texts of ``views[n, 2]`` from row ``start`` on; how many texts are known then, and the row reached.

    ``data`` are all buffers one after the other, which begin at ``bases``. ``slots`` holds numbers, −1 where free;
    ``first`` and ``second`` the words of each number, ``rows`` where it came first (in rows of this piece plus
    ``rows[-1]``). Stops where half of the slots are taken.
    """
    mask = np.uint64(len(slots) - 1)
    offset = rows[len(rows) - 1]
    for r in range(start, len(views)):
        if 2 * known >= len(slots):
            return known, r
        one, two = views[r, 0], views[r, 1]
        length = np.int64(one & HALF)
        if length > INLINE:
            begin = bases[np.int64(two & HALF)] + np.int64(two >> np.uint64(32))
            one, two = _long(data, begin, length, secret)
        at = mix(one ^ mix(two ^ secret)) & mask
        while slots[at] >= 0 and (first[slots[at]] != one or second[slots[at]] != two):
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = known
            first[known], second[known], rows[known] = one, two, offset + r
            known += 1
        out[r] = slots[at]
    return known, len(views)


@njit(cache=True, nogil=True)
def _long(data, begin, length, secret):  # type: ignore[no-untyped-def]
    """Two words for a text of more than 12 bytes: a hash beside its length, and another hash."""
    a, b = secret, ~secret
    at, stop = begin, begin + length
    while at < stop:
        word, shift = np.uint64(0), np.uint64(0)
        for j in range(at, min(at + 8, stop)):
            word |= np.uint64(data[j]) << shift
            shift += np.uint64(8)
        a, b = mix(a ^ word), mix(b + word * np.uint64(0x9E3779B97F4A7C15))
        at += 8
    return (a << np.uint64(32)) | np.uint64(length), b


@njit(cache=True, nogil=True)
def fill_slots(first, second, known, secret, slots):  # type: ignore[no-untyped-def]
    """Put all known texts into a new table."""
    mask = np.uint64(len(slots) - 1)
    for number in range(known):
        at = mix(first[number] ^ mix(second[number] ^ secret)) & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number
