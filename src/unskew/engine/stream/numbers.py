"""Columns of plain numbers on disk, ordered by part, in as few bytes as they need.

Whole numbers are written as what they are above the least of their part, in one, two or four bytes where that
suffices: ids of users lie close together inside a part, ranks are small, and what is written costs time by the byte.
"""

from __future__ import annotations

from io import FileIO
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.arrays import Ints32, Ints64
from unskew.kernels.spreading import extents, spread, spread_above
from unskew.log.order import starts_of

PLAIN = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Float32, pl.Float64)
WIDTHS = (np.uint8, np.uint16, np.uint32)


def is_plain(column: pl.Series) -> bool:
    """Whether a column holds numbers that an array holds as they are."""
    return column.dtype in PLAIN and not column.null_count()


class Divided:
    """Rows by the part that they belong to.

    Args:
        part: of every row.
        starts: where each part begins, once rows are ordered by it.
    """

    def __init__(self, part: Ints32, starts: Ints64) -> None:
        self.part, self.starts = part, starts

    @classmethod
    def of(cls, part: Ints32, parts: int) -> Divided:
        """By the part of every row, of so many parts."""
        return cls(part, starts_of(np.bincount(part, minlength=parts)))

    @property
    def order(self) -> Ints64:
        """The rows ordered by part."""
        out = np.empty(len(self.part), dtype=np.int64)
        spread(np.arange(len(self.part)), self.part, self.starts.copy(), out)
        return out

    def above(self, column: Ints64) -> tuple[Ints64, type[Any]]:
        """The least number of every part, and the type that holds what all others are above it."""
        parts = len(self.starts) - 1
        low, high = np.full(parts, 2**63 - 1), np.full(parts, -(2**63))
        extents(self.part, column, low, high)
        low, high = (np.where(np.diff(self.starts) > 0, each, 0) for each in (low, high))
        widest = int((high.view(np.uint64) - low.view(np.uint64)).max(initial=0))
        return low, next((width for width in WIDTHS if widest <= np.iinfo(width).max), np.int64)


class Numbers(NamedTuple):
    """A column of a chunk.

    Args:
        offset: of the first byte in the file.
        dtype: of what is written.
        read_as: the type of what is read.
        low: what is added to the numbers of each part; ``None`` for nothing.
    """

    offset: int
    dtype: np.dtype[Any]
    read_as: np.dtype[Any]
    low: Ints64 | None

    @classmethod
    def write(cls, file: FileIO, column: npt.NDArray[Any], divided: Divided) -> Numbers:
        """Write a column behind what the file holds."""
        low, kind, source = None, column.dtype, column
        if column.dtype.kind in "iu":
            source = column.astype(np.int64, copy=False).view()
            source.flags.writeable = False  # as columns of polars are: one compilation for all
            low, width = divided.above(source)
            kind = np.dtype(width)
        out = np.empty(len(column), dtype=kind)
        if low is None or kind == np.int64:
            low = None
            spread(source, divided.part, divided.starts.copy(), out)
        else:
            spread_above(source, divided.part, low, divided.starts.copy(), out)
        found = cls(file.seek(0, 2), kind, np.dtype(np.int64) if column.dtype.kind in "iu" else column.dtype, low)
        _write(file, out)
        return found

    def read(self, file: FileIO, number: int, rows: slice, out: npt.NDArray[Any]) -> None:
        """Some rows, all of one part."""
        raw = out if self.dtype == out.dtype else np.empty(len(out), dtype=self.dtype)
        file.seek(self.offset + rows.start * self.dtype.itemsize)
        _read(file, raw)
        if self.low is None:
            if raw is not out:
                out[:] = raw
        else:
            np.add(raw, self.low[number], out=out, casting="unsafe")


def _write(file: FileIO, array: npt.NDArray[Any]) -> None:
    rest = memoryview(array).cast("B")
    while len(rest):
        rest = rest[file.write(rest) :]


def _read(file: FileIO, array: npt.NDArray[Any]) -> None:
    rest = memoryview(array).cast("B")
    while len(rest):
        done = file.readinto(rest)
        if not done:
            raise EOFError("the file of rows ended too early")
        rest = rest[done:]
