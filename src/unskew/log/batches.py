"""Inputs that are read piece by piece: every piece is checked as a whole input would be, and gives clean columns.

A wrong row is named by file, column and row, or dropped and counted. What cannot be seen in a piece (a pair that is
repeated elsewhere) is checked when all rows of a user are together (``user_parts.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.log import lists, predictions
from unskew.log.column_maps import InputColumns
from unskew.log.columns import as_ids
from unskew.log.interactions import IDS, OPTIONAL, REQUIRED, check_columns
from unskew.log.log import Duplicates, Feedback
from unskew.log.match import match_columns
from unskew.log.population import check_people
from unskew.log.table import Table


class Kind(StrEnum):
    """What the rows of an input are."""

    LOG = "log"
    LISTS = "lists"
    PREDICTIONS = "predictions"
    PEOPLE = "people"


class Checked(NamedTuple):
    """Clean rows of a piece, and what became of the others.

    Args:
        feedback, clock: of logs, what rows say, and the type of their times.
    """

    frame: pl.DataFrame
    dropped: Mapping[str, int]
    notes: tuple[Notice, ...] = ()
    feedback: Feedback | None = None
    clock: pl.DataType | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """How one input is read.

    Args:
        source: what messages call the whole input.
        columns: our column names → theirs, as far as they differ.
        keep: further columns.
        drop: wrong rows are dropped and counted instead of refused.
        said: what was said of the columns, where ``columns`` has recognised ones too.
    """

    kind: Kind
    source: str
    columns: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    drop: bool = False
    feedback: Feedback | str | None = None
    duplicates: Duplicates | None = None
    said: Mapping[str, str] | None = None

    def names(self, source: str, present: list[str]) -> dict[str, str]:
        """Our name → their name of the columns that are used."""
        if self.kind is Kind.LOG:
            return match_columns(source, present, REQUIRED, OPTIONAL, self.columns, self.keep)
        if self.kind is Kind.LISTS:
            names = match_columns(source, present, lists.REQUIRED, lists.OPTIONAL, self.columns, ())
            return {ours: theirs for ours, theirs in names.items() if ours != "score" or "rank" not in names}
        if self.kind is Kind.PREDICTIONS:
            asked = {ours: theirs for ours, theirs in self.columns.items() if ours in predictions.REQUIRED}
            asked = InputColumns.of(asked, getattr(self.columns, "role", ""))
            return match_columns(source, present, predictions.REQUIRED, (), asked, ())
        return match_columns(source, present, ("user",), ("relevant", *self.keep), self.columns, ())

    def check(
        self,
        frame: pl.DataFrame,
        file: str,
        start: int,
        types: Mapping[str, pl.DataType],
        names: Mapping[str, str] | None = None,
    ) -> Checked:
        """The clean rows of a piece.

        Args:
            frame: the used columns under our names.
            file: what messages call the file; ``start`` rows of it come before the piece.
            types: of ids, those that all pieces have in common.
            names: our names → those that the columns have in the file.
        """
        names = {name: (names or self.columns).get(name, name) for name in frame.columns}
        said = self.columns if self.said is None else self.said
        table = Table(file, frame, names, self.drop, start=start, said=said, keep=self.keep)
        feedback, clock = None, None
        if self.kind is Kind.LOG:
            columns, feedback, clock = check_columns(table, self.feedback, self.duplicates)
        elif self.kind is Kind.LISTS:
            columns = lists.check_entries(table)
            if "rank" in columns and columns["rank"].dtype != pl.Int32:
                columns["rank"] = columns["rank"].cast(pl.Int32, strict=False)
        elif self.kind is Kind.PREDICTIONS:
            columns = predictions.check_entries(table)
        else:
            columns = check_people(table, self.keep)
        if table.good is not None:
            columns = {name: column.filter(table.good) for name, column in columns.items()}
        clean = pl.DataFrame({name: _typed(name, column, types, file) for name, column in columns.items()})
        return Checked(clean, dict(table.dropped), tuple(table.notes), feedback, clock)


def id_type(dtype: pl.DataType) -> pl.DataType:
    """The type in which ids of a column are kept: whole numbers where they are numbers, else text."""
    return pl.Int64() if dtype.is_numeric() else pl.String()


def common_type(types: list[pl.DataType]) -> pl.DataType:
    """The type in which ids of several inputs are compared: text as soon as one of them is text."""
    return pl.Int64() if all(dtype == pl.Int64() for dtype in types) else pl.String()


def _typed(name: str, column: pl.Series, types: Mapping[str, pl.DataType], file: str) -> pl.Series:
    if name in IDS and name in types:
        found = as_ids(column)
        if found.dtype != types[name] and types[name] == pl.Int64():
            raise InputError(
                f"{file}: column '{name}' holds numbers that 64 bits do not hold.\nWrite such ids as text, alike in "
                "all files.",
                code="out-of-range",
                column=name,
            )
        return found.cast(types[name])
    return column
