"""What a Parquet file unpacks to is known before it is read, whatever its footer claims."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unskew as us
from tests.said import refuses
from unskew.core import memory
from unskew.log.parquet_sizes import Unpacked, unpacked_size

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

LONG = "x" * 100_000
in_folder = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def slow_struct(file: BytesIO) -> dict[int, Any]:
    """A struct in Thrift's compact protocol, by the book."""

    def unsigned() -> int:
        value = shift = 0
        while (byte := file.read(1)[0]) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
        return value | byte << shift

    def signed() -> int:
        number = unsigned()
        return number >> 1 ^ -(number & 1)

    def value(kind: int) -> Any:
        if kind in (9, 10):
            head = file.read(1)[0]
            size = head >> 4 if head >> 4 < 15 else unsigned()
            return [value(head & 15) for _ in range(size)]
        if kind in (4, 5, 6):
            return signed()
        if kind == 12:
            return slow_struct(file)
        return kind == 1 if kind < 3 else file.read({3: 1, 7: 8}.get(kind) or unsigned())

    found: dict[int, Any] = {}
    field = 0
    while head := file.read(1)[0]:
        field = field + (head >> 4) if head >> 4 else signed()
        found[field] = value(head & 15)
    return found


def slow_sizes(path: Path, columns: list[str]) -> Unpacked:
    """Page by page, from the headers."""
    groups = []
    metadata = pq.ParquetFile(path).metadata
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        groups.append(0)
        for chunk in map(group.column, range(group.num_columns)):
            if chunk.path_in_schema.split(".")[0] in columns:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                content = BytesIO(path.read_bytes()[start : start + chunk.total_compressed_size])
                while content.tell() < chunk.total_compressed_size:
                    page = slow_struct(content)
                    groups[-1] += page[2]
                    content.seek(page[3], 1)
    return Unpacked(sum(groups), max(groups))


FRAME = pl.DataFrame({
    "user": [f"user {n % 40}" for n in range(300)],
    "more": [{"user": n, "item": [{"a": "x" * (n % 5), "b": n}]} for n in range(300)],
    "item": range(300),
    "lists": [[n] * (n % 3) for n in range(300)],
    "rank": [n / 7 if n % 9 else None for n in range(300)],
})  # fmt: skip


@in_folder
@given(
    columns=st.sets(st.sampled_from([*FRAME.columns, "none"]), min_size=1),
    packing=st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
    version=st.sampled_from(["1.0", "2.0"]),
    group=st.sampled_from([50, 1000]),
    dictionary=st.booleans(),
    page=st.sampled_from([100, 1 << 20]),
)
def test_sizes_are_those_of_all_pages(
    tmp_path: Path, columns: set[str], packing: str, version: str, group: int, dictionary: bool, page: int
) -> None:
    """Against a reader that goes by the book; nested columns have several in the file."""
    path = tmp_path / "t.parquet"
    pq.write_table(
        FRAME.to_arrow(), path, compression=packing, data_page_version=version, row_group_size=group,
        use_dictionary=dictionary, data_page_size=page, write_page_index=True,
    )  # fmt: skip
    assert unpacked_size(path, columns) == slow_sizes(path, list(columns))
    FRAME.write_parquet(path, row_group_size=group, compression="zstd", data_page_size=page)
    assert unpacked_size(path, columns) == slow_sizes(path, list(columns))


@in_folder
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=9), st.floats(0, 1))
def test_damage_is_an_error_or_seen_by_who_reads(tmp_path: Path, bytes_: list[tuple[float, int]], cut: float) -> None:
    """Any bytes: an answer or one clear error, never more."""
    frame = FRAME.head(20)
    frame.write_parquet(content := BytesIO(), row_group_size=7)
    data = bytearray(content.getvalue())
    for place, byte in bytes_:
        data[int(place * (len(data) - 1))] = byte
    (path := tmp_path / "t.parquet").write_bytes(data if cut < 0.8 else data[int(cut * len(data)) :])
    try:
        assert unpacked_size(path, ["user", "lists"]).whole >= 0
    except us.InputError as problem:
        assert "t.parquet: " in str(problem)


def wide(path: Path, **how: Any) -> None:
    """A small file of a thousand texts of a hundred kilobytes."""
    table = pa.table({"user": [f"{LONG}{n % 7}" for n in range(100)], "item": range(100), "rank": range(1, 101)})
    with pq.ParquetWriter(path, table.schema, compression="zstd", use_dictionary=False, **how) as writer:
        for _ in range(10):
            writer.write_table(table)


def test_extreme_compression_is_refused(tmp_path: Path) -> None:
    """Before anything is unpacked; whatever the footer says, and where the column is used."""
    wide(path := tmp_path / "t.parquet")
    assert path.stat().st_size < 100_000
    for content in (path.read_bytes(), lying(path)):
        path.write_bytes(content)
        for read in (us.read_log, us.read_recommendations):
            with refuses("too-large"):
                read(path)
        with refuses("too-large"):
            us.evaluate(path, {"a": path}, engine="stream")
    assert unpacked_size(path, ["item"]).whole < 20_000


def lying(path: Path) -> bytes:
    """The file with a footer that says that every column of every row group unpacks to one byte, under other names."""
    data, metadata = path.read_bytes(), pq.ParquetFile(path).metadata
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:]
    for size in {metadata.row_group(g).column(0).total_uncompressed_size for g in range(metadata.num_row_groups)}:
        told, number = b"", size << 1
        while number > 127:
            told, number = told + bytes([number & 127 | 128]), number >> 7
        told += bytes([number])
        assert footer.count(told)
        footer = footer.replace(told, b"\x82" + b"\x80" * (len(told) - 2) + b"\x00")
    schema, chunks = footer[: footer.index(b"user") + 4], footer[footer.index(b"user") + 4 :]
    return data[:start] + schema + chunks.replace(b"user", b"else")


def test_texts_that_share_their_beginnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may take as much as a page each; how much they share is packed."""
    encoding = {"user": "DELTA_BYTE_ARRAY", "item": "PLAIN", "rank": "PLAIN"}
    wide(path := tmp_path / "t.parquet", column_encoding=encoding)
    assert path.stat().st_size < 100_000
    assert unpacked_size(path, ["user"]).shared >= 10 * 100 * len(LONG)
    monkeypatch.setattr(memory, "available", lambda: 90_000_000)
    with refuses("not-enough-memory") as said:
        us.read_log(path)
    assert "101.5 MB" in str(said.value) and "DELTA_BYTE" in str(said.value)
    with pytest.raises(us.InputError, match=r"300\.0 MB"):
        one = pa.table(
            {"user": [f"{4 * LONG}{n % 7}" for n in range(1000)], "item": range(1000), "rank": range(1, 1001)}
        )
        pq.write_table(one, path, use_dictionary=False, column_encoding=encoding, compression="zstd")
        us.evaluate(path, {"a": path}, engine="stream", memory="300MB")
