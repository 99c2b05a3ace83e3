"""What the headers of a Parquet file say of its pages; nothing is unpacked.

They are written in Thrift's compact protocol: a struct is its fields, each a byte (how much its id is above the last
one, and a type) and a value, up to a byte 0; numbers have 7 bits a byte, signed ones in zigzag.
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit

DAMAGED = -1
FIELDS = 16  # of a struct that are kept
_SHARED = 7  # the encoding DELTA_BYTE_ARRAY
_DEPTH = 32  # structs and lists in each other
_FALSE, _BYTE, _INT16, _INT64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 2, 3, 4, 6, 7, 8, 9, 10, 12


@njit(cache=True, nogil=True)
def unsigned(data, at):  # type: ignore[no-untyped-def]
    """The number at a place, and the place behind it; ``DAMAGED`` where it does not end."""
    value, shift = np.uint64(0), np.uint64(0)
    while at < len(data) and shift < np.uint64(64):
        byte = np.uint64(data[at])
        at += 1
        value |= (byte & np.uint64(127)) << shift
        if byte < np.uint64(128):
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(0), DAMAGED


@njit(cache=True, nogil=True)
def structs(data, at, path, out):  # type: ignore[no-untyped-def]
    """Read the struct at a place: where it ends (or ``DAMAGED``), and how many structs lie at the end of a path.

    Args:
        path: ids of fields; 0 for the elements of a list.
        out: a row for each of them, as many as there is room for: column f has field f, where it is a number its
            value, else its place; column 0 says in which of the structs two levels up it lies.
    """
    field, left, kind = np.zeros(_DEPTH, np.int64), np.full(_DEPTH, -1), np.zeros(_DEPTH, np.int64)
    depth, wanted, found, above = 0, len(path), 0, 0
    while 0 <= at < len(data):
        if left[depth] == 0:  # the end of a list
            depth -= 1
            continue
        if left[depth] > 0:
            left[depth] -= 1
            sort = kind[depth]
            if sort <= _FALSE:
                sort = _BYTE
        else:
            byte = np.int64(data[at])
            at += 1
            if byte == 0:
                on_path = depth == wanted
                for d in range(min(depth, wanted)):
                    on_path = on_path and field[d] == path[d]
                found += on_path
                above += depth == wanted - 3
                if depth == 0:
                    return at, found
                depth -= 1
                continue
            sort = byte & 15
            if byte >> 4:
                field[depth] += byte >> 4
            else:
                number, at = unsigned(data, at)
                field[depth] = (number >> 1) ^ -(number & 1)
        value, start = np.int64(0), at
        if sort <= _FALSE:
            value = sort
        elif sort == _BYTE:
            at += 1
        elif _INT16 <= sort <= _INT64:
            number, at = unsigned(data, at)
            value = (number >> 1) & np.int64(2**63 - 1) ^ -(number & 1)
        elif sort == _DOUBLE:
            at += 8
        elif sort == _BINARY:
            number, at = unsigned(data, at)
            at = at + number if at >= 0 and 0 <= number <= len(data) else DAMAGED
        elif sort in (_LIST, _SET, _STRUCT) and depth + 1 < _DEPTH:
            pass
        else:
            at = DAMAGED
        if at < 0:
            return DAMAGED, found
        if depth == wanted and left[depth] < 0 and found < len(out) and 0 < field[depth] < FIELDS:
            on_path = True
            for d in range(wanted):
                on_path = on_path and field[d] == path[d]
            if on_path:
                out[found, 0] = above
                out[found, field[depth]] = value if _INT16 <= sort <= _INT64 else start
        if sort == _STRUCT:
            depth += 1
            field[depth], left[depth] = 0, -1
        elif sort in (_LIST, _SET):
            byte = np.int64(data[at]) if at < len(data) else np.int64(0)
            number = byte >> 4
            at += 1
            if number == 15:
                number, at = unsigned(data, at)
            if number < 0:
                return DAMAGED, found
            depth += 1
            field[depth], left[depth], kind[depth] = 0, number, byte & 15
    return DAMAGED, found


@njit(cache=True, nogil=True)
def unpacked(data, end):  # type: ignore[no-untyped-def]
    """Of pages that lie one behind the other: the place behind the last that begins before ``end`` and is told here.

    Also the bytes that they unpack to, and what their texts may take beyond that at most: a text that shares its
    beginning with the one before (DELTA_BYTE_ARRAY) may be as long as its page.
    """
    path, page, inner = np.zeros(0, np.int64), np.zeros((1, FIELDS), np.int64), np.zeros((1, FIELDS), np.int64)
    at, total, shared = 0, 0.0, 0.0
    while at < min(end, len(data)):
        page[:] = 0
        behind, _ = structs(data, at, path, page)
        size, packed = page[0, 2], page[0, 3]
        if behind < 0 or size < 0 or packed < 0:
            break
        for header, encoding in ((5, 2), (8, 4)):  # of data pages of both versions
            if page[0, header]:
                inner[:] = 0
                structs(data, page[0, header], path, inner)
                if inner[0, encoding] == _SHARED:
                    shared += float(size) * max(inner[0, 1], 0)
        total += float(size)
        at = behind + packed
    return at, total, shared
