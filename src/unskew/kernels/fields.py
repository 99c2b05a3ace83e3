"""How many fields the records of a text file have: one pass over its bytes, in blocks of any size.

A record ends at a line end outside quotes. A quote opens at the beginning of a field only, and a doubled one inside
quotes stands for itself. Most words of eight bytes hold neither a line end nor a quote, and are counted whole.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from unskew.kernels.compiled import njit

STATE = 9  # numbers that a scan carries from block to block
SEPARATORS, QUOTED, CLOSED, PREVIOUS, LENGTH, RECORDS, LINES, FIRST_LINE, STRAY = range(STATE)
FINE, COUNT, AFTER_QUOTE = range(3)  # what a scan finds
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13
_ONES, _LOW, _HIGH = uint64(0x0101010101010101), uint64(0x7F7F7F7F7F7F7F7F), uint64(0x8080808080808080)


@njit(cache=True, nogil=True, inline="always")
def _equal(word, pattern):  # type: ignore[no-untyped-def]
    """The high bit of each byte of a word that equals that of the pattern."""
    other = word ^ pattern
    return ~(((other & _LOW) + _LOW) | other | _LOW) & _HIGH


@njit(cache=True, nogil=True, inline="always")
def _number(bits):  # type: ignore[no-untyped-def]
    """How many high bits are set."""
    return np.int64(((bits >> uint64(7)) * _ONES) >> uint64(56))


@njit(cache=True, nogil=True)
def scan(data, words, separator, fields, state):  # type: ignore[no-untyped-def]
    """Scan a block; stops at the first record that has not so many fields, or whose quotes are wrong.

    Args:
        data: the bytes.
        words: the same bytes by eights, without those behind the last eight.
        fields: what each record must have; empty lines have none and pass.
        state: zeros at first; carried from block to block. ``FIRST_LINE`` then tells on which line (from 0) the
            record began, ``STRAY`` the first line (from 1) with a quote inside a field that is not quoted, or 0.
    """
    quotes = uint64(_QUOTE) * _ONES
    newlines = uint64(_NEWLINE) * _ONES
    separators = uint64(separator) * _ONES
    count, quoted, closed = state[SEPARATORS], state[QUOTED] != 0, state[CLOSED] != 0
    previous, length = state[PREVIOUS], state[LENGTH]
    records, lines, first, stray = state[RECORDS], state[LINES], state[FIRST_LINE], state[STRAY]
    found = FINE
    size, at = len(data), 0
    while at < size and found == FINE:
        if at % 8 == 0 and at // 8 < len(words) and not closed:
            word = words[at // 8]
            if _equal(word, quotes) == 0:
                ends = _equal(word, newlines)
                if quoted:
                    lines += _number(ends)
                    ends = uint64(0)
                    commas = uint64(0)
                else:
                    commas = _equal(word, separators)
                start = 0
                while ends != 0:
                    before = (ends & (~ends + uint64(1))) - uint64(1)
                    place = _number(before & _HIGH)
                    length += place + 1 - start
                    count += _number(commas & before)
                    commas &= ~before
                    lines += 1
                    last = np.int64(data[at + place - 1]) if at + place > 0 else previous
                    if count + 1 != fields and not (length == 1 or (length == 2 and last == _RETURN)):
                        found = COUNT
                        break
                    records += 1
                    count, length, first, start = 0, 0, lines, place + 1
                    ends &= ends - uint64(1)
                if found == FINE:
                    count += _number(commas)
                    previous = np.int64(word >> uint64(56))
                    length += 8 - start
                    at += 8
                continue
        end = min(size, at - at % 8 + 8)
        while at < end:
            byte = np.int64(data[at])
            at += 1
            length += 1
            if quoted:
                if byte == _QUOTE:
                    quoted, closed = False, True
                elif byte == _NEWLINE:
                    lines += 1
            elif byte == _NEWLINE:
                lines += 1
                empty = length == 1 or (length == 2 and previous == _RETURN)
                if count + 1 != fields and not empty:
                    found = COUNT
                    break
                records += 1
                count, length, first, closed = 0, 0, lines, False
            elif byte == _QUOTE and closed:
                quoted, closed = True, False
            elif byte == separator:
                count += 1
                closed = False
            elif byte == _QUOTE and (length == 1 or previous == separator):
                quoted = True
            elif byte == _QUOTE and stray == 0:
                stray = lines + 1
            elif closed and byte != _RETURN:
                found = AFTER_QUOTE
                break
            previous = byte
    state[SEPARATORS], state[QUOTED], state[CLOSED] = count, quoted, closed
    state[PREVIOUS], state[LENGTH], state[RECORDS] = previous, length, records
    state[LINES], state[FIRST_LINE], state[STRAY] = lines, first, stray
    return found
