"""How many bytes the columns of a Parquet file unpack to, from the headers of its pages: nothing is unpacked for that.

Texts that are all alike pack 20,000 times and more, so the size of the file says nothing. The footer has sums, which
may lie; what a page takes is in its own header, which whoever unpacks it goes by. Texts that share their beginnings
(the encoding DELTA_BYTE_ARRAY) take the most that they might: how much they share is packed.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError
from unskew.kernels.thrift import DAMAGED, FIELDS, structs, unpacked, unsigned
from unskew.log.packed import refuse_bomb
from unskew.log.paths import shown

MARK = b"PAR1"
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
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        tail = content[-TAIL:]
        if tail[4:] != MARK:
            return Unpacked()  # whoever reads it says what it is
        data = np.frombuffer(content, dtype=np.uint8)
        try:
            groups = _groups(file, data, len(data) - TAIL - int.from_bytes(tail[:4], "little"), set(columns))
        finally:
            del data  # which would hold the file open
    whole, shared = (sum(each) for each in zip(*groups, strict=True)) if groups else (0, 0)
    refuse_bomb(file, whole)
    return Unpacked(whole + shared, max(map(sum, groups), default=0), shared)


def _groups(file: Path, data: Bytes, footer: int, columns: set[str]) -> list[tuple[int, int]]:
    """What every row group unpacks to, and what its texts may share."""
    used = [name in columns for name in _names(data, _read(file, data, footer, _SCHEMA))]
    sizes: list[tuple[int, int]] = []
    for _, chunks in groupby(_read(file, data, footer, _COLUMNS).tolist(), itemgetter(0)):
        whole = shared = 0
        for place, chunk in enumerate(chunks):
            if place >= len(used) or used[place]:
                start = chunk[_DICTIONARY] if chunk[_DICTIONARY] > 0 else chunk[_DATA]
                size, more = unpacked(data, start, min(start + chunk[_PACKED], len(data)))
                if size == DAMAGED:
                    raise _damaged(file)
                whole, shared = whole + int(size), shared + int(more)
        sizes.append((whole, shared))
    return sizes


def _read(file: Path, data: Bytes, footer: int, path: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What the footer says at the end of a path, by field."""
    end, count = structs(data, footer, path, np.zeros((0, FIELDS), dtype=np.int64))
    if end == DAMAGED or footer < len(MARK):
        raise _damaged(file)
    found = np.zeros((count, FIELDS), dtype=np.int64)
    structs(data, footer, path, found)
    return found


def _names(data: Bytes, schema: npt.NDArray[np.int64]) -> Iterator[str]:
    """For every column in a row group the name of the column of the table that it is, or a part of."""
    name, left = "", [0]
    for element in schema[1:].tolist():
        if len(left) == 1:
            size, start = unsigned(data, element[_NAME])
            name = bytes(data[start : start + size]).decode("utf-8", "replace")
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
        "Check that it is what its name says, and that it is not cut off."
    )
