"""One input while it is checked: its columns under our names, and the rows that are wrong.

Every check goes through ``Table.refuse``, so that an error always names the file, the column, the first offending
row and the remedy, and so that nothing is dropped without a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.log.log import Account
from unskew.log.match import differing

_DAYS = (-719_162, 2_932_896)  # 0001-01-01 and 9999-12-31, from 1970-01-01
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_WHOLE = (-(2**63), 2**63 - 1)
REMEDY = "Fix the column, or drop such rows with invalid='drop'; the result will say how many were dropped."
CELL = 28  # bytes of memory per cell while a log is made of it; texts of text files take more
LEFT_OUT = ("value", "time", "policy", "propensity")  # what an input may do without


@dataclass
class Table:
    """The used columns of one input.

    Args:
        source: what messages call the input: the file's name, or "frame".
        frame: the columns as they came, under our names.
        names: our name of each column → the name it has in the input.
        drop: wrong rows are dropped and counted instead of refused.
        header: the rows are those of a text file, below a header line, so messages say what a row number counts.
        start: rows of the input before those of ``frame``.
        headless: the text file has no header line.
        said: what was said of its columns; others were recognised.
        files: where the input is several files, the first row of each, and its name.
        amounts: columns that are not used and may say what a row was worth, by their names.
        keep: further columns that are kept, whatever else they are taken for.
    """

    source: str
    frame: pl.DataFrame
    names: Mapping[str, str]
    drop: bool = False
    header: bool = False
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[Notice] = field(default_factory=list)
    good: pl.Series | None = None
    start: int = 0
    remedy: str = REMEDY
    headless: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[tuple[int, str], ...] = ()
    amounts: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def called(self, name: str) -> str:
        """How messages call a column: by the name it has in the input."""
        return f"column '{plain(self.names[name])}'"

    def refuse(
        self, name: str, wrong: pl.Series, *, must: str, reason: str, code: str, why: str = "", remedy: str = ""
    ) -> None:
        """Drop and count the wrong rows, or raise an error that names the first of them.

        Args:
            must: what the column must be, as in "must lie in (0, 1]".
            reason: under which the dropped rows are counted.
            code: of the error.
            why: a sentence that explains the rule.
            remedy: what to do where dropping the rows would be wrong, since all rows are written like that.
        """
        if not wrong.any():
            return
        if self.drop:
            self.count(reason, int((wrong if self.good is None else wrong & self.good).sum()))
            self.good = ~wrong if self.good is None else self.good & ~wrong
            return
        row = int(wrong.arg_true()[0])
        number, file = self.row_of(row)
        found = self._shown(name, row)
        remedy = remedy or (f"{why} {self.remedy}" if why else self.remedy)
        if name in LEFT_OUT and name not in (self.names[name], *self.said):
            role = getattr(self.said, "role", "")
            key = f"{role}:{name}" if role else name
            remedy += f" It was taken for the {name} by its name: columns={{'{key}': ''}} leaves it out."
        raise InputError(
            f"{self.source}: {self.called(name)} {must}; {self.place(row)} has {found}.\n{remedy}",
            code=code,
            column=self.names[name],
            row=number,
            file=file or self.source,
        )

    def _shown(self, name: str, row: int) -> str:
        cell = self.frame[name].slice(row, 1)
        if cell.dtype in (pl.Date, pl.Datetime) and outside_calendar(cell).item():
            return f"{cell.to_physical().item()} ({cell.dtype})"
        return show(cell.item())

    def refuse_nulls(self, *names: str) -> None:
        """Rows without a value in one of the columns are wrong."""
        for name in names:
            column = self.frame[name]
            if column.null_count():
                self.refuse(
                    name,
                    column.is_null(),
                    must="must have a value in every row",
                    reason=f"null {name}",
                    code="missing-value",
                )

    def refuse_repeats(self, name: str) -> None:
        """Rows whose id stood in an earlier row are wrong."""
        repeated = ~self.frame[name].is_first_distinct()
        self.refuse(name, repeated, must=f"must name each {name} once", reason=f"repeated {name}", code="repeated-id")

    def count(self, reason: str, rows: int) -> None:
        """Note that some rows were dropped."""
        if rows:
            self.dropped[reason] = self.dropped.get(reason, 0) + rows

    def place(self, *rows: int) -> str:
        """What messages call some rows (0-based in ``frame``)."""
        named = " and ".join(f"row {row:,}" + (f" of {file}" if file else "") for row, file in map(self.row_of, rows))
        return f"{named} (not counting the header)" if self.header and not self.headless else named

    def row_of(self, row: int) -> tuple[int, str]:
        """Which row that is, from 1, and of which of several files."""
        begins, file = max((each for each in self.files if each[0] <= row), default=(0, ""))
        return self.start + row - begins + 1, file

    def kept(self, columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
        """The good rows of the given columns; none at all is an error."""
        if self.good is not None:
            columns = {name: column.filter(self.good) for name, column in columns.items()}
        if not len(next(iter(columns.values()))):
            reasons = ", ".join(f"{rows:,} × {reason}" for reason, rows in self.dropped.items())
            why = f"no rows are left; {reasons} were dropped" if reasons else "there are no rows"
            raise InputError(f"{self.source}: {why}.\nGive an input with at least one good row.", code="no-rows")
        return dict(columns)

    def origin(self, row: int) -> int:
        """The row of ``frame`` that became the given row of ``kept``."""
        return row if self.good is None else int(self.good.arg_true()[row])

    def account(self) -> Account:
        """What became of the rows."""
        return Account(
            self.source, len(self.frame), dict(self.dropped), tuple(self.notes), columns=differing(self.names)
        )


def limits(dtype: pl.DataType) -> tuple[int, int]:
    """The first and the last number that stand for a time of the years 1 to 9999."""
    if not isinstance(dtype, pl.Datetime):
        return _DAYS
    parts = _PER_DAY[dtype.time_unit]
    return max(_WHOLE[0], _DAYS[0] * parts), min(_WHOLE[1], (_DAYS[1] + 1) * parts - 1)


def outside_calendar(column: pl.Series) -> pl.Series:
    """Which rows of a column of dates or datetimes lie outside the years 1 to 9999; nulls do not."""
    return ~column.to_physical().cast(pl.Int64).is_between(*limits(column.dtype)).fill_null(True)


def show(value: Any) -> str:
    """A value as messages print it."""
    if isinstance(value, str):
        quote = '"' if "'" in value else "'"
        return f"{quote}{plain(value)}{quote}"
    return "none" if value is None else repr(value) if isinstance(value, int | float) else plain(value)
