"""Tables of a DuckDB file, named as ``shop.duckdb::clicks``; a file with one table needs no name.

The file is opened read-only, and its views may not reach other files or addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from unskew.errors import InputError, MissingExtraError
from unskew.log.paths import check_file, shown
from unskew.plain import plain

ENDINGS = (".duckdb", ".ddb")
SIGN = "::"
_SHUT = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
}


def names_table(path: str | PathLike[str]) -> bool:
    """Whether a path means a table of a database."""
    return Path(str(path).partition(SIGN)[0]).suffix.lower() in ENDINGS


def file_of(path: str | PathLike[str]) -> str | PathLike[str]:
    """The file that a path leads to: of a table, its database."""
    return str(path).partition(SIGN)[0] if names_table(path) else path


class DuckTable(NamedTuple):
    """A table that has not been read; ``types`` are those that polars gives its columns."""

    file: Path
    name: str
    types: tuple[tuple[str, pl.DataType], ...]

    @classmethod
    def open(cls, path: str | PathLike[str]) -> DuckTable:
        """Look a table up; an unknown one is refused with the names of those that there are."""
        text, _, asked = str(path).partition(SIGN)
        file = check_file(text, "Give a file that DuckDB wrote.")
        with _connected(file) as database:
            there = [
                f"{schema}.{name}" if schema != "main" else str(name)
                for schema, name in database.execute(
                    "select table_schema, table_name from information_schema.tables order by 1, 2"
                ).fetchall()
            ]
            name = asked or (there[0] if len(there) == 1 else "")
            if name not in there:
                wanted = f"there is no table '{plain(name)}'" if name else "say which table is meant"
                listed = ", ".join(plain(each) for each in there) or "none"
                raise InputError(
                    f"{shown(text)}: {wanted}; there are: {listed}.\n"
                    f"Write it behind the file: {shown(text)}{SIGN}{plain(there[0]) if there else 'TABLE'}."
                )
            found = _rows(database, f"select * from {_quoted(name)} limit 0", file)
        return cls(file, name, tuple(found.schema.items()))

    def read(self, columns: Iterable[str]) -> pl.DataFrame:
        """Some columns of it."""
        listed = ", ".join(_quoted(column, dotted=False) for column in columns)
        with _connected(self.file) as database:
            return _rows(database, f"select {listed} from {_quoted(self.name)}", self.file)


def _connected(file: Path) -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 - through which rows come
    except ImportError:
        raise MissingExtraError(f"{shown(file)}: a table of DuckDB", "files") from None
    try:
        return duckdb.connect(str(file), read_only=True, config=_SHUT)
    except duckdb.Error as problem:
        raise _refused(file, problem) from None


def _rows(database: Any, query: str, file: Path) -> pl.DataFrame:
    import duckdb

    try:
        found = pl.from_arrow(database.sql(query).to_arrow_table())
    except (duckdb.Error, pl.exceptions.PolarsError) as problem:
        raise _refused(file, problem) from None
    assert isinstance(found, pl.DataFrame)
    return found


def _refused(file: Path, problem: BaseException) -> InputError:
    reason = plain(str(problem).strip().split("\n")[0], 200)
    return InputError(
        f"{shown(file)}: DuckDB cannot read it ({reason}).\nCheck that it is a database of DuckDB, that nobody is "
        "writing to it, and that its views read its own tables only."
    )


def _quoted(name: str, *, dotted: bool = True) -> str:
    parts = name.split(".", 1) if dotted else [name]
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
