"""One input of Parquet files, unread: a file, a folder, a pattern, or an address that polars knows (s3://…).

Its rows come in pieces, checked, with the columns under our names. Nothing but headers is read when it is opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from unskew.core.errors import InputError
from unskew.engine.stream.addresses import address_of, is_address, reached
from unskew.engine.stream.folders import asked_of_folders, with_folders
from unskew.log.batches import Checked, Reading, id_type
from unskew.log.parquet_sizes import Unpacked
from unskew.log.paths import shown
from unskew.log.position import OURS
from unskew.log.said import say_columns
from unskew.log.several import files_of
from unskew.log.sorted_flags import without_sorted_flags
from unskew.log.sources import OpenFile, open_file

PIECE = 2_000_000  # rows


class RowFile(NamedTuple):
    """One file: its used columns under our names, unread; ``names`` has those that they have there."""

    source: str
    rows: int
    lazy: pl.LazyFrame
    names: Mapping[str, str]

    def slice(self, start: int, rows: int, columns: Sequence[str] = ()) -> pl.DataFrame:
        """Some of its rows."""
        lazy = self.lazy.select(columns) if columns else self.lazy
        with reached(self.source):
            found = lazy.slice(start, rows).collect(engine="streaming")
        if len(found) != rows:
            raise InputError(
                f"{self.source}: the file changed while it was read.\nTry again when nothing writes to it.",
                code="changed-rows",
            )
        return without_sorted_flags(found)


@dataclass(frozen=True, eq=False)
class Source:
    """One input.

    Args:
        types: of the ids, as they are kept.
        unpacked: what the used columns unpack to; nothing where they are elsewhere.
        piece: rows that are read at once.
    """

    reading: Reading
    files: tuple[RowFile, ...]
    types: Mapping[str, pl.DataType]
    unpacked: Unpacked
    piece: int = PIECE

    @classmethod
    def open(cls, given: str | PathLike[str], how: Reading) -> Source:
        """The files of a path or address; each must have all columns, in types that will do."""
        files: list[RowFile] = []
        types: dict[str, pl.DataType] = {}
        unpacked = Unpacked()
        for source, schema, lazy, opened in _opened(given, asked_of_folders(how)):
            names = how.names(source, list(schema))
            files.append(RowFile(source, _rows(source, lazy), lazy.select(_renamed(names)), names))
            unpacked = unpacked if opened is None else unpacked.merge(opened.unpacked(names))
            used = pl.DataFrame(schema={ours: schema[theirs] for ours, theirs in names.items()})
            how.check(used, source, 0, {}, names)
            own = {
                ours: id_type(schema[theirs]) for ours, theirs in names.items() if ours in ("user", "item", "policy")
            }
            free = {OURS} if not how.columns.get(OURS) and OURS not in how.keep else set[str]()
            if types and (own.keys() != types.keys() or {*names} - free != {*files[0].names} - free):
                raise InputError(
                    f"{how.source}: the columns of '{source}' are not those of '{files[0].source}'.\n"
                    "Give files with the same columns.",
                    code="columns-differ",
                )
            types = {ours: dtype if types.get(ours, dtype) == dtype else pl.String() for ours, dtype in own.items()}
        for file in files:
            say_columns(file.source, file.names)
        found = cls(how, _alike(files), types, unpacked)
        if not found.rows:
            raise InputError(
                f"{how.source}: there are no rows.\nGive an input with at least one good row.", code="no-rows"
            )
        return found

    @property
    def rows(self) -> int:
        """How many rows all files have."""
        return sum(file.rows for file in self.files)

    def with_types(self, **types: pl.DataType) -> Source:
        """The same with other types of ids."""
        return replace(self, types={**self.types, **types})

    def pieces(self) -> Iterator[Checked]:
        """All rows, checked, some at a time."""
        for file in self.files:
            for start in range(0, file.rows, self.piece):
                rows = min(self.piece, file.rows - start)
                yield self.reading.check(file.slice(start, rows), file.source, start, self.types, file.names)

    def checked(self, file: RowFile, start: int, rows: int) -> pl.DataFrame:
        """Some rows of a file, clean."""
        return self.reading.check(file.slice(start, rows), file.source, start, self.types, file.names).frame

    def locate(self, wanted: Sequence[dict[str, Any]]) -> str:
        """Where the files hold rows with these ids, in words; the same ids twice are two rows."""
        found, taken = [], set()
        for ids in wanted:
            place = next((at for at in self._places(ids) if at not in taken), None)
            taken.add(place)
            found.append("a row" if place is None else f"row {place[1] + 1:,} of {place[0]}")
        return " and ".join(found)

    def _places(self, ids: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        same = [pl.col(name).cast(pl.String).str.replace(r"\.0$", "") == str(value) for name, value in ids.items()]
        for file in self.files:
            rows = file.lazy.with_row_index("_row").filter(*same).select("_row").head(2).collect(engine="streaming")
            yield from ((file.source, int(row)) for row in rows["_row"])


def columns_in(given: str | PathLike[str], asked: Collection[str]) -> list[str]:
    """The columns of an input, by its first file; of the values of folders those that are asked for."""
    return next(iter(_opened(given, asked)))[1].names()


def _opened(
    given: str | PathLike[str], asked: Collection[str]
) -> Iterator[tuple[str, pl.Schema, pl.LazyFrame, OpenFile | None]]:
    """The files of a path; of an address what lies there."""
    if is_address(given):
        with reached(shown(given)):
            yield shown(given), *_of_address(address_of(str(given)), asked), None
        return
    for file in files_of(given):
        opened = open_file(file)
        if not opened.is_parquet:
            raise InputError(
                f"{shown(file)}: files that exceed memory are read from Parquet only.\nWrite it anew, all columns as "
                f"texts, so that ids stay as they are: pl.scan_csv('{shown(file.name)}', infer_schema=False)"
                f".sink_parquet('{shown(file.stem)}.parquet'), or use engine='memory'.",
                code="parquet-only",
            )
        schema, lazy = with_folders(file, pl.scan_parquet(file, glob=False), opened.types, asked)
        yield shown(file), schema, lazy, opened


def _of_address(address: str, asked: Collection[str]) -> tuple[pl.Schema, pl.LazyFrame]:
    """What lies at an address, with the values of its folders that are asked for, as text."""
    lazy = pl.scan_parquet(address, hive_partitioning=False)
    schema = lazy.collect_schema()
    if not set(asked) - set(schema):
        return schema, lazy
    whole = pl.scan_parquet(address, hive_partitioning=True, try_parse_hive_dates=False)
    found = [name for name in whole.collect_schema() if name in asked and name not in schema]
    named = whole.select(*schema, pl.col(found).cast(pl.String)) if found else lazy
    return named.collect_schema(), named


def _rows(source: str, lazy: pl.LazyFrame) -> int:
    with reached(source):
        return int(lazy.select(pl.len()).collect().item())


def _alike(files: Sequence[RowFile]) -> tuple[RowFile, ...]:
    """A column for places on the page that nobody named may be in some files only: it is empty in the others."""
    names = next((file.names for file in files if OURS in file.names), None)
    if names is None:
        return tuple(files)
    nothing = pl.lit(None, pl.Int32).alias(OURS)
    return tuple(
        file
        if OURS in file.names
        else file._replace(lazy=file.lazy.with_columns(nothing).select(*names), names={OURS: names[OURS], **file.names})
        for file in files
    )


def _renamed(names: Mapping[str, str]) -> list[pl.Expr]:
    return [cs.by_name(theirs).as_expr().alias(ours) for ours, theirs in names.items()]
