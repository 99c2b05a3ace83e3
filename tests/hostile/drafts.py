"""One file in the making: a table that mutations spoil, how it is written, and what is done to its bytes afterwards."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from tests.hostile.sheets import Refused, Sheet, of_frame, of_text, packed
from tests.hostile.worlds import Table

SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
ENDINGS = (*SEPARATORS, ".parquet")
Frames = Callable[[pl.DataFrame], pl.DataFrame]
Bytes = Callable[[bytes], bytes]
Writer = Callable[[pl.DataFrame, Path], None]


class Expect(StrEnum):
    """What a mutation allows."""

    ORACLE = "oracle"  # whatever the oracle reads in the file
    REFUSED = "refused"  # no numbers at all
    SAME_OR_REFUSED = "same or refused"  # the numbers from before the bytes were spoilt, or a refusal
    ANYTHING = "anything"  # any answer, but no fault: nobody can see that a number was changed


@dataclass
class Draft:
    """A file that will be written.

    Args:
        table: what it holds; mutations of cells, rows and columns change it.
        ending: what its name ends in, which says how it is written.
        frames: changes of the frame before it is written as Parquet.
        edits: changes of the bytes after it was written.
        writer: how Parquet is written.
        expect: what may come of it.
        benign: nothing was done that a reader may refuse.
        place: puts something else than a file there, such as a folder or a pipe.
    """

    name: str
    table: Table
    ending: str = ".csv"
    frames: list[Frames] = field(default_factory=list)
    edits: list[Bytes] = field(default_factory=list)
    writer: Writer = lambda frame, path: frame.write_parquet(path)
    expect: Expect = Expect.ORACLE
    benign: bool = True
    place: Callable[[Path], None] | None = None
    sheet: Sheet | None = None
    done: list[str] = field(default_factory=list)

    @property
    def is_text(self) -> bool:
        """Whether rows are lines of text."""
        return self.ending != ".parquet"

    @property
    def filename(self) -> str:
        """The name of the file."""
        return f"{self.name}{self.ending}"

    def write(self, folder: Path) -> Path:
        """Write the file; afterwards ``sheet`` is what a careful person reads in it."""
        path = folder / self.filename
        if self.place is not None:
            self.place(path)
            return path
        if self.is_text:
            data = rendered(self.table, SEPARATORS[self.ending])
            data = packed(data) if self.ending.endswith(".gz") else data
        else:
            frame = frame_of(self.table)
            for change in self.frames:
                frame = change(frame)
            self.sheet = of_frame(frame)
            self.writer(frame, path)
            data = path.read_bytes()
        for edit in self.edits:
            data = edit(data)
        path.write_bytes(data)
        return path

    def careful(self, folder: Path) -> Sheet:
        """What a careful person reads in the written file."""
        if self.expect is Expect.SAME_OR_REFUSED:
            return of_text(rendered(self.table, ","), ",", False)
        if self.expect is Expect.REFUSED or self.place is not None:
            raise Refused("it must be refused")
        if self.is_text:
            data = (folder / self.filename).read_bytes()
            return of_text(data, SEPARATORS[self.ending], self.ending.endswith(".gz"))
        assert self.sheet is not None
        return self.sheet


def rendered(table: Table, separator: str) -> bytes:
    """A text file as Python writes it; a cell in ``Raw`` is written without quotation marks, whatever it holds."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    for line in (table.columns, *table.rows):
        if any(isinstance(cell, Raw) for cell in line):
            out.write(separator.join("" if cell is None else str(cell) for cell in line) + "\n")
        else:
            writer.writerow(["" if cell is None else cell for cell in line])
    return out.getvalue().encode("utf-8", errors="surrogateescape")


class Raw(str):
    """A cell that is written as it stands."""

    __slots__ = ()


def frame_of(table: Table) -> pl.DataFrame:
    """The table as a frame: a column of numbers where all cells are, else of texts."""
    columns: dict[str, pl.Series] = {}
    for at, name in enumerate(table.columns):
        while name in columns:  # Parquet of polars knows every name once
            name += "_again"
        columns[name] = _column(name, [row[at] if at < len(row) else None for row in table.rows])
    return pl.DataFrame(columns)


def _column(name: str, cells: list[Any]) -> pl.Series:
    there = [cell for cell in cells if cell is not None]
    if all(type(cell) is int for cell in there) and all(-(2**63) <= cell < 2**63 for cell in there):
        return pl.Series(name, cells, dtype=pl.Int64)
    if all(type(cell) in (int, float) and abs(cell) < 1e300 for cell in there):
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)
    texts = [None if cell is None else str(cell).encode("utf-8", "replace").decode() for cell in cells]
    return pl.Series(name, texts, dtype=pl.String)


Act = Callable[[Draft, Random], None]


@dataclass(frozen=True)
class Mutation:
    """One way to spoil a file.

    Args:
        act: changes the draft.
        level: cell, row, column, ragged (rows of different lengths: done last), text, parquet or place.
        benign: a reader has no reason to refuse the result.
    """

    name: str
    level: str
    act: Act
    benign: bool

    def fits(self, draft: Draft) -> bool:
        """Whether it can be done to this draft at this point."""
        if draft.place is not None:
            return False
        return draft.is_text == (self.level == "text") if self.level in ("text", "parquet") else True

    def apply(self, draft: Draft, rng: Random) -> None:
        """Do it, and note it."""
        self.act(draft, rng)
        draft.benign &= self.benign
        draft.done.append(self.name)


MUTATIONS: dict[str, Mutation] = {}


def mutation(level: str, *, benign: bool = False) -> Callable[[Act], Act]:
    """Register a mutation under its function's name."""

    def register(act: Act) -> Act:
        name = act.__name__
        MUTATIONS[name] = Mutation(name, level, act, benign)
        return act

    return register
