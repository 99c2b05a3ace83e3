"""Tables of a DuckDB file, named as ``shop.duckdb::clicks``; a file with one table needs no name.

The file is opened read-only, and its views may not reach other files or addresses, nor fill the disk. A view is a
program that somebody wrote: it may have more rows than there is memory for, or never end. So rows are taken some at a
time, in a thread that is stopped by Ctrl-C, when they become too many, and after ``PATIENCE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

import polars as pl

from unskew.core import memory
from unskew.core.errors import InputError, MissingExtraError
from unskew.core.text import plain
from unskew.core.threads import Threads
from unskew.log.paths import check_file, shown
from unskew.log.table import CELL

ENDINGS = (".duckdb", ".ddb")
SIGN = "::"
_SHUT = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "temp_directory": "",  # else beside the file, up to 90 % of the disk
}
_NO_CELLS = ("interval", "list", "struct", "map", "array", "union")  # types that are no number, text or time
ROWS = 16_384  # taken at a time
PATIENCE = 600.0  # seconds that all rows may take
_SMALLER = "Make a table of the columns and rows that are needed, or a sample of the users."
_MOST = 1 << 40  # bytes of memory that DuckDB is told of, at most


def names_table(path: str | PathLike[str]) -> bool:
    """Whether a path means a table of a database."""
    return Path(str(path).partition(SIGN)[0]).suffix.lower() in ENDINGS


def file_of(path: str | PathLike[str]) -> str | PathLike[str]:
    """The file that a path leads to: of a table, its database."""
    return str(path).partition(SIGN)[0] if names_table(path) else path


class DuckTable(NamedTuple):
    """A table that has not been read.

    Args:
        types: those that polars gives its columns.
        unusable: columns that hold no cells of a table, and what DuckDB calls their types.
    """

    file: Path
    name: str
    types: tuple[tuple[str, pl.DataType], ...]
    unusable: Mapping[str, str]

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
                    f"Write it behind the file: {shown(text)}{SIGN}{plain(there[0]) if there else 'TABLE'}.",
                    code="unknown-table" if name else "ambiguous-table",
                )
            columns = _columns(database, name, file)
            unusable = {column: str(dtype) for column, dtype in columns.items() if dtype.id in _NO_CELLS}
            usable = [column for column in columns if column not in unusable]
            types = _rows(database, f"{_select(usable, name)} limit 0", file).schema if usable else pl.Schema()
        return cls(file, name, tuple((column, types.get(column, pl.Object())) for column in columns), unusable)

    def read(self, columns: Iterable[str]) -> pl.DataFrame:
        """Some columns of it."""
        asked = list(columns)
        for column in asked:
            if column in self.unusable:
                raise InputError(
                    f"{shown(self.file)}{SIGN}{plain(self.name)}: column '{plain(column)}' is of the type "
                    f"{plain(self.unusable[column])}, which is no number, text or time.\n"
                    "Give another column, or a view that makes one of it.",
                    code="wrong-type",
                    column=column,
                )
        with _connected(self.file) as database:
            return _rows(database, _select(asked, self.name), self.file)


def _connected(file: Path) -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 - through which rows come
    except ImportError:
        raise MissingExtraError(f"{shown(file)}: a table of DuckDB", "files") from None
    try:
        database = duckdb.connect(str(file), read_only=True, config=_SHUT)
        database.execute(f"set memory_limit = '{min(memory.available() // 2, _MOST)}B'")
    except duckdb.Error as problem:
        raise _refused(file, problem) from None
    return database


def _columns(database: Any, name: str, file: Path) -> dict[str, Any]:
    """The columns of a table and their types; nothing is computed."""
    import duckdb

    try:
        found = database.sql(f"select * from {_quoted(name)}")
    except duckdb.Error as problem:
        raise _refused(file, problem) from None
    return dict(zip(found.columns, found.types, strict=True))


def _rows(database: Any, query: str, file: Path) -> pl.DataFrame:
    """The rows of a query: too many, or any that do not come in time, are an error."""
    late = Timer(PATIENCE, database.interrupt)
    late.daemon = True
    with Threads(1) as pool:
        late.start()
        task = pool.submit(_taken, database, query, file)
        try:
            return task.result()
        except BaseException:  # Ctrl-C
            database.interrupt()
            raise
        finally:
            late.cancel()


def _taken(database: Any, query: str, file: Path) -> pl.DataFrame:
    import duckdb
    import pyarrow as pa

    problems = (duckdb.Error, pa.ArrowException, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
    batches, size, rows = [], 0, 0
    try:
        relation = database.sql(query)
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        with reader(ROWS) as found:
            for batch in found:
                batches.append(batch)
                size, rows = size + batch.nbytes, rows + len(batch)
                needed = max(size, CELL * rows * batch.num_columns)  # beside what is taken
                memory.require(needed, f"{shown(file)}: reading more than {rows:,} rows", _SMALLER)
            frame = pl.from_arrow(pa.Table.from_batches(batches, found.schema))
    except problems as problem:
        raise _refused(file, problem) from None
    assert isinstance(frame, pl.DataFrame)
    return frame


def _refused(file: Path, problem: BaseException) -> InputError:
    reason = plain(str(problem).strip().split("\n")[0], 200)
    if "interrupt" in reason.lower():
        return InputError(
            f"{shown(file)}: its rows were not there after {PATIENCE:,.0f} seconds.\nA view may never end: make a "
            "table of what is needed (create table … as select … from …).",
            code="too-slow",
        )
    return InputError(
        f"{shown(file)}: DuckDB cannot read it ({reason}).\nCheck that it is a database of DuckDB, that nobody is "
        "writing to it, and that its views read its own tables only.",
        code="unreadable-file",
    )


def _select(columns: list[str], name: str) -> str:
    return f"select {', '.join(_quoted(column, dotted=False) for column in columns)} from {_quoted(name)}"


def _quoted(name: str, *, dotted: bool = True) -> str:
    parts = name.split(".", 1) if dotted else [name]
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
