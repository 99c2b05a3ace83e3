"""Rows brought together by user on disk, in bounded memory.

Checked rows are gathered until a chunk is full, ordered by part and written behind one another, column by column, with
the place where each part begins; the rows of a part are then one slice of every column of every chunk. Rows of a part
keep their order. Where there is one part only, its rows fit into memory, and stay there. The folder is removed when it
is left, and by the next run where this one was killed (``temporaries.py``).
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import polars as pl

from unskew.core.errors import InputError
from unskew.core.memory import amount
from unskew.core.temporaries import Temporary
from unskew.engine.stream.cuts import Cuts
from unskew.engine.stream.numbers import Divided, Numbers, array_type, is_plain, read_part
from unskew.kernels.arrays import Ints64
from unskew.kernels.ownership import OthersError, own_folder
from unskew.log.paths import shown


class Chunk(NamedTuple):
    """Some rows, ordered by part.

    Args:
        starts: where each part begins.
        numbers: columns of plain numbers, which lie in the file of the input.
        others: a file with the other columns.
    """

    starts: Ints64
    numbers: dict[str, Numbers]
    others: Path | None

    def rows(self, number: int) -> slice:
        """Those of a part."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))


class Spill:
    """The rows of one input.

    Args:
        rows: of a chunk.
    """

    def __init__(self, folder: Path, name: str, cuts: Cuts, rows: int) -> None:
        self._folder, self._name, self._cuts, self._rows = folder, name, cuts, rows
        self._waiting: list[pl.DataFrame] = []
        self._chunks: list[Chunk] = []
        self._schema: pl.Schema | None = None
        self._numbers_file = folder / f"{name}.numbers"
        self._whole = cuts.count == 1

    def add(self, frame: pl.DataFrame) -> None:
        """Some more rows."""
        self._schema = self._schema or frame.schema
        self._waiting.append(frame)
        if sum(map(len, self._waiting)) >= self._rows:
            self.write()

    def write(self) -> None:
        """Write what is waiting."""
        if self._whole or not sum(map(len, self._waiting)):
            return
        frame = pl.concat(self._waiting, how="vertical_relaxed", rechunk=True)
        self._waiting = []
        divided = Divided.of(self._cuts.of(frame["user"]), self._cuts.count)
        plain = [column for column in frame if is_plain(column)]
        others = [column.name for column in frame if not is_plain(column)]
        path = self._folder / f"{self._name}-{len(self._chunks)}.arrow" if others else None
        with full_disk(self._folder):
            with FileIO(self._numbers_file, "a") as file:
                numbers = {column.name: Numbers.write(file, column.to_numpy(), divided) for column in plain}
            if path is not None:
                ordered = frame.select(pl.col(others).gather(divided.order))
                ordered.write_ipc(path, compression="uncompressed")
        self._chunks.append(Chunk(divided.starts, numbers, path))

    def part(self, number: int) -> pl.DataFrame:
        """The rows of a part, in the order in which they came."""
        assert self._schema is not None
        if self._whole:
            return pl.concat([pl.DataFrame(schema=self._schema), *self._waiting])
        chunks = [chunk for chunk in self._chunks if chunk.starts[number + 1] > chunk.starts[number]]
        if not chunks:
            return pl.DataFrame(schema=self._schema)
        others = [_others(chunk, number) for chunk in chunks]
        columns = []
        with FileIO(self._numbers_file) as file:
            for name, dtype in self._schema.items():
                if all(name in chunk.numbers for chunk in chunks):
                    columns.append(_numbers(file, chunks, number, name, dtype))
                else:
                    slices = [
                        frame[name] if name in frame else _numbers(file, [chunk], number, name, dtype)
                        for frame, chunk in zip(others, chunks, strict=True)
                    ]
                    columns.append(pl.concat([each.cast(dtype) for each in slices]))
        return pl.DataFrame(columns)

    def remove(self) -> None:
        """The files are not needed any more."""
        self._numbers_file.unlink(missing_ok=True)
        for chunk in self._chunks:
            if chunk.others is not None:
                chunk.others.unlink(missing_ok=True)
        self._chunks, self._waiting = [], []


def _numbers(file: FileIO, chunks: list[Chunk], number: int, name: str, dtype: pl.DataType) -> pl.Series:
    """A column of plain numbers in the rows of a part."""
    found = read_part(file, [chunk.numbers[name] for chunk in chunks], number, array_type(dtype))
    column = pl.Series(name, found)
    return column if column.dtype == dtype else column.cast(dtype)


def _others(chunk: Chunk, number: int) -> pl.DataFrame:
    """The columns of a part that are no plain numbers."""
    if chunk.others is None:
        return pl.DataFrame()
    rows = chunk.rows(number)
    return pl.scan_ipc(chunk.others).slice(rows.start, rows.stop - rows.start).collect()


@contextmanager
def folder_for(needed: int) -> Iterator[Path]:
    """A new folder on the disk of temporary files, which is removed in the end; refused where it clearly lacks room.

    Parts of the users are pickled there (``kept.py``), so that nobody else must be able to put another folder in its
    place.
    """
    place = Path(tempfile.gettempdir())
    free = shutil.disk_usage(place).free
    if needed > free:
        raise InputError(
            f"{shown(place)}: about {amount(needed)} of disk are needed to bring rows together by user, and "
            f"{amount(free)} are free.\nFree some, name another disk with TMPDIR=FOLDER, or sort all files by user.",
            code="too-little-disk",
        )
    made = Temporary(place, lambda path: path.mkdir(mode=0o700))
    try:
        _check_own(made.path)
        yield made.path
    finally:
        made.discard()


def _check_own(folder: Path) -> None:
    try:
        own_folder(folder)
    except OthersError as why:
        raise InputError(
            f"{shown(folder.parent)}: rows cannot lie here for a while, since others could change them: {why}.\nName a "
            "folder that only you can change with TMPDIR=FOLDER.",
            code="unsafe-temporary-folder",
        ) from None


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """A full disk becomes one clear error."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as problem:
        full = getattr(problem, "errno", None) == errno.ENOSPC or "No space left" in str(problem)
        if not full:
            raise
        raise InputError(
            f"{shown(folder.parent)}: the disk is full.\nFree some of it, or name another disk for temporary files "
            "with TMPDIR=FOLDER. What was written there is removed.",
            code="disk-full",
        ) from problem
