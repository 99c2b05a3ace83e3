"""Which engine an evaluation runs on, and what it is expected to take: looked up before anything but headers is read.

Files that would take more memory than is free are streamed; so are folders, patterns and addresses, which only the
stream reads. ``engine=…`` decides where both will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.errors import InputError
from unskew.core.memory import amount, available, memory_limit
from unskew.engine.stream.addresses import is_address
from unskew.engine.stream.files import Source
from unskew.engine.stream.sizes import BASE, IN_MEMORY, Sizes, in_memory
from unskew.evaluation.part_inputs import divided_table
from unskew.evaluation.request import Request
from unskew.evaluation.stream import open_sources, row_counts
from unskew.log.batches import Kind
from unskew.log.duckdb_tables import file_of
from unskew.log.paths import check_file, is_path, shown
from unskew.log.several import PARQUET, ending_of, files_of, is_several
from unskew.outcome import Given

INPUTS = ("test", "train", "users", "items", "mcar", "answers", "user_features", "item_features")
FREE = 0.5  # of what is free that a stream takes unless it is told


@dataclass(frozen=True, eq=False)
class Expected:
    """What an evaluation of Parquet files will take.

    Args:
        engine: ``memory`` or ``stream``.
        in_memory: bytes that the engine in memory would take; ``free`` are there.
    """

    engine: str
    sources: Mapping[str, Source]
    rows: int
    in_memory: int
    free: int
    sizes: Sizes

    @property
    def text(self) -> str:
        """For people, in a few lines."""
        lines = [
            f"{self.rows:,} rows take about {amount(self.in_memory)} in memory, and {amount(self.free)} are free.",
            f"Engine: {self.engine}.",
        ]
        if self.engine == "stream":
            sizes = self.sizes
            disk = f"up to {amount(sizes.disk)} of temporary files" if sizes.disk else "none"
            lines.append(
                f"Memory: at most {amount(sizes.limit)}, in {sizes.parts:,} {'part' if sizes.parts == 1 else 'parts'} "
                f"of the users. Disk: {disk}. Time: about {_duration(sizes.seconds)} of CPU."
            )
        return "\n".join(lines)


def dry_run(request: Request) -> str:
    """In words what an evaluation would take; nothing but headers is read."""
    for each in (getattr(request, name) for name in INPUTS):
        _check_there(each)
    for each in request.models.values():
        _check_there(each)
    forced = request.engine == "memory"
    request = replace(request, engine=None) if forced else request
    expected = expect(request, small=True)
    if expected is None:
        return "Engine: memory. Inputs other than Parquet files are read into memory, whatever they take."
    return replace(expected, engine="memory").text if forced else expected.text


def expect(request: Request, *, small: bool = False) -> Expected | None:
    """What to expect, where inputs are Parquet files; ``None`` where they are in memory, or must be.

    Args:
        small: look also at files that are so small that they fit in any case.
    """
    given = [request.test, request.train, request.users, *request.models.values()]
    sources, table = [each for each in given if each is not None], divided_table(request)
    asked = request.engine == "stream"
    only_stream = any(_many(each) for each in sources)
    if request.engine == "memory" and (addresses := [each for each in sources if is_address(each)]):
        raise InputError(
            f"{shown(addresses[0])}: addresses of object stores are read by engine='stream', in any amount of memory.\n"
            "Leave engine='memory' out, or copy the files here first.",
            code="store-needs-stream",
        )
    parquet = all(_is_parquet(each) for each in sources) and (table is None or _is_parquet(table) or _many(table))
    if request.engine == "memory" or not (asked or only_stream or parquet):
        return None
    free = available()
    look = small or asked or only_stream or request.memory is not None
    if not look and _bytes([*sources, table]) * LARGEST < free:
        return None  # such small files are not worth a look
    opened = open_sources(request)
    rows = row_counts(opened)
    limit = max(int(FREE * free), 1 << 28) if request.memory is None else memory_limit(request.memory)
    held = _held(request)
    texts = any(source.types["user"] == pl.String() for source in opened.values())
    needed = max(in_memory(rows) + held, sum(source.unpacked.whole for source in opened.values()))
    width = max(source.unpacked.whole / source.rows for source in opened.values())
    room = free if request.memory is None else min(max(limit, BASE + limit // 4), free)
    stream = asked or only_stream or needed > room
    if stream:
        _refuse_large_groups(opened, limit)
    return Expected(
        "stream" if stream else "memory",
        opened,
        sum(rows.values()),
        needed,
        free,
        Sizes.of(rows, limit, texts=texts, held=held, width=width),
    )


LARGEST = 60  # bytes in memory for a byte of a Parquet file, at most


def _refuse_large_groups(sources: Mapping[str, Source], limit: int) -> None:
    """Rows are read in pieces of row groups, and what these hold of a column is unpacked together."""
    for source in sources.values():
        if source.unpacked.group > limit:
            raise InputError(
                f"{source.reading.source}: a row group unpacks to about {amount(source.unpacked.group)}, more than the "
                f"{amount(limit)} of memory that may be taken.\nWrite the file with smaller row groups: "
                f"pl.scan_parquet(…).sink_parquet(…, row_group_size=100_000).{source.unpacked.hint}",
                code="row-group-too-large",
            )


def _held(request: Request) -> int:
    """Bytes of a table of predictions that is in memory as a whole."""
    outcome = request.outcome
    if not isinstance(outcome, Given) or outcome.file is not None:
        return 0
    return IN_MEMORY[Kind.PREDICTIONS] * len(outcome.table)


def _check_there(given: Any) -> None:
    """Refuse paths that lead to no file, which an evaluation would find out only when it reads them."""
    if is_path(given) and not is_address(given):
        for file in files_of(given):
            check_file(file_of(file), "Give a file, or a folder of files.")


def _many(given: Any) -> bool:
    """Whether this is more than one file, or elsewhere."""
    if is_address(given):
        return True
    if not isinstance(given, str | PathLike) or not is_several(given):
        return False
    return ending_of(files_of(given)[0]) in PARQUET  # others are read into memory, one after the other


def _is_parquet(given: Any) -> bool:
    return isinstance(given, str | PathLike) and Path(given).suffix.lower() in PARQUET and Path(given).is_file()


def _bytes(sources: list[Any]) -> int:
    files = (file for each in sources if each is not None and not is_address(each) for file in files_of(each))
    return sum(file.stat().st_size for file in files)


def _duration(seconds: float) -> str:
    if seconds < 100.0:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.1f} h"
