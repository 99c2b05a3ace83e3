"""Rows of all inputs, checked and dealt out to parts of the users: where the rows of a user come together.

Every task of Spark checks the rows of its partition and packs those of each part into one binary cell, so that Spark
shuffles a few large cells and not every row:

    part | source | task | piece | rows (Arrow) | facts (what became of the rows of the piece)

``part`` is a number that Spark's own hash puts into a partition of its own. Source, task and piece give the rows of a
part the order that they have in the DataFrame, in whatever order cells arrive, so that a task which ran twice changes
nothing.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from unskew.core.errors import UnskewError
from unskew.engine.spark.frames import local_frame
from unskew.engine.spark.problems import Problem
from unskew.kernels.arrays import Ints32, Ints64
from unskew.log.batches import Checked, Reading
from unskew.log.ids import hash_texts
from unskew.log.spelling import alike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "part bigint, source int, task int, piece int, rows binary, facts binary"
NUMBERED = ("user", "item")
PIECE = 500_000  # rows that are checked and packed together
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiplying by it scatters whole numbers


class Piece(NamedTuple):
    """What became of some rows of one input.

    Args:
        checked: without its rows.
        rows: how many came; ``kept`` how many of them are clean.
        schema: of the clean rows.
    """

    checked: Checked
    rows: int
    kept: int
    schema: pl.Schema


class Part(NamedTuple):
    """The rows of some users.

    Args:
        frames: by the place of the input.
        facts: of the pieces that came along, by the place of the input; a problem where rows were refused.
        checksum: of the rows in any order.
    """

    number: int
    frames: Mapping[int, pl.DataFrame]
    facts: tuple[tuple[int, Piece | Problem], ...]
    checksum: int


def part_numbers(session: SparkSession, parts: int) -> Ints64:
    """A number for every part, each in a partition of its own when Spark partitions by it."""
    from pyspark.sql import functions as sql

    asked = session.range(40 * parts + 1_000).select("id", sql.pmod(sql.hash("id"), sql.lit(parts)).alias("partition"))
    found = local_frame(asked.groupBy("partition").agg(sql.min("id").alias("id")).toArrow())
    return np.sort(found["id"].to_numpy())


def part_places(users: pl.Series, parts: int) -> Ints32:
    """The place of the part of every row: by a hash of the number, or of the text without what is only spelling."""
    if users.dtype.is_integer():
        mixed = users.to_numpy().astype(np.uint64) * _MIX
        return ((mixed ^ (mixed >> np.uint64(32))) % np.uint64(parts)).astype(np.int32)
    different = users.unique()
    places = (hash_texts(alike(different)) % np.uint64(parts)).astype(np.int32)
    table = pl.DataFrame({"user": different, "place": places})
    return pl.DataFrame({"user": users}).join(table, on="user", how="left", maintain_order="left")["place"].to_numpy()


@dataclass(frozen=True, eq=False)
class Dealing:
    """Checks the rows of one input and packs them by parts: the work of a task.

    Args:
        source: the place of the input.
        types: of its ids.
        numbers: of the parts.
    """

    source: int
    reading: Reading
    types: Mapping[str, pl.DataType]
    numbers: Ints64

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Cells of the rows of one partition; of rows that are refused, nothing but the reason."""
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        task, start = context.partitionId(), 0
        pieces = _pieces(batches)
        for piece, frame in enumerate(pieces):
            where = f"{self.reading.source} (partition {task} of the DataFrame)"
            try:
                checked = self.reading.check(frame, where, start, self.types)
            except UnskewError as problem:
                found = Problem.of(problem, (self.source, task, piece))
                yield _cells([(int(self.numbers[0]), self.source, task, piece, None, pickle.dumps(found))])
                break
            start += len(frame)
            clean = checked.frame
            facts = Piece(checked._replace(frame=clean.clear()), len(frame), len(clean), clean.schema)
            yield _cells(list(self._packed(clean, task, piece, pickle.dumps(facts))))
        for _ in pieces:  # Spark expects that a task takes all of its rows
            pass

    def _packed(self, frame: pl.DataFrame, task: int, piece: int, facts: bytes) -> Iterator[tuple[Any, ...]]:
        places = part_places(frame["user"], len(self.numbers))
        short = places.astype(np.int16) if len(self.numbers) < 2**15 else places  # ordered by digits, in one pass
        frame = _narrow(frame)[np.argsort(short, kind="stable")]
        ends = np.cumsum(np.bincount(places, minlength=len(self.numbers)))
        first = int(self.numbers[task % len(self.numbers)])  # somebody must carry the facts
        yield first, self.source, task, piece, None, facts
        for number, low, high in zip(self.numbers.tolist(), [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            if high > low:
                rows = io.BytesIO()
                frame[low:high].write_ipc_stream(rows, compression="uncompressed")  # Spark compresses what it moves
                yield number, self.source, task, piece, rows.getvalue(), None


def dealt(session: SparkSession, inputs: Iterable[tuple[DataFrame, Dealing]], parts: int) -> DataFrame:
    """The cells of all inputs, those of a part in one partition."""
    found: DataFrame | None = None
    for frame, dealing in inputs:
        cells = frame.mapInArrow(_function(dealing), COLUMNS)
        found = cells if found is None else found.unionAll(cells)
    assert found is not None
    return found.repartition(parts, "part")


def _function(dealing: Dealing) -> Any:
    return lambda batches: dealing(batches)


def parts_in(batches: Iterable[Any]) -> Iterator[Part]:
    """The parts in a partition: one, or none."""
    cells: dict[int, list[dict[str, Any]]] = {}
    for batch in batches:
        for cell in batch.to_pylist():
            cells.setdefault(cell["part"], []).append(cell)
    for number in sorted(cells):
        yield _part(number, sorted(cells.pop(number), key=lambda cell: (cell["source"], cell["task"], cell["piece"])))


def _part(number: int, cells: list[dict[str, Any]]) -> Part:
    rows: dict[int, list[pl.DataFrame]] = {}
    for cell in cells:
        if cell["rows"] is not None:
            rows.setdefault(cell["source"], []).append(_wide(pl.read_ipc_stream(cell["rows"])))
    frames = {source: pl.concat(found) for source, found in rows.items()}
    facts = tuple((cell["source"], pickle.loads(cell["facts"])) for cell in cells if cell["facts"] is not None)
    sums = (int(frame.hash_rows(seed=source).sum()) for source, frame in frames.items())
    return Part(number, frames, facts, sum(sums) % 2**64)


def _narrow(frame: pl.DataFrame) -> pl.DataFrame:
    """Ids that are numbers in 32 bits where they fit: half the bytes to be moved."""
    fit = [name for name in NUMBERED if name in frame.columns and _fits(frame[name])]
    return frame.with_columns(pl.col(fit).cast(pl.Int32)) if fit else frame


def _fits(ids: pl.Series) -> bool:
    low, high = (ids.min(), ids.max()) if ids.dtype == pl.Int64 else (None, None)
    return isinstance(low, int) and isinstance(high, int) and low >= -(2**31) and high < 2**31


def _wide(frame: pl.DataFrame) -> pl.DataFrame:
    """The ids again as they came."""
    narrow = [name for name in NUMBERED if name in frame.columns and frame.schema[name] == pl.Int32]
    return frame.with_columns(pl.col(narrow).cast(pl.Int64)) if narrow else frame


def _pieces(batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Batches of Spark put together to pieces of some size; no rows, no piece."""
    waiting: list[pl.DataFrame] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(local_frame(batch))
            rows += batch.num_rows
        if rows >= PIECE:
            yield pl.concat(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pl.concat(waiting)


def _cells(rows: list[tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    names = ("part", "source", "task", "piece", "rows", "facts")
    types = (pa.int64(), pa.int32(), pa.int32(), pa.int32(), pa.binary(), pa.binary())
    arrays = [pa.array(column, dtype) for column, dtype in zip(zip(*rows, strict=True), types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))
