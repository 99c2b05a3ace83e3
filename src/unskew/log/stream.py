"""Files that exceed memory, piece by piece: a file, a folder of files, or a pattern such as ``train/*.parquet``.

Nothing but headers is read when a stream is opened, so that a missing column or a wrong type is reported at once.
The pieces are checked by the same rules as a table in memory, and a wrong row is named by file, column and row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import NamedTuple

import polars as pl

from unskew.core.errors import InputError
from unskew.log.columns import check_ids, numbers, readable_numbers, readable_times, times, whole_ids
from unskew.log.match import match_columns
from unskew.log.paths import shown
from unskew.log.several import files_of
from unskew.log.sorted_flags import without_sorted_flags
from unskew.log.sources import OpenFile, open_file, reading
from unskew.log.table import Table

PIECE = 2_000_000  # rows
REMEDY = "Fix the column, or leave such rows out."
_FIT_64_BITS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


class StreamFile(NamedTuple):
    """One file: its used columns under our names, unread.

    Args:
        table: a table without rows that has the file's types, and names it in messages.
    """

    opened: OpenFile
    table: Table

    @property
    def source(self) -> str:
        """The file."""
        return self.table.source

    def pieces(self, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Its rows; the first wrong one is an error."""
        with reading(self.source, self.opened.text):
            lazy, rows = self.opened.scan_pieces(self.table.names)
            dates = "time" in types and self._has_dates(lazy)
        valid = lazy.select(self._valid(name, dates).cast(dtype) for name, dtype in types.items())
        for start in range(0, rows, PIECE):
            with reading(self.source, self.opened.text):
                piece = without_sorted_flags(valid.slice(start, PIECE).collect(engine="streaming"))
            holes = [int(column.is_null().arg_true()[0]) for column in piece if column.null_count()]
            if holes:
                raise self._wrong(lazy, start + min(holes))
            if len(piece) != min(PIECE, rows - start):
                raise self.opened.miscounted(rows, start + len(piece))
            yield piece

    @property
    def rows(self) -> int:
        """How many rows there are."""
        with reading(self.source, self.opened.text):
            return self.opened.scan(self.table.names)[1]

    def whole_pieces(self) -> Iterator[pl.DataFrame]:
        """All columns, as they are in the file, as many rows at a time as ``pieces`` has."""
        with reading(self.source, self.opened.text):
            lazy, rows = self.opened.scan_pieces({name: name for name in self.opened.names})
        for start in range(0, rows, PIECE):
            with reading(self.source, self.opened.text):
                piece = lazy.slice(start, PIECE).collect(engine="streaming")
            if len(piece) != min(PIECE, rows - start):
                raise self.opened.miscounted(rows, start + len(piece))
            yield piece

    def ids(self, whole: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """Users and items of some rows of ``whole_pieces``, as ``pieces`` has them."""
        names = [name for name in types if name in ("user", "item")]
        given = pl.DataFrame({name: whole[self.table.names[name]] for name in names})
        return without_sorted_flags(given.select(self._valid(name, False).cast(types[name]) for name in names))

    def _has_dates(self, lazy: pl.LazyFrame) -> bool:
        """Whether times that are texts are dates, by the first of them: the type of a text is nowhere told."""
        if self.table.frame.schema["time"] != pl.String:
            return False
        first = lazy.select(pl.col("time").str.strip_chars().cast(pl.Float64, strict=False)).head(1)
        return first.collect().to_series().null_count() > 0

    def _valid(self, name: str, dates: bool) -> pl.Expr:
        """The column, with null in place of invalid values."""
        dtype = self.table.frame.schema[name]
        if name == "time":
            return readable_times(name, dtype, dates=dates)
        return readable_numbers(name, dtype) if name == "value" else whole_ids(name, dtype)

    def _wrong(self, lazy: pl.LazyFrame, row: int) -> InputError:
        """What is wrong with a row, and how many more of the file lack a value."""
        with reading(self.source):
            frame = lazy.slice(row, 1).collect(engine="streaming")
            empty = [name for name in self.table.names if frame[name].null_count()]
            holes = lazy.select(pl.col(empty[:1]).is_null().sum()).collect(engine="streaming") if empty else None
        remedy = REMEDY if holes is None else f"In this file {holes.item():,} rows have no {empty[0]}. {REMEDY}"
        try:
            check(replace(self.table, frame=frame, start=row, remedy=remedy))
        except InputError as problem:
            return problem
        mixed = " Times must be all numbers, or all dates written alike." if "time" in self.table.names else ""
        return InputError(
            f"{self.source}: row {row + 1:,} cannot be read, or changed while it was read.{mixed}",
            code="unreadable-row",
            row=row + 1,
        )


class Stream(NamedTuple):
    """The rows of some files, one after the other."""

    source: str
    files: tuple[StreamFile, ...]

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        required: tuple[str, ...],
        columns: Mapping[str, str] | None,
        optional: tuple[str, ...] = (),
    ) -> Stream:
        """The columns of a file, a folder or a pattern; each file must have all of them, in a type that will do.

        ``optional`` ones (``time``) may be missing, but then in all files.
        """
        files = []
        for file in files_of(path):
            opened, source = open_file(file, columns), shown(file)
            names = match_columns(source, opened.names, required, optional, columns, ())
            opened.say(source, names)
            text = opened.text
            table = Table(
                source, opened.empty(names), names, header=text is not None, said={} if columns is None else columns
            )
            files.append(StreamFile(opened, replace(table, headless=text is not None and not text.header)))
            check(files[-1].table)
            if lacking := set(files[0].table.names) ^ set(names):
                raise InputError(
                    f"{shown(path)}: only some of the files have a column '{min(lacking)}'.\n"
                    "Give files that all have it, or none.",
                    code="missing-column",
                    column=min(lacking),
                )
        return cls(shown(path), tuple(files))

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The type that each used column has in pieces of any file."""
        return {
            name: _common(name, [file.table.frame.schema[name] for file in self.files])
            for name in self.files[0].table.names
        }

    def pieces(self) -> Iterator[tuple[StreamFile, pl.DataFrame]]:
        """Some rows at a time with the file they are from: numbers as floats, ids so that equal ids are equal."""
        for file in self.files:
            for piece in file.pieces(self.types):
                yield file, piece

    def whole_pieces(self) -> Iterator[tuple[StreamFile, pl.DataFrame]]:
        """The same rows at a time, with all columns of the file, as they are there."""
        for file in self.files:
            for piece in file.whole_pieces():
                yield file, piece


def check(table: Table) -> None:
    """Raise an error if the rows are not what their columns must hold; without rows, if the types are not."""
    for name in table.names:
        if name == "value":
            numbers(table, name)
        elif name == "time":
            times(table)
            table.refuse_nulls(name)
        else:
            check_ids(table, name)
            table.refuse_nulls(name)


def _common(name: str, types: list[pl.DataType]) -> pl.DataType:
    """The identity of an id is its text; numbers may stay numbers where all files have them."""
    if name in ("value", "time"):
        return pl.Float64() if name == "value" else pl.Int64()
    plain = {dtype if dtype.is_integer() else pl.Int64() if dtype.is_numeric() else pl.String() for dtype in types}
    if len(plain) == 1:
        return plain.pop()
    return pl.Int64() if all(dtype in _FIT_64_BITS for dtype in plain) else pl.String()
