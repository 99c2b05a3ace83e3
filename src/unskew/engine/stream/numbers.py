"""Columns of plain numbers on disk, ordered by part, in as few bytes as they need.

Whole numbers are written as what they are above the least of their part, in one, two or four bytes where that
suffices: ids of users lie close together inside a part, ranks are small, and what is written costs time by the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import FileIO
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.kernels.arrays import Ints32, Ints64, present
from unskew.kernels.spreading import extents, raised, spread, spread_above
from unskew.log.order import starts_of

PLAIN = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Float32, pl.Float64)
WIDTHS = (np.uint8, np.uint16, np.uint32)


def is_plain(column: pl.Series) -> bool:
    """Whether a column holds numbers that an array holds as they are."""
    return column.dtype in PLAIN and not column.null_count()


def array_type(dtype: pl.DataType) -> type[Any]:
    """What columns of a type are read as: ranks and floats as they are, others as whole numbers of 64 bits."""
    kept: dict[type[pl.DataType], type[Any]] = {pl.Int32: np.int32, pl.Float32: np.float32, pl.Float64: np.float64}
    return kept.get(type(dtype), np.int64)


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
        width = next((width for width in WIDTHS if widest <= np.iinfo(width).max), None)
        return (np.zeros_like(low), np.int64) if width is None else (low, width)


class Numbers(NamedTuple):
    """A column of a chunk.

    Args:
        offset: of the first byte in the file.
        starts: the row at which each part begins.
        dtype: of what is written.
        low: what is added to the numbers of each part; ``None`` for nothing.
    """

    offset: int
    starts: Ints64
    dtype: np.dtype[Any]
    low: Ints64 | None

    @classmethod
    def write(cls, file: FileIO, column: npt.NDArray[Any], divided: Divided) -> Numbers:
        """Write a column behind what the file holds."""
        part, starts = divided.part, divided.starts
        if column.dtype.kind == "f":
            low, out = None, np.empty_like(column)
            spread(column, part, starts.copy(), out)
        else:
            whole = column.astype(np.int64, copy=False).view()
            whole.flags.writeable = False  # as columns of polars are: one compilation for all
            low, width = divided.above(whole)
            out = np.empty(len(column), dtype=width)
            spread_above(whole, part, low, starts.copy(), out)
        found = cls(file.seek(0, 2), starts, out.dtype, low)
        rest = out.data.cast("B")
        while len(rest):
            rest = rest[file.write(rest) :]
        return found

    def read(self, file: FileIO, number: int, out: npt.NDArray[Any]) -> None:
        """The rows of a part, as they are written."""
        file.seek(self.offset + int(self.starts[number]) * self.dtype.itemsize)
        rest = out.data.cast("B")
        while len(rest):
            done = file.readinto(rest)
            if not done:
                raise InputError(
                    "a temporary file became shorter while it was in use.\nTry again.", code="temporary-file-changed"
                )
            rest = rest[done:]


def read_part(file: FileIO, columns: Sequence[Numbers], number: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A column in the rows of a part, from all chunks one behind the other."""
    lengths = [int(column.starts[number + 1] - column.starts[number]) for column in columns]
    out, end = np.empty(sum(lengths), dtype=dtype), 0
    for (written, whole), several in groupby(
        zip(columns, lengths, strict=True), key=lambda each: (each[0].dtype, each[0].low is not None)
    ):
        alike = list(several)
        start, end = end, end + sum(length for _, length in alike)
        raw = np.empty(end - start, dtype=written) if whole else out[start:end]
        ends = np.cumsum([length for _, length in alike])
        for (column, length), stop in zip(alike, ends, strict=True):
            column.read(file, number, raw[stop - length : stop])
        if whole:
            raised(raw, ends, np.array([present(column.low)[number] for column, _ in alike]), out[start:end])
    return out
