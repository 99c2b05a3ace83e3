"""From files and frames to a table with our column names; only the columns that are used are read."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import narwhals as nw
import polars as pl

from unskew.errors import InputError
from unskew.log.log import Invalid
from unskew.log.table import Table

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
ENDINGS = (*_SEPARATORS, *_PARQUET)
_FOREIGN = {  # what a text file does not begin with
    b"PAR1": "a Parquet file.\nGive it a name that ends in .parquet.",
    b"PK\x03\x04": "a spreadsheet or a zip archive.\nSave the sheet as CSV, or unpack the archive.",
}


def open_file(path: str | PathLike[str]) -> tuple[pl.LazyFrame, bool]:
    """The unread columns and whether it is a text file; text columns are not interpreted yet."""
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{file}: this is a directory.\nGive one file: .csv, .tsv or .parquet.")
    if not file.exists():
        from unskew.log.datasets import NAMES

        named = f" '{file}' names a data set, which Python reads: us.load('{file}')." if str(file) in NAMES else ""
        raise InputError(f"{file}: there is no such file.\nCheck the path (looked from {Path.cwd()}).{named}")
    if not file.stat().st_size:
        raise InputError(f"{file}: the file is empty.\nGive a file with a header and at least one row.")
    ending = ending_of(file)
    if ending in _SEPARATORS:
        _refuse_foreign(file)
        separator = _SEPARATORS[ending]
        return pl.scan_csv(file, separator=separator, infer_schema=False, glob=False), True
    if ending in _PARQUET:
        return pl.scan_parquet(file, glob=False), False
    raise InputError(
        f"{file}: files that end in '{file.suffix}' cannot be read.\n"
        "Give .csv or .tsv (also with .gz behind it) or .parquet, or read it yourself and pass the dataframe."
    )


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
    source = str(path)
    lazy, text = open_file(path)
    with reading(source):
        names = match_columns(source, lazy.collect_schema().names(), required, optional, columns, keep)
        frame = lazy.select(pl.col(theirs).alias(ours) for ours, theirs in names.items()).collect()
    return Table(source, frame, names, drop, header=text)


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Whatever the reader stumbles over becomes an error that names the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, UnicodeError) as problem:
        reason = str(problem).strip().split("\n")[0]
        if "more fields" in reason and (told := _long_line(Path(source))):
            raise InputError(told) from problem
        raise InputError(
            f"{source}: the file cannot be read ({reason}).\n"
            "Check that it is what its name says, that it is not cut off, and that text is in UTF-8."
        ) from problem


def _refuse_foreign(file: Path) -> None:
    """A binary file that is called text would otherwise be shown as column names."""
    with reading(str(file)), file.open("rb") as content:
        start = content.read(4)
    if start in _FOREIGN:
        raise InputError(f"{file}: the name says text, but the content is {_FOREIGN[start]}")


def _long_line(file: Path) -> str | None:
    """Which line of a text file has more fields than the header (shorter ones have empty fields at the end)."""
    separator = _SEPARATORS.get(ending_of(file))
    if separator is None:
        return None
    unpack = gzip.open if file.suffix.lower() == ".gz" else open
    with suppress(csv.Error), unpack(file, "rt", encoding="utf-8", errors="replace", newline="") as text:
        rows = csv.reader(text, delimiter=separator)
        header = len(next(rows))
        for row in rows:
            if len(row) > header:
                return (
                    f"{file}: line {rows.line_num:,} has {len(row)} fields, but the header has {header}.\n"
                    f"Mend the line; a field that holds {separator!r} must stand in double quotes."
                )
    return None


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
    except TypeError as problem:
        raise InputError(
            f"{source}: a {type(frame).__name__} is not a dataframe.\n"
            "Give a pandas, polars or pyarrow table, a DuckDB relation, or another frame that narwhals supports."
        ) from problem
    names = match_columns(source, known.collect_schema().names(), required, optional, columns, keep)
    chosen = known.select(*dict.fromkeys(names.values()))
    read: pl.DataFrame = (
        chosen.collect(backend="polars").to_native() if isinstance(chosen, nw.LazyFrame) else chosen.to_polars()
    )
    renamed = read.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
    return Table(source, renamed, names, drop)


def match_columns(
    source: str,
    present: list[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    columns: Mapping[str, str] | None,
    keep: Iterable[str],
) -> dict[str, str]:
    """Our name → their name, for the required, the optional that are there, and the kept columns."""
    asked, known = dict(columns or {}), (*required, *optional)
    if unknown := [name for name in asked if name not in known]:
        raise InputError(
            f"{source}: 'columns' names '{unknown[0]}', which is none of {', '.join(known)}.\n"
            "Write our name first and the name in the file behind it: --columns user=customer_id."
        )
    names = {}
    for ours in known:
        theirs = asked.get(ours, ours)
        if theirs in present:
            names[ours] = theirs
        elif ours in required or ours in asked:
            raise InputError(_missing(source, ours, theirs, present))
    for theirs in keep:
        if theirs not in present:
            raise InputError(_missing(source, None, theirs, present))
        if names.get(theirs, theirs) != theirs:
            raise InputError(
                f"{source}: column '{theirs}' cannot be kept: here '{theirs}' stands for '{names[theirs]}'.\n"
                "Give the column another name in the input."
            )
        names.setdefault(theirs, theirs)
    return names


def _drops(invalid: Invalid) -> bool:
    if invalid not in get_args(Invalid):
        raise InputError(f"invalid must be one of {', '.join(get_args(Invalid))}, not '{invalid}'.")
    return invalid == "drop"


def _missing(source: str, ours: str | None, theirs: str, present: list[str]) -> str:
    there = ", ".join(present[:20]) + (", …" if len(present) > 20 else "")
    message = f"{source}: there is no column '{theirs}'; the columns are: {there}."
    near = _nearest(theirs, present)
    if len(present) == 1 and (found := next((c for c in ";\t|" if c in present[0]), None)):
        return f"{message}\nThe columns seem to be separated by {found!r}: use ',' in .csv and tabs in .tsv files."
    if ours is None:
        return message + (f"\nDid you mean '{near}'?" if near else "\nLeave it out of the columns to keep.")
    hint = f"Did you mean '{near}'? Say so" if near else "Say which one it is"
    example = near or "..."
    return f"{message}\n{hint} with --columns {ours}={example} (in Python: columns={{'{ours}': '{example}'}})."


def _nearest(name: str, present: list[str]) -> str | None:
    """The column that is most likely meant: it contains the name, or is spelt like it."""
    lowered = {column.lower(): column for column in reversed(present)}
    holding = [column for low, column in lowered.items() if name.lower() in low]
    near = get_close_matches(name.lower(), lowered, n=1)
    return min(holding, key=len) if holding else lowered[near[0]] if near else None
