"""Where on the page an item was shown: a column of a log that is read if it can be, and otherwise left alone.

A column ``rank`` may be anything, and nobody need know that it has a meaning here. So no cell of a column that was only
recognised by its name refuses a log or drops a row: an empty one is a place that nobody wrote down, and where one holds
something else than a whole number from 0 on, none of the column is used, and a note says so. What was named must be
right.

Whether all cells are right is known when all rows were looked at, wherever they lie: until then ``OTHER`` stands for
one that is not, and is less than every place (``extremes.py`` finds it).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.log.column_maps import InputColumns
from unskew.log.columns import whole_numbers
from unskew.log.extremes import Extremes
from unskew.log.log import Account
from unskew.log.said import say_columns
from unskew.log.table import Table

OURS = "position"
SOME = "some-places"  # the code of the note that only some rows of a column hold places
OTHER = -1
LAST = 2**31 - 1
_MUST = f"must hold places on the page, whole numbers from 0 to {LAST:,}"


def positions(table: Table) -> pl.Series:
    """The place of every row as Int32."""
    if table.said.get(OURS):
        return _named(table)
    raw = table.frame[OURS]
    texts = raw.cast(pl.String) if raw.dtype in (pl.Categorical, pl.Enum) else raw
    texts = texts.str.strip_chars() if texts.dtype == pl.String else texts
    if not (texts.dtype == pl.String or texts.dtype.is_numeric() or texts.dtype == pl.Null):
        return pl.select(pl.when(raw.is_not_null()).then(OTHER).cast(pl.Int32)).to_series()
    number = texts.cast(pl.Float64, strict=False)  # exact, as far as places go
    empty = texts.is_null() | number.is_nan().fill_null(False)  # as pandas writes nulls next to numbers
    empty = empty | (texts == "") if texts.dtype == pl.String else empty
    right = ((number == number.floor()) & number.is_between(0, LAST)).fill_null(False)
    place = pl.when(right).then(number).when(~empty).then(OTHER)
    return pl.select(place.cast(pl.Int32)).to_series()


def _named(table: Table) -> pl.Series:
    """All of them must be places."""
    found = whole_numbers(table, OURS, _MUST)
    outside = ~found.is_between(0, LAST).fill_null(True)
    table.refuse(OURS, outside, must=_MUST, reason="position no place on a page", code="out-of-range")
    return found.set(outside, None).cast(pl.Int32)


def are_places(found: Extremes | None) -> bool:
    """Whether these are the extremes of places, and not of a column that is empty or holds something else too."""
    return found is not None and found.low > OTHER


def several_places(found: Extremes | None) -> bool:
    """Whether there is more than one place."""
    return found is not None and not found.constant


def perhaps_places(account: Account) -> bool:
    """Whether there may be several places: a column that was left alone holds some."""
    return any(note.code == SOME for note in account.notes)


def left_alone(account: Account, found: Extremes | None) -> Account:
    """The account of a log whose column is not used, with a note unless it is empty.

    Args:
        found: the extremes of the column.
    """
    columns = {ours: theirs for ours, theirs in account.columns.items() if ours != OURS}
    if found is None:
        return replace(account, columns=columns)
    note = not_used(account.source, account.columns.get(OURS, OURS), some=found.high > OTHER)
    return replace(account, columns=columns, notes=(*account.notes, note))


def leave_alone(table: Table, found: Extremes | None) -> None:
    """The same of a table whose account is not written yet."""
    told = left_alone(table.account(), found)
    table.notes = list(told.notes)
    table.names = {ours: theirs for ours, theirs in table.names.items() if ours != OURS}


def not_used(source: str, name: str, *, some: bool) -> Notice:
    """A note about a column of this name, which those hear who listen; where some rows have places, it is a warning."""
    text = f"column '{plain(name)}' holds no whole numbers from 0 on, and is not taken for the place on the page"
    if some:
        text = (
            f"column '{plain(name)}' was not used as the place on the page, since only some of its rows hold a whole "
            "number from 0 on; if it is something else, say columns={'position': ''}"
        )
    note = Notice(text, code=SOME if some else "no-places", column=name)
    say_columns(source, {}, note)
    return note


def is_wanted(said: Mapping[str, Any] | None) -> bool:
    """Whether a column ``position`` is taken for places: ``{'position': ''}`` says that none is."""
    return bool((said or {}).get(OURS, OURS))


def is_only_recognised(names: Collection[str], said: Mapping[str, Any] | None) -> bool:
    """Whether there is such a column that nobody named."""
    return OURS in names and OURS not in (said or {})


def none(said: Mapping[str, Any] | None) -> InputColumns:
    """The same names, and no column for places, for inputs whose places nobody asks about."""
    return InputColumns.of({**(said or {}), OURS: ""}, getattr(said, "role", ""))


def alike(tables: list[Table]) -> list[Table]:
    """Files to be put together, in which columns that nobody named may differ: they are texts then, or empty."""
    types = {table.frame.schema.get(OURS) for table in tables}
    if len(types) == 1 or any(OURS in table.said for table in tables):
        return tables
    theirs = next(table.names[OURS] for table in tables if OURS in table)
    return [
        replace(table, frame=table.frame.select(pl.exclude(OURS), _text(table)), names={OURS: theirs, **table.names})
        for table in tables
    ]


def _text(table: Table) -> pl.Expr:
    return (pl.col(OURS) if OURS in table else pl.lit(None)).cast(pl.String).alias(OURS)
