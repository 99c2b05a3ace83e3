"""Rows brought together by user on disk, in bounded memory.

Checked rows are gathered until a chunk is full, ordered by part and written as one file with the place where each part
begins; the rows of a part are then one slice of every chunk. Rows of a part keep their order. Where there is one part
only, its rows fit into memory, and stay there. The folder is removed when it is left, and by the next run where this
one was killed (``temporaries.py``).
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from unskew.engine.stream.cuts import Cuts
from unskew.errors import InputError
from unskew.kernels.arrays import Ints64
from unskew.kernels.coding import place
from unskew.log.order import starts_of
from unskew.log.paths import shown
from unskew.memory import amount
from unskew.temporaries import Temporary

SMALL = (pl.Int64, pl.UInt64)


class Chunk(NamedTuple):
    """A file of rows, ordered by part."""

    file: Path
    starts: Ints64


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
        self._whole = cuts.count == 1

    def add(self, frame: pl.DataFrame) -> None:
        """Some more rows."""
        self._schema = self._schema or frame.schema
        self._waiting.append(frame if self._whole else _narrow(frame))
        if sum(map(len, self._waiting)) >= self._rows:
            self.write()

    def write(self) -> None:
        """Write what is waiting."""
        if self._whole or not sum(map(len, self._waiting)):
            return
        frame = pl.concat(self._waiting, how="vertical_relaxed", rechunk=True)
        self._waiting = []
        part = self._cuts.of(frame["user"])
        starts = starts_of(np.bincount(part, minlength=self._cuts.count))
        order = np.empty(len(part), dtype=np.int64)
        place(part, np.arange(len(part)), starts.copy(), order)
        file = self._folder / f"{self._name}-{len(self._chunks)}.arrow"
        with full_disk(self._folder):
            frame.select(pl.all().gather(order)).write_ipc(file, compression="uncompressed")
        self._chunks.append(Chunk(file, starts))

    def part(self, number: int) -> pl.DataFrame:
        """The rows of a part, in the order in which they came."""
        assert self._schema is not None
        slices = [pl.DataFrame(schema=self._schema), *self._waiting]
        for chunk in self._chunks:
            low, high = int(chunk.starts[number]), int(chunk.starts[number + 1])
            if high > low:
                slices.append(pl.scan_ipc(chunk.file).slice(low, high - low).collect().cast(self._schema))
        return pl.concat(slices)

    def remove(self) -> None:
        """The files are not needed any more."""
        for chunk in self._chunks:
            chunk.file.unlink(missing_ok=True)
        self._chunks, self._waiting = [], []


def _narrow(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers in 32 bits where they fit: half the bytes on disk."""
    narrow = []
    for column in frame:
        if column.dtype in SMALL and len(column):
            low, high = column.min(), column.max()
            if isinstance(low, int) and isinstance(high, int) and low >= -(2**31) and high < 2**31:
                narrow.append(pl.col(column.name).cast(pl.Int32))
    return frame.with_columns(narrow)


@contextmanager
def folder_for(needed: int) -> Iterator[Path]:
    """A new folder on the disk of temporary files, which is removed in the end; refused where it clearly lacks room."""
    place = Path(tempfile.gettempdir())
    free = shutil.disk_usage(place).free
    if needed > free:
        raise InputError(
            f"{shown(place)}: about {amount(needed)} of disk are needed to bring rows together by user, and "
            f"{amount(free)} are free.\nFree some, name another disk with TMPDIR=FOLDER, or sort all files by user."
        )
    made = Temporary(place, lambda path: path.mkdir(mode=0o700))
    try:
        yield made.path
    finally:
        made.discard()


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
            "with TMPDIR=FOLDER. What was written there is removed."
        ) from problem
