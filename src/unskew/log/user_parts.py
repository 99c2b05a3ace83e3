"""From clean rows of some users to their logs, lists, predictions and population.

Items are coded over the vocabulary of the whole input, users over those that are here. Pairs that are repeated are
found now, since all rows of a user are together; an error looks up in which files and rows they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.log.batches import Reading
from unskew.log.columns import UNPAD, padded_id
from unskew.log.ids import Codes, Ids
from unskew.log.interactions import REPEATED, ordered_log
from unskew.log.lists import ordered_lists
from unskew.log.log import POSITION, Account, Feedback, Log
from unskew.log.population import Population, ordered_population
from unskew.log.predictions import Predictions, ordered_predictions
from unskew.log.recommendations import Recommendations
from unskew.log.table import Table, show

Locate = Callable[[Sequence[dict[str, Any]]], str]  # where the files hold rows with these ids, in words


@dataclass
class PartTable(Table):
    """Clean rows of some users; where they stand in the files is looked up when an error needs it."""

    locate: Locate = field(default=lambda rows: "the files")

    def origin(self, row: int) -> int:
        """Rows are what they are."""
        return row

    def place(self, *rows: int) -> str:
        """Where the files hold these rows."""
        ids = [name for name in ("user", "item") if name in self.frame.columns]
        return self.locate([self.frame.select(ids).row(row, named=True) for row in rows])


@dataclass(frozen=True, eq=False)
class UserParts:
    """Makes the logs, lists and tables of some users of one input.

    Args:
        items: the vocabulary of the whole input.
        schema: the columns of clean rows; others are left out.
        feedback, clock: as in ``Log``.
        locate: says where rows stand.
    """

    reading: Reading
    items: Ids
    schema: pl.Schema
    feedback: Feedback | None = None
    clock: pl.DataType | None = None
    locate: Locate = field(default=lambda rows: "the files")

    def log(self, frame: pl.DataFrame) -> Log:
        """The log of these rows; without rows, one that still says which columns there are."""
        if not len(frame):
            return self.no_rows
        table, columns = self._table(frame), self._columns(frame)
        of_users, of_items = self._coded(columns)
        log = ordered_log(table, of_users, of_items, columns, self.feedback, self.clock, self.reading.duplicates)
        return replace(log, account=self._account(table))

    @property
    def no_rows(self) -> Log:
        """The log without rows."""
        columns = self._columns(pl.DataFrame(schema=self.schema))
        users, _ = Ids(columns.pop("user").rename("id")), columns.pop("item")
        arrays: dict[str, Any] = {
            name: np.empty(0, dtype=np.int64 if name == "time" else np.float64)
            for name in ("value", "propensity", "time")
            if columns.pop(name, None) is not None
        }
        return Log(
            users,
            self.items,
            np.zeros(1, dtype=np.int64),
            np.empty(0, dtype=np.int32),
            policy=columns.pop("policy", None),
            position=columns.pop(POSITION, None),
            columns=columns,
            feedback=self.feedback,
            clock=self.clock,
            account=Account(self.reading.source, 0),
            **arrays,
        )

    def lists(self, frame: pl.DataFrame) -> Recommendations:
        """The lists of these rows."""
        if not len(frame):
            nothing = np.empty(0, dtype=np.int32)
            users, account = Ids(pl.Series("id", [], self.schema["user"])), Account(self.reading.source, 0)
            return Recommendations(users, self.items, np.zeros(1, dtype=np.int64), nothing, nothing, account=account)
        table, columns = self._table(frame), self._columns(frame)
        made = ordered_lists(table, *self._coded(columns), columns)
        return replace(made, account=self._account(table))

    def predictions(self, frame: pl.DataFrame) -> Predictions:
        """The predictions of these rows."""
        if not len(frame):
            users, account = Ids(pl.Series("id", [], self.schema["user"])), Account(self.reading.source, 0)
            codes, numbers = np.empty(0, dtype=np.int32), np.empty(0)
            return Predictions(users, self.items, np.zeros(1, dtype=np.int64), codes, numbers, account=account)
        table, columns = self._table(frame), self._columns(frame)
        made = ordered_predictions(table, *self._coded(columns), columns)
        return replace(made, account=self._account(table))

    def population(self, frame: pl.DataFrame) -> Population:
        """The users of these rows, each once."""
        table = self._table(frame)
        table.refuse_repeats("user")
        columns = self._columns(frame)
        if table.good is not None:
            columns = {name: column.filter(table.good) for name, column in columns.items()}
        return ordered_population(self._users(columns["user"]), columns, self._account(table))

    def _table(self, frame: pl.DataFrame) -> PartTable:
        reading = self.reading
        names = {name: reading.columns.get(name, name) for name in frame.columns}
        return PartTable(reading.source, frame, names, reading.drop, locate=self.locate)

    def _columns(self, frame: pl.DataFrame) -> dict[str, pl.Series]:
        return {column.name: column for column in frame if column.name in self.schema}

    def _coded(self, columns: dict[str, pl.Series]) -> tuple[tuple[Ids, Codes], tuple[Ids, Codes]]:
        return self._users(columns.pop("user")), (self.items, self.items.encode(columns.pop("item")))

    def _users(self, column: pl.Series) -> tuple[Ids, Codes]:
        if not len(column):
            return Ids(column.rename("id")), np.empty(0, dtype=np.int32)
        users, codes = Ids.code(column)
        refuse_padded(self.reading, "user", users, self.locate)
        return users, codes

    def _account(self, table: Table) -> Account:
        """What became of the rows here; that pairs are repeated is said of all of them together."""
        notes = tuple(note for note in table.notes if note.code != REPEATED)
        return Account(self.reading.source, len(table.frame), dict(table.dropped), notes)


def refuse_padded(reading: Reading, name: str, ids: Ids, locate: Locate) -> None:
    """Ids with blanks around them, or line ends inside, match nothing else."""
    if (padded := padded_id(ids)) is not None:
        raise InputError(
            f"{reading.source}: column '{reading.columns.get(name, name)}' must hold ids without blanks around them or "
            f"line ends inside; {locate([{name: padded}])} has {show(padded)}.\n{UNPAD}",
            code="padded-id",
            column=reading.columns.get(name, name),
        )
