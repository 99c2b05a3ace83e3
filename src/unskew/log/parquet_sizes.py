"""How many bytes the columns of a Parquet file unpack to, from the headers of its pages: nothing is unpacked for that.

Texts that are all alike pack 20,000 times and more, so the size of the file says nothing. The footer has sums, which
may lie; what a page takes is in its own header, which whoever unpacks it goes by. Texts that share their beginnings
(the encoding DELTA_BYTE_ARRAY) take the most that they might: how much they share is packed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import SEEK_END, FileIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.kernels.thrift import DAMAGED, FIELDS, structs, unpacked, unsigned
from unskew.log.packed import refuse_bomb
from unskew.log.paths import shown

MARK = b"PAR1"
WINDOW = 1 << 14  # bytes that are looked at together
TAIL = 8  # bytes behind the footer: how long it is, and the mark
_SCHEMA, _COLUMNS = np.array([2, 0]), np.array([4, 0, 1, 0, 3])  # of the footer: all columns; those of all row groups
_NAME, _CHILDREN = 4, 5  # fields of a column
_PACKED, _DATA, _DICTIONARY = 7, 9, 11  # the same in a row group
_SHARED = (
    "Its texts share their beginnings, and a few bytes may stand for very many: write it without DELTA_BYTE_ARRAY."
)

Bytes = npt.NDArray[np.uint8]


class Unpacked(NamedTuple):
    """Bytes that some columns take: in all, in the largest row group, and those that texts may share, at most."""

    whole: int = 0
    group: int = 0
    shared: int = 0

    def merge(self, other: Unpacked) -> Unpacked:
        """Of this file and others."""
        return Unpacked(self.whole + other.whole, max(self.group, other.group), self.shared + other.shared)

    @property
    def hint(self) -> str:
        """What else to do about it."""
        return f" {_SHARED}" if self.shared else ""


def unpacked_size(file: Path, columns: Iterable[str]) -> Unpacked:
    """What some columns of a file take; what unpacks to far more than any table does is an error."""
    with file.open("rb", buffering=0) as opened:
        size = opened.seek(0, SEEK_END)
        tail = _bytes(opened, max(size - TAIL, 0), TAIL).tobytes()
        if tail[4:] != MARK:
            return Unpacked()  # whoever reads it says what it is
        length = int.from_bytes(tail[:4], "little")
        if length + TAIL + len(MARK) > size:
            raise _damaged(file)
        groups = _groups(file, opened, _bytes(opened, size - TAIL - length, length), set(columns))
    whole, shared = (sum(each) for each in zip(*groups, strict=True)) if groups else (0, 0)
    refuse_bomb(file, whole)
    return Unpacked(whole + shared, max(map(sum, groups), default=0), shared)


def _groups(file: Path, opened: FileIO, footer: Bytes, columns: set[str]) -> list[tuple[int, int]]:
    """What every row group unpacks to, and what its texts may share."""
    used = [name in columns for name in _names(footer, _read(file, footer, _SCHEMA))]
    sizes: list[tuple[int, int]] = []
    for _, chunks in groupby(_read(file, footer, _COLUMNS).tolist(), itemgetter(0)):
        found = [
            _pages(file, opened, chunk[_DICTIONARY] if chunk[_DICTIONARY] > 0 else chunk[_DATA], chunk[_PACKED])
            for place, chunk in enumerate(chunks)
            if place >= len(used) or used[place]
        ]
        sizes.append((sum(whole for whole, _ in found), sum(shared for _, shared in found)))
    return sizes


def _pages(file: Path, opened: FileIO, start: int, length: int) -> tuple[int, int]:
    """The same of the pages of a column in a row group."""
    end, window, whole, shared = start + length, WINDOW, 0, 0
    while start < end:
        data = _bytes(opened, start, window)
        told, size, more = unpacked(data, end - start)
        if told:
            start, window, whole, shared = start + told, WINDOW, whole + int(size), shared + int(more)
        elif len(data) == window:
            window *= 8  # a header with long statistics
        else:
            raise _damaged(file)
    return whole, shared


def _bytes(opened: FileIO, start: int, length: int) -> Bytes:
    opened.seek(max(start, 0))
    return np.frombuffer(opened.read(length), dtype=np.uint8)


def _read(file: Path, footer: Bytes, path: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What the footer says at the end of a path, by field."""
    end, count = structs(footer, 0, path, np.zeros((0, FIELDS), dtype=np.int64))
    if end == DAMAGED:
        raise _damaged(file)
    found = np.zeros((count, FIELDS), dtype=np.int64)
    structs(footer, 0, path, found)
    return found


def _names(footer: Bytes, schema: npt.NDArray[np.int64]) -> Iterator[str]:
    """For every column in a row group the name of the column of the table that it is, or a part of."""
    name, left = "", [0]
    for element in schema[1:].tolist():
        if len(left) == 1:
            size, start = unsigned(footer, element[_NAME])
            name = bytes(footer[start : start + size]).decode("utf-8", "replace")
        if element[_CHILDREN] > 0:
            left.append(element[_CHILDREN])
            continue
        yield name
        while len(left) > 1:
            left[-1] -= 1
            if left[-1]:
                break
            left.pop()


def _damaged(file: Path) -> InputError:
    return InputError(
        f"{shown(file)}: the file cannot be read (its footer, or the header of a page, is damaged).\n"
        "Check that it is what its name says, and that it is not cut off.",
        code="damaged-file",
    )
