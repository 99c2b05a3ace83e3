"""Predictions from outside: a table ``user, item, prediction``, taken as it is.

A pair that the table lacks is an error with the number of such pairs, or gets the default that was asked for. Nothing
is fitted here, so nothing is cross-fitted: whether predictions have seen the outcomes is for whoever made them to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.errors import InputError
from unskew.log import Ids
from unskew.log.columns import as_ids, check_ids, numbers
from unskew.log.ids import Codes
from unskew.log.sources import table_of_file, table_of_frame
from unskew.outcome.base import Ask, Floats, Outcome
from unskew.spec import show


@dataclass(frozen=True)
class Given(Outcome):
    """Ready-made predictions.

    Args:
        source: a path or a dataframe with the columns ``user``, ``item`` and ``prediction``.
        default: what pairs without a row get; without it they are an error.
        columns: our column names → theirs.
    """

    source: Any
    default: float | None = None
    columns: Mapping[str, str] | None = None
    table: Table = field(init=False, compare=False, repr=False)

    name = "given"
    estimated = False

    def __post_init__(self) -> None:
        if self.default is not None and not np.isfinite(self.default):
            raise InputError(f"'given': default must be a finite number, not {self.default}.")
        object.__setattr__(self, "table", _read(self.source, self.columns))

    def bind(self, users: Ids, items: Ids) -> Ask:
        """Look pairs up."""
        table = self.table
        row, column = users.into(table.users).astype(np.int64), items.into(table.items).astype(np.int64)

        def ask(user: Codes, item: Codes) -> Floats:
            key = np.where((row[user] >= 0) & (column[item] >= 0), row[user] * len(table.items) + column[item], -1)
            at = np.minimum(np.searchsorted(table.key, key), len(table.key) - 1)
            missing = table.key[at] != key
            if missing.any() and self.default is None:
                first = int(np.argmax(missing))
                raise InputError(
                    f"{table.source}: there is no prediction for {np.count_nonzero(missing):,} of {len(key):,} pairs; "
                    f"the first is user '{users.values[int(user[first])]}', item '{items.values[int(item[first])]}'.\n"
                    "Add rows for them, or say what such pairs get: given(..., default=0)."
                )
            return np.where(missing, self.default or 0.0, table.prediction[at])

        return ask

    def known(self, users: Ids, items: Ids) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Those that occur in the table."""
        return users.into(self.table.users) >= 0, items.into(self.table.items) >= 0

    def __str__(self) -> str:
        default = "" if self.default is None else f", default={show(self.default)}"
        return f"{self.name}({self.source if isinstance(self.source, str | PathLike) else 'frame'}{default})"


@dataclass(frozen=True, eq=False)
class Table:
    """Predictions by key = user · items + item, ascending."""

    source: str
    users: Ids
    items: Ids
    key: npt.NDArray[np.int64]
    prediction: Floats


def _read(source: Any, columns: Mapping[str, str] | None) -> Table:
    """Check, code and sort the rows."""
    required = ("user", "item", "prediction")
    if isinstance(source, str | PathLike):
        table = table_of_file(source, required, (), columns=columns)
    else:
        table = table_of_frame(source, "predictions", required, (), columns=columns)
    for name in ("user", "item"):
        check_ids(table, name)
    table.refuse_nulls(*required)
    prediction = numbers(table, "prediction")
    table.refuse(
        "item",
        ~table.frame.select(pl.struct("user", "item").is_first_distinct()).to_series(),
        must="must name each item of a user once",
        reason="repeated pair",
    )
    kept = table.kept({"user": table.frame["user"], "item": table.frame["item"], "prediction": prediction})
    users, user = Ids.code(as_ids(kept["user"], from_text=table.header))
    items, item = Ids.code(as_ids(kept["item"], from_text=table.header))
    key = user.astype(np.int64) * len(items) + item
    order = np.argsort(key, kind="stable")
    return Table(table.source, users, items, key[order], kept["prediction"].to_numpy()[order])
