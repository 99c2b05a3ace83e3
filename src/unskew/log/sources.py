"""From files and frames to a table with our column names; only the columns that are used are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

import narwhals as nw
import polars as pl
import polars.selectors as cs

from unskew import memory
from unskew.errors import InputError
from unskew.log.log import Invalid
from unskew.log.match import match_columns
from unskew.log.paths import check_file, shown
from unskew.log.sorted_flags import without_sorted_flags
from unskew.log.table import Table
from unskew.log.text import TextFile
from unskew.panics import held_back
from unskew.plain import plain

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
ENDINGS = (*_SEPARATORS, *_PARQUET)
_CELL = {True: 48, False: 28}  # bytes of memory per cell while a log is made of it: of text, and of Parquet
_SMALLER = "Give Parquet rather than CSV, fewer columns, a sample of the users, or more memory."


class OpenFile(NamedTuple):
    """A file of which nothing but the header has been read.

    Args:
        types: the name and type of each column in order; those of a text file are texts, and may be there twice.
        text: the text file, if it is one.
    """

    file: Path
    types: tuple[tuple[str, pl.DataType], ...]
    text: TextFile | None = None

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
            lazy = pl.scan_parquet(self.file, glob=False)
            rows = int(lazy.select(pl.len()).collect().item())
            return lazy.select(cs.by_name(theirs).as_expr().alias(ours) for ours, theirs in names.items()), rows
        rows, unpacked = self.text.check()
        lazy = pl.scan_csv(
            self.file if unpacked is None else unpacked,
            separator=self.text.separator,
            infer_schema=False,
            new_columns=[str(place) for place in range(len(self.types))],
            glob=False,
        )
        places = {ours: self.names.index(theirs) for ours, theirs in names.items()}
        return lazy.select(pl.col(str(place)).alias(ours) for ours, place in places.items()), rows

    def read(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Columns under our names."""
        lazy, rows = self.scan(names)
        size = rows * len(names) * _CELL[self.text is not None]
        memory.require(size, f"{shown(self.file)}: reading {rows:,} rows", _SMALLER)
        frame = lazy.collect()
        if len(frame) != rows:
            raise self.miscounted(rows, len(frame))
        return without_sorted_flags(frame)

    def miscounted(self, rows: int, read: int) -> InputError:
        """Other rows were read than the file has."""
        quotes = "" if self.text is None else self.text.stray_quote()
        return InputError(
            f"{shown(self.file)}: the file has {rows:,} rows, and {read:,} were read.\n"
            f"{quotes or 'It is damaged, or changed while it was read.'}"
        )


def open_file(path: str | PathLike[str]) -> OpenFile:
    """The columns of a file; text columns are not interpreted yet."""
    file = check_file(path, "Give one file: .csv, .tsv or .parquet.", _named_set(path))
    if not file.stat().st_size:
        raise InputError(f"{shown(file)}: the file is empty.\nGive a file with a header and at least one row.")
    if not _utf8(file):
        raise InputError(f"{shown(file)}: the name of the file is not in UTF-8.\nRename it, or make a link to it.")
    ending = ending_of(file)
    with reading(str(file)):
        if ending in _SEPARATORS:
            text = TextFile.open(file, _SEPARATORS[ending])
            return OpenFile(file, tuple((name, pl.String()) for name in text.names), text)
        if ending in _PARQUET:
            return OpenFile(file, tuple(pl.scan_parquet(file, glob=False).collect_schema().items()))
    raise InputError(
        f"{shown(file)}: files that end in '{plain(file.suffix)}' cannot be read.\n"
        "Give .csv or .tsv (also with .gz behind it) or .parquet, or read it yourself and pass the dataframe."
    )


def _named_set(path: str | PathLike[str]) -> str:
    """What to say if the path is the name of a data set."""
    from unskew.log.datasets import NAMES

    return f" '{path}' names a data set, which Python reads: us.load('{path}')." if str(path) in NAMES else ""


def _utf8(file: Path) -> bool:
    """Whether polars can open a file of this name."""
    try:
        return bool(str(file).encode())
    except UnicodeEncodeError:
        return False


def ending_of(file: Path) -> str:
    """What the name says about the format; text files may be packed (.csv.gz)."""
    name = file.name.lower()
    plain = name.removesuffix(".gz")
    ending = plain[plain.rfind(".") :]
    return ending if plain == name or ending in _SEPARATORS else ".gz"


def table_of_file(
    path: str | PathLike[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    *,
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    invalid: Invalid = "error",
) -> Table:
    """The table of a file."""
    drop = _drops(invalid)
    opened = open_file(path)
    source = shown(path)
    names = match_columns(source, opened.names, required, optional, columns, keep)
    with reading(source, opened.text):
        frame = opened.read(names)
    return Table(source, frame, names, drop, header=opened.text is not None)


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
        hint = text.stray_quote() if text is not None and "utf-8" not in reason.lower() else ""
        raise InputError(
            f"{shown(source)}: the file cannot be read ({reason}).\n"
            + (hint or "Check that it is what its name says, that it is not cut off, and that text is in UTF-8.")
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
    drop = _drops(invalid)
    try:
        known = nw.from_native(frame)
        present = [str(name) for name in known.collect_schema().names()]
    except TypeError as problem:
        raise InputError(
            f"{source}: a {type(frame).__name__} is not a dataframe.\n"
            "Give a pandas, polars or pyarrow table, a DuckDB relation, or another frame that narwhals supports."
        ) from problem
    except nw.exceptions.DuplicateError as problem:
        raise _unreadable(source, problem, "Give each column a name of its own.") from problem
    names = match_columns(source, present, required, optional, columns, keep)
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
        raise _unreadable(source, problem, "Give columns of one type each: numbers, texts or times.") from problem
    return Table(source, without_sorted_flags(renamed), names, drop)


def table_of(given: Any, source: str, *names: tuple[str, ...], **how: Any) -> Table:
    """The table of a path, or of a frame, which messages call ``source``."""
    if isinstance(given, str | PathLike):
        return table_of_file(given, *names, **how)
    return table_of_frame(given, source, *names, **how)


def _unreadable(source: str, problem: BaseException, remedy: str) -> InputError:
    return InputError(f"{source}: the frame cannot be read ({plain(str(problem).strip(), 200)}).\n{remedy}")


def _drops(invalid: Invalid) -> bool:
    if invalid not in get_args(Invalid):
        raise InputError(f"invalid must be one of {', '.join(get_args(Invalid))}, not '{plain(invalid)}'.")
    return invalid == "drop"
