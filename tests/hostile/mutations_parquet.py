"""Parquet files: types, nesting, metadata that lies, row groups and damage of the bytes."""

from __future__ import annotations

import struct
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile.drafts import Draft, Expect, mutation


def _cast(name: str, dtype: pl.DataType, frame: pl.DataFrame) -> pl.DataFrame:
    try:
        return frame.with_columns(pl.col(name).cast(dtype))
    except (pl.exceptions.PolarsError, OverflowError):
        return frame


@mutation("parquet", benign=True)
def other_types(draft: Draft, rng: Random) -> None:
    """The same values in other types."""
    choice: dict[str, list[pl.DataType]] = {
        "user": [pl.String(), pl.Int32(), pl.UInt64(), pl.Categorical(), pl.Float64(), pl.Int128()],
        "item": [pl.String(), pl.Int16(), pl.UInt32(), pl.Categorical(), pl.Decimal(20, 0)],
        "rank": [pl.Int8(), pl.UInt16(), pl.Float64(), pl.UInt64()],
        "propensity": [pl.Decimal(10, 4)],
    }
    for name, types in choice.items():
        if name in draft.table.columns:
            dtype = rng.choice(types)
            draft.frames.append(lambda frame, name=name, dtype=dtype: _kept(name, dtype, frame))  # type: ignore[misc]


def _kept(name: str, dtype: pl.DataType, frame: pl.DataFrame) -> pl.DataFrame:
    """Cast where no id is another id afterwards."""
    changed = _cast(name, dtype, frame)
    back = _cast(name, frame.schema[name], changed)
    return changed if back[name].equals(frame[name]) else frame


@mutation("parquet")
def strange_types(draft: Draft, rng: Random) -> None:
    name = rng.choice(draft.table.columns)
    odd = rng.choice(
        ("binary", "list", "struct", "date", "datetime", "duration", "time", "bool", "null", "decimal", "float16")
    )
    draft.frames.append(lambda frame: _odd(frame, name, odd))
    draft.expect = Expect.ANYTHING if draft.expect is Expect.ORACLE else draft.expect


def _odd(frame: pl.DataFrame, name: str, odd: str) -> pl.DataFrame:
    if name not in frame.columns:
        return frame
    column, rows = pl.col(name), len(frame)
    numbers = pl.Series(name, range(rows), dtype=pl.Int64)
    made: dict[str, Any] = {
        "binary": column.cast(pl.String).cast(pl.Binary),
        "list": pl.concat_list(column.cast(pl.String)),
        "struct": pl.struct(column),
        "date": numbers.cast(pl.Date),
        "datetime": numbers.cast(pl.Datetime("ns", "Asia/Kathmandu")),
        "duration": numbers.cast(pl.Duration("ms")),
        "time": numbers.cast(pl.Time),
        "bool": pl.Series(name, [row % 2 == 0 for row in range(rows)], dtype=pl.Boolean),
        "null": pl.Series(name, [None] * rows, dtype=pl.Null),
        "decimal": pl.Series(name, [Decimal(row) / 8 for row in range(rows)], dtype=pl.Decimal(20, 3)),
        "float16": pl.Series(name, range(rows), dtype=pl.Float32),
    }
    return frame.with_columns(made[odd].alias(name))


@mutation("parquet")
def times_of_all_kinds(draft: Draft, rng: Random) -> None:
    unit, zone = rng.choice(("ms", "us", "ns")), rng.choice((None, "UTC", "America/New_York", "Pacific/Apia"))
    start = rng.choice((0, -1, 2**62, -(2**62), 2**63 - 1000, 1_700_000_000_000))
    kind = pl.Datetime(unit, zone)  # type: ignore[arg-type]
    draft.frames.append(
        lambda frame: frame.with_columns(
            pl.Series("time", [start + row for row in range(len(frame))], dtype=pl.Int64).cast(kind)
        )
    )


@mutation("parquet", benign=True)
def small_row_groups(draft: Draft, rng: Random) -> None:
    size = rng.choice((1, 7, 1000))
    packing = rng.choice(("snappy", "gzip", "zstd", "uncompressed", "lz4", "brotli"))
    draft.writer = lambda frame, path: frame.write_parquet(path, row_group_size=size, compression=packing)  # type: ignore[arg-type]


@mutation("parquet", benign=True)
def claims_to_be_sorted(draft: Draft, rng: Random) -> None:
    """The metadata says that rows ascend (or descend) by the first columns, which nobody promised."""
    down = rng.random() < 0.3

    def write(frame: pl.DataFrame, path: Path) -> None:
        table = frame.to_arrow()
        columns = [pq.SortingColumn(at, descending=down) for at in range(min(2, table.num_columns))]
        pq.write_table(table, path, sorting_columns=columns, row_group_size=rng.choice((5, 10_000)))

    draft.writer = write


@mutation("parquet")
def lying_statistics(draft: Draft, rng: Random) -> None:
    """Smallest and largest numbers of the footer are exchanged for others; the rows stay what they are."""
    lie = rng.choice((0, 1, 2, -1, 2**40))

    def edit(data: bytes) -> bytes:
        if len(data) < 12 or data[-4:] != b"PAR1":
            return data
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        footer = data[start:]
        for row in draft.sheet.rows if draft.sheet is not None else []:
            for cell in row[:2]:
                if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > 255 and abs(cell) < 2**62:
                    footer = footer.replace(struct.pack("<q", cell), struct.pack("<q", lie))
        return data[:start] + footer

    draft.edits.append(edit)


@mutation("parquet", benign=True)
def metadata_of_strangers(draft: Draft, rng: Random) -> None:
    """Key-value metadata of pandas and Arrow that promises other things than the file holds."""
    words = rng.choice((b"", b"{", b'{"index_columns": ["user"]}', b"\x1b[2J", b"x" * 100_000, b"\x80\x00"))

    def write(frame: pl.DataFrame, path: Path) -> None:
        table = frame.to_arrow()
        pq.write_table(table.replace_schema_metadata({b"pandas": words, b"note": words}), path, store_schema=False)

    draft.writer = write


@mutation("parquet", benign=True)
def large_and_dictionary_types(draft: Draft, rng: Random) -> None:
    def write(frame: pl.DataFrame, path: Path) -> None:
        table = frame.to_arrow()
        for at, field in enumerate(table.schema):
            if pa.types.is_large_string(field.type) or pa.types.is_string(field.type):
                column = table.column(at).cast(pa.string())
                table = table.set_column(at, field.name, column.dictionary_encode() if rng.random() < 0.5 else column)
        pq.write_table(table, path, data_page_version=rng.choice(("1.0", "2.0")), use_dictionary=rng.random() < 0.5)

    draft.writer = write


@mutation("parquet")
def nested_neighbours(draft: Draft, rng: Random) -> None:
    draft.frames.append(lambda frame: frame.with_columns(extra=pl.struct(pl.lit(1).alias("a"), pl.lit("x").alias("b"))))


@mutation("parquet")
def damaged_pages(draft: Draft, rng: Random) -> None:
    """Some bytes change: pages have no checksums, so that a changed number cannot be seen."""
    places, byte = [rng.random() for _ in range(rng.choice((1, 5, 50)))], rng.randrange(256)

    def edit(data: bytes) -> bytes:
        out = bytearray(data)
        for place in places:
            if out:
                out[int(place * len(out))] = byte
        return bytes(out)

    draft.edits.append(edit)
    draft.expect = Expect.ANYTHING if draft.expect is Expect.ORACLE else draft.expect


@mutation("parquet")
def cut_parquet(draft: Draft, rng: Random) -> None:
    share = rng.choice((0.0, 0.1, 0.5, 0.9, 0.999))
    draft.edits.append(lambda data: data[: int(share * len(data))])
    draft.expect = Expect.REFUSED


@mutation("parquet")
def damaged_footer(draft: Draft, rng: Random) -> None:
    length = rng.choice((0, 1, 2**31, 2**32 - 1))

    def edit(data: bytes) -> bytes:
        return data[:-8] + struct.pack("<I", length) + data[-4:]

    draft.edits.append(edit)
    draft.expect = Expect.REFUSED


@mutation("parquet")
def two_parquet_files_in_one(draft: Draft, rng: Random) -> None:
    draft.edits.append(lambda data: data + data)
    draft.expect = Expect.SAME_OR_REFUSED


@mutation("parquet")
def text_called_parquet(draft: Draft, rng: Random) -> None:
    words = rng.choice(
        (b"user,item,propensity\n1,2,0.5\n", b"PAR1PAR1", b"PAR1" + bytes(100) + b"PAR1", b"", bytes(1 << 20))
    )
    draft.edits.append(lambda data: words)
    draft.expect = Expect.REFUSED
