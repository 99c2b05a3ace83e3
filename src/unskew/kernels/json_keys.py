"""Lines of JSON in which a key may stand twice: one pass over the bytes, which are known to be objects, one per line.

Keys are compared as they are written, by a hash. A line with an escape in a key (``\\u0061``), or with more keys than
are compared, may repeat one as well; somebody else looks at such lines.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit

_KEYS = 128  # that are compared
_QUOTE, _ESCAPE, _NEWLINE, _COMMA, _OPEN, _CLOSE = 34, 92, 10, 44, (123, 91), (125, 93)


@njit(cache=True, nogil=True)
def next_doubtful(data, at):  # type: ignore[no-untyped-def]
    """Where the next such line begins from a line's beginning on, and where it ends; the size, twice, if none does."""
    keys, known, depth, first, doubt = np.zeros(_KEYS, np.uint64), 0, 0, at, False
    expects_key = False
    while at < len(data):
        byte = data[at]
        if byte == _QUOTE:
            is_key, h = expects_key and depth == 1, np.uint64(0xCBF29CE484222325)
            at += 1
            while at < len(data) and data[at] != _QUOTE:
                if data[at] == _ESCAPE:
                    doubt = doubt or is_key
                    at += 1
                else:
                    h = (h ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
                at += 1
            if is_key:
                doubt = doubt or known == _KEYS
                for k in range(known):
                    doubt = doubt or keys[k] == h
                if known < _KEYS:
                    keys[known] = h
                    known += 1
                expects_key = False
        elif byte in _OPEN:
            depth += 1
            expects_key = depth == 1
        elif byte in _CLOSE:
            depth -= 1
        elif byte == _COMMA:
            expects_key = depth == 1
        elif byte == _NEWLINE:
            if doubt:
                return first, at
            known, depth, first = 0, 0, at + 1
        at += 1
    return (first, len(data)) if doubt else (len(data), len(data))
