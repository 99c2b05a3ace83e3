"""From a checked column of ids to codes, with a look at the ids themselves: there are fewer of them than rows."""

from __future__ import annotations

import polars as pl

from unskew.errors import InputError
from unskew.log.columns import as_ids
from unskew.log.ids import Codes, Ids
from unskew.log.table import Table, show

UNPAD = "An id matches only what is written the same way: take blanks and line ends off, alike in all files."
_INVISIBLE = "[\\s\u200b\u2060\ufeff]"
_PADDED = f"^{_INVISIBLE}|{_INVISIBLE}$|[\r\n]"


def code_ids(table: Table, name: str, column: pl.Series) -> tuple[Ids, Codes]:
    """The ids of the kept rows of a column, and the code of each row."""
    ids, codes = Ids.code(as_ids(column, from_text=table.header))
    if (padded := padded_id(ids)) is not None:
        texts = table.frame[name].cast(pl.String)
        raise InputError(
            f"{table.source}: {table.called(name)} must hold ids without blanks around them or line ends inside; "
            f"{table.place(int((texts == padded).arg_true()[0]))} has {show(padded)}.\n{UNPAD}"
        )
    return ids, codes


def padded_id(ids: Ids) -> str | None:
    """The first id that begins or ends with something invisible (a blank, a sign without width), or holds a line end.

    A lone carriage return ends a line for some programs and not for others.
    """
    if ids.values.dtype != pl.String:
        return None
    padded = ids.values.filter(ids.values.str.contains(_PADDED))
    return str(padded[0]) if len(padded) else None
