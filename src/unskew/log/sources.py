"""From files and frames to a table with our column names; only the columns that are used are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

import narwhals as nw
import polars as pl
import polars.selectors as cs

from unskew.core import memory
from unskew.core.errors import InputError
from unskew.core.panics import held_back
from unskew.core.text import plain
from unskew.core.threads import use_polars
from unskew.log import json_lines, position
from unskew.log.column_maps import by_place
from unskew.log.duckdb_tables import DuckTable, names_table
from unskew.log.json_lines import read_json_lines
from unskew.log.log import Invalid
from unskew.log.match import match_columns
from unskew.log.names import amounts
from unskew.log.parquet_sizes import Unpacked, unpacked_size
from unskew.log.parquet_texts import as_texts
from unskew.log.paths import Paths, check_file, is_path, shown
from unskew.log.said import say_columns
from unskew.log.several import ARROW, PARQUET, SEPARATORS, ending_of, files_of
from unskew.log.sorted_flags import without_sorted_flags
from unskew.log.table import CELL, Table
from unskew.log.text import TextFile

_CELL = {True: 48, False: CELL}  # of text files, and of others
LABELS = (pl.Categorical, pl.Enum)
IDS = ("user", "item")
PIECE = 1 << 17  # rows, where all are there
_GROUPS = "Write the file with smaller row groups: pl.scan_parquet(…).sink_parquet(…, row_group_size=100_000)."
_SMALLER = "Give Parquet rather than CSV, fewer columns, a sample of the users, or more memory."


class OpenFile(NamedTuple):
    """A file of which nothing but the header has been read.

    Args:
        types: the name and type of each column in order; those of a text file are texts, and may be there twice.
        text: the text file, if it is one.
        table: the table of a database, if it is one.
        rows: the rows, if they had to be read to know the columns.
    """

    file: Path
    types: tuple[tuple[str, pl.DataType], ...]
    text: TextFile | None = None
    table: DuckTable | None = None
    rows: pl.DataFrame | None = None

    @property
    def names(self) -> list[str]:
        """The columns as the file calls them."""
        return [name for name, _ in self.types]

    def empty(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Columns under our names, without rows."""
        types = dict(self.types)
        return pl.DataFrame(schema={ours: types[theirs] for ours, theirs in names.items()})

    def scan(self, names: Mapping[str, str]) -> tuple[pl.LazyFrame, int]:
        """Columns under our names, unread, and the number of rows; the lines of a text file are checked."""
        if self.text is None:
            lazy = self._unread(names.values())
            rows = int(lazy.select(pl.len()).collect().item())
            return _renamed(lazy, names), rows
        rows, unpacked = self.text.check()
        lazy = pl.scan_csv(
            self.file if unpacked is None else unpacked,
            separator=self.text.separator,
            has_header=self.text.header,
            infer_schema=False,
            new_columns=[str(place) for place in range(len(self.types))],
            glob=False,
        )
        places = {ours: self.names.index(theirs) for ours, theirs in names.items()}
        return lazy.select(pl.col(str(place)).alias(ours) for ours, place in places.items()), rows

    def scan_pieces(self, names: Mapping[str, str]) -> tuple[pl.LazyFrame, int]:
        """The same, where some rows are read at a time: row groups must fit into memory."""
        lazy, rows = self.scan(names)
        unpacked = self.unpacked(names)
        memory.require(unpacked.group, f"{shown(self.file)}: reading a row group", _GROUPS + unpacked.hint)
        return lazy, rows

    @property
    def is_parquet(self) -> bool:
        """Whether parts of it can be read alone."""
        return ending_of(self.file) in PARQUET

    def _unread(self, columns: Iterable[str]) -> pl.LazyFrame:
        if self.rows is not None:
            return self.rows.lazy()
        if self.table is not None:
            return self.table.read(dict.fromkeys(columns)).lazy()
        if ending_of(self.file) in ARROW:
            return pl.scan_ipc(self.file, glob=False)
        return pl.scan_parquet(self.file, glob=False)

    def say(self, source: str, names: Mapping[str, str]) -> None:
        """Say what was taken for which column, and what else the name of the file does not tell."""
        more = []
        if self.text is not None and not self.text.header:
            more.append(f"no header line, {len(self.types)} columns")
        if self.text is not None and (usual := SEPARATORS.get(ending_of(self.file))) and usual != self.text.separator:
            more.append(f"fields are separated by {self.text.separator!r}")
        say_columns(source, names, *more)

    def read(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Columns under our names; ids that are categories of a Parquet file come as texts."""
        lazy, rows = self._room_for(names)
        frame = self._without_labels(lazy, names).collect()
        if len(frame) != rows:
            raise self.miscounted(rows, len(frame))
        return without_sorted_flags(frame)

    def pieces(self, names: Mapping[str, str]) -> tuple[Callable[[Iterable[str]], Iterator[pl.DataFrame]], int]:
        """The same in pieces, and the number of rows: a function reads some of the columns, in the order of the rows.

        Further pieces are decoded meanwhile. Older versions of polars give all rows at once, which are cut.
        """
        lazy, rows = self._room_for(names)
        return partial(_pieces, self._without_labels(lazy, names)), rows

    def _without_labels(self, lazy: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
        """The same, with texts for categories of a Parquet file; as it is where anything else would change by that."""
        types = self.empty(names).schema
        if not self.is_parquet or not any(dtype in LABELS for dtype in types.values()):
            return lazy
        if (texts := as_texts(self.file)) is None:
            return lazy
        found = _renamed(pl.scan_parquet(texts), names)
        wanted = {name: pl.String() if dtype in LABELS and name in IDS else dtype for name, dtype in types.items()}
        return found if found.collect_schema() == pl.Schema(wanted) else lazy

    def _room_for(self, names: Mapping[str, str]) -> tuple[pl.LazyFrame, int]:
        lazy, rows = self.scan(names)
        unpacked = self.unpacked(names)
        size = max(rows * len(names) * _CELL[self.text is not None], unpacked.whole)
        memory.require(size, f"{shown(self.file)}: reading {rows:,} rows", _SMALLER + unpacked.hint)
        return lazy, rows

    def unpacked(self, names: Mapping[str, str]) -> Unpacked:
        """What columns of a Parquet file unpack to; far more than a table does is an error."""
        return unpacked_size(self.file, names.values()) if self.is_parquet else Unpacked()

    def miscounted(self, rows: int, read: int) -> InputError:
        """Other rows were read than the file has."""
        quotes = None if self.text is None else self.text.stray_quote()
        return InputError(
            f"{shown(self.file)}: the file has {rows:,} rows, and {read:,} were read.\n"
            f"{quotes or 'It is damaged, or changed while it was read.'}",
            code=quotes.code if quotes else "damaged-file",
        )


def _renamed(lazy: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
    """Columns under our names."""
    return lazy.select(cs.by_name(theirs).as_expr().alias(ours) for ours, theirs in names.items())


def _pieces(lazy: pl.LazyFrame, columns: Iterable[str]) -> Iterator[pl.DataFrame]:
    """The rows as they are decoded; who stops listening stops that."""
    chosen = lazy.select(columns)
    if not hasattr(chosen, "collect_batches"):
        yield from chosen.collect().iter_slices(PIECE)
        return
    batches = chosen.collect_batches(maintain_order=True)
    try:
        yield from batches
    finally:
        getattr(batches, "stop", lambda: None)()


def open_file(path: str | PathLike[str], columns: Mapping[str, str] | None = None) -> OpenFile:
    """The columns of a file; text columns are not interpreted yet.

    Args:
        columns: what is said of them: places say that a text file has no header.
    """
    use_polars()
    if names_table(path):
        table = DuckTable.open(path)
        return OpenFile(table.file, table.types, table=table)
    file = check_file(path, "Give one file: .csv, .tsv or .parquet.", lambda: _named_set(path))
    if not file.stat().st_size:
        raise InputError(
            f"{shown(file)}: the file is empty.\nGive a file with a header and at least one row.", code="empty-file"
        )
    if not _utf8(file):
        raise InputError(
            f"{shown(file)}: the name of the file is not in UTF-8.\nRename it, or make a link to it.",
            code="bad-file-name",
        )
    ending = ending_of(file)
    with reading(str(file)):
        if ending in SEPARATORS:
            text = TextFile.open(file, SEPARATORS[ending], header=not by_place(columns))
            return OpenFile(file, tuple((name, pl.String()) for name in text.names), text)
        if ending in PARQUET:
            return OpenFile(file, tuple(pl.scan_parquet(file, glob=False).collect_schema().items()))
        if ending in ARROW:
            return OpenFile(file, tuple(pl.scan_ipc(file, glob=False).collect_schema().items()))
        if ending in json_lines.ENDINGS:
            rows = read_json_lines(file)
            return OpenFile(file, tuple(rows.schema.items()), rows=rows)
    raise InputError(
        f"{shown(file)}: files that end in '{plain(file.suffix)}' cannot be read.\n"
        "Give .csv, .tsv, .txt, .dat or .jsonl (also with .gz or .zst behind it), .parquet, .arrow or .duckdb, or read "
        "it yourself and pass the dataframe.",
        code="unknown-format",
    )


def columns_of(path: Paths, columns: Mapping[str, str] | None = None) -> list[str]:
    """The columns of a file, or of the first of several."""
    return open_file(files_of(path)[0], columns).names


def _named_set(path: str | PathLike[str]) -> str:
    """What to say if the path is the name of a data set."""
    from unskew.log.datasets import NAMES

    if str(path) not in NAMES:
        return ""
    return (
        f" '{path}' names a data set: unskew data show {path} tells where its files lie; in Python us.load('{path}')."
    )


def _utf8(file: Path) -> bool:
    """Whether polars can open a file of this name."""
    try:
        return bool(str(file).encode())
    except UnicodeEncodeError:
        return False


def table_of_file(
    path: Paths,
    required: tuple[str, ...],
    optional: tuple[str, ...],
    *,
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    invalid: Invalid = "error",
) -> Table:
    """The table of a file, or of several, one below the other."""
    drop, kept = drops(invalid), tuple(keep)
    tables = [_one_table(file, required, optional, columns, kept, drop) for file in files_of(path)]
    return tables[0] if len(tables) == 1 else _joined(shown(path), tables)


def _one_table(
    path: str | PathLike[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    columns: Mapping[str, str] | None,
    keep: tuple[str, ...],
    drop: bool,
) -> Table:
    return matched_file(path, required, optional, columns, keep).read(drop)


class MatchedFile(NamedTuple):
    """A file whose columns are known by our names, and of which no rows have been read.

    Args:
        names: our name of each used column → the name it has in the file.
        said: what was said of its columns.
        keep: further columns.
    """

    source: str
    opened: OpenFile
    names: dict[str, str]
    said: Mapping[str, str]
    keep: tuple[str, ...] = ()

    def read(self, drop: bool) -> Table:
        """All its rows; ``drop`` says whether wrong ones will be dropped."""
        text = self.opened.text
        with reading(self.source, text):
            frame = self.opened.read(self.names)
        headless = text is not None and not text.header
        unused = amounts(self.opened.names, self.names)
        if headless:  # by their places nobody can tell
            unused = tuple(name for name in self.opened.names if name not in self.names.values())
        return Table(
            self.source,
            frame,
            self.names,
            drop,
            text is not None,
            headless=headless,
            said=self.said,
            amounts=unused,
            keep=self.keep,
        )


def matched_file(
    path: str | PathLike[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    columns: Mapping[str, str] | None,
    keep: tuple[str, ...] = (),
) -> MatchedFile:
    """Open a file and find the columns that are used."""
    opened, source = open_file(path, columns), shown(path)
    names = match_columns(source, opened.names, required, optional, columns, keep)
    opened.say(source, names)
    return MatchedFile(source, opened, names, {} if columns is None else columns, keep)


def _joined(source: str, tables: list[Table]) -> Table:
    """One table of several, whose columns must be the same; a row is named by its file."""
    tables = position.alike(tables)
    first = tables[0]
    for table in tables:
        if lacking := {*first.names} ^ {*table.names}:
            raise InputError(
                f"{source}: only some of the files have a column '{plain(min(lacking))}': the columns of "
                f"'{table.source}' are not those of '{first.source}'.\nGive files that all have it, or none.",
                code="missing-column",
                column=min(lacking),
            )
        if table.frame.schema != first.frame.schema or table.header != first.header:
            raise InputError(
                f"{source}: the columns of '{table.source}' have other types than those of '{first.source}'.\n"
                "Give files of one kind, with the same types.",
                code="mixed-types",
            )
    starts, rows = [], 0
    for table in tables:
        starts.append((rows, table.source))
        rows += len(table.frame)
    frame = without_sorted_flags(pl.concat([table.frame.select(first.frame.columns) for table in tables]))
    say_columns(source, {}, f"{len(tables)} files, {rows:,} rows")
    return replace(first, source=source, frame=frame, files=tuple(starts))


@contextmanager
def reading(source: str, text: TextFile | None = None) -> Iterator[None]:
    """Any problem of the reader becomes an error that names the file.

    A panic of polars is no ``Exception``, so that ``except Exception`` would miss it.
    """
    try:
        with held_back():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as problem:
        reason = plain(str(problem).strip().split("\n")[0], 200)
        hint = text.stray_quote() if text is not None and "utf-8" not in reason.lower() else None
        raise InputError(
            f"{shown(source)}: the file cannot be read ({reason}).\n"
            + (hint or "Check that it is what its name says, that it is not cut off, and that text is in UTF-8."),
            code=hint.code if hint else "unreadable-file",
        ) from problem


def table_of_frame(
    frame: Any,
    source: str,
    required: tuple[str, ...],
    optional: tuple[str, ...],
    *,
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    invalid: Invalid = "error",
) -> Table:
    """The table of anything that narwhals knows: pandas, polars, pyarrow, DuckDB and others."""
    use_polars()
    drop, kept = drops(invalid), tuple(keep)
    try:
        known = nw.from_native(frame)
        present = [str(name) for name in known.collect_schema().names()]
    except TypeError as problem:
        raise InputError(
            f"{source}: a {type(frame).__name__} is not a dataframe.\n"
            "Give a pandas, polars or pyarrow table, a DuckDB relation, or another frame that narwhals supports.",
            code="not-a-dataframe",
        ) from problem
    except nw.exceptions.DuplicateError as problem:
        raise _unreadable(source, problem, "Give each column a name of its own.") from problem
    names = match_columns(source, present, required, optional, columns, kept)
    try:
        chosen = known.select(*dict.fromkeys(names.values()))
        read: pl.DataFrame = (
            chosen.collect(backend="polars").to_native() if isinstance(chosen, nw.LazyFrame) else chosen.to_polars()
        )
        renamed = pl.DataFrame([read[theirs].alias(ours) for ours, theirs in names.items()])
    except (
        TypeError,
        ValueError,
        LookupError,
        OverflowError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ) as problem:
        if position.is_only_recognised(names, columns):
            how: dict[str, Any] = {"columns": position.none(columns), "keep": kept, "invalid": invalid}
            table = table_of_frame(frame, source, required, optional, **how)
            table.notes.append(position.not_used(source, names[position.OURS], some=True))
            return table
        raise _unreadable(source, problem, "Give columns of one type each: numbers, texts or times.") from problem
    say_columns(source, names)
    said = {} if columns is None else columns
    unused = amounts(present, names)
    return Table(source, without_sorted_flags(renamed), names, drop, said=said, amounts=unused, keep=kept)


def table_of(given: Any, source: str, *names: tuple[str, ...], **how: Any) -> Table:
    """The table of a path, or of a frame, which messages call ``source``."""
    if is_path(given):
        return table_of_file(given, *names, **how)
    return table_of_frame(given, source, *names, **how)


def _unreadable(source: str, problem: BaseException, remedy: str) -> InputError:
    return InputError(
        f"{source}: the frame cannot be read ({plain(str(problem).strip(), 200)}).\n{remedy}", code="unreadable-frame"
    )


def drops(invalid: Invalid) -> bool:
    """Whether wrong rows are dropped."""
    if invalid not in get_args(Invalid):
        raise InputError(
            f"invalid must be one of {', '.join(get_args(Invalid))}, not '{plain(invalid)}'.",
            code="unknown-name",
            option="invalid",
        )
    return invalid == "drop"
