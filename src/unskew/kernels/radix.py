"""The order of rows by two codes, by a radix sort of words that hold both codes and the row.

    word = (first code, second code, row), each in as many bits as it needs

Words are moved by the digits of the codes, lowest first; every pass keeps the order of equal digits, and rows start in
their order, so the sort is stable. Reading and writing go forward through few streams at once, where a counting sort by
the codes themselves jumps to a place of its own for every row.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Ints32, Ints64
from unskew.kernels.compiled import njit

DIGIT = 16  # bits at most: the places of all digits stay in the second-level cache


def fits(rows: int, firsts: int, seconds: int) -> bool:
    """Whether a word has room for codes below ``firsts`` and ``seconds``, and for so many rows."""
    return _bits(rows) + _bits(firsts) + _bits(seconds) <= 64


def order_by(first: Ints32, second: Ints32, firsts: int, seconds: int, ordered: Ints32 | None = None) -> Ints64:
    """The order of the rows by (first, second, row); codes are below ``firsts`` and ``seconds`` and must fit.

    Args:
        ordered: gets the second codes in that order, which the words hold already.
    """
    low = _bits(len(first))
    codes = _bits(firsts) + _bits(seconds)
    passes = max(1, -(-codes // DIGIT))
    digit = -(-codes // passes)
    words, room = np.empty(len(first), dtype=np.uint64), np.empty(len(first), dtype=np.uint64)
    places = np.zeros((passes, 1 << digit), dtype=np.int64)
    _pack(first, second, np.uint64(_bits(seconds)), np.uint64(low), words)
    _sort(words, room, np.uint64(low), np.uint64(digit), places)
    done, spare = (words, room) if passes % 2 == 0 else (room, words)
    if ordered is not None:
        _codes(done, np.uint64(low), np.uint64(_bits(seconds)), ordered)
    order = spare.view(np.int64)
    _rows(done, np.uint64(low), order)
    return order


def _bits(count: int) -> int:
    """How many bits the codes below ``count`` need."""
    return max(1, (count - 1).bit_length())


@njit(cache=True, nogil=True)
def _pack(first, second, width, low, out):  # type: ignore[no-untyped-def]
    for r in range(len(first)):
        out[r] = (((np.uint64(first[r]) << width) | np.uint64(second[r])) << low) | np.uint64(r)


@njit(cache=True, nogil=True)
def _sort(words, room, low, digit, places):  # type: ignore[no-untyped-def]
    """Sort by the bits above ``low``; after an odd number of passes (rows of ``places``) the result is in ``room``."""
    passes, size = places.shape
    mask = np.uint64(size - 1)
    for r in range(len(words)):
        rest = words[r] >> low
        for p in range(passes):
            places[p, np.uintp(rest & mask)] += 1
            rest >>= digit
    for p in range(passes):
        total = 0
        for d in range(size):
            count = places[p, d]
            places[p, d] = total
            total += count
    for p in range(passes):
        shift, place = low + np.uint64(p) * digit, places[p]
        for r in range(len(words)):
            word = words[r]
            value = np.uintp((word >> shift) & mask)
            at = place[value]
            room[np.uintp(at)] = word
            place[value] = at + 1
        words, room = room, words


@njit(cache=True, nogil=True)
def _rows(words, low, out):  # type: ignore[no-untyped-def]
    mask = (np.uint64(1) << low) - np.uint64(1)
    for r in range(len(words)):
        out[r] = np.int64(words[r] & mask)


@njit(cache=True, nogil=True)
def _codes(words, low, width, out):  # type: ignore[no-untyped-def]
    mask = (np.uint64(1) << width) - np.uint64(1)
    for r in range(len(words)):
        out[r] = np.int32((words[r] >> low) & mask)
