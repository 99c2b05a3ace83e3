"""Predictions from outside: a table ``user, item, prediction``, taken as it is.

A pair that the table lacks is an error with the number of such pairs, or gets the default that was asked for. Nothing
is fitted here, so nothing is cross-fitted: whether predictions have seen the outcomes is for whoever made them to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from unskew.core.bounds import Number, shown
from unskew.core.errors import InputError
from unskew.core.parts import Made, option
from unskew.core.spec import Spec, show
from unskew.core.text import plain
from unskew.kernels.arrays import Bools, Floats, Ints64, present
from unskew.log import Account, Ids, Predictions, read_predictions
from unskew.log.ids import Codes
from unskew.log.log import Invalid
from unskew.outcome.base import Lacking, Outcome, PairPredictor

Finder = Callable[[Codes, Codes], Ints64]


def _source(source: Any) -> Any:
    if isinstance(source, bool | int | float | Spec):
        raise InputError(
            f"'given': the table of predictions is a file or a frame, not {shown(source)}.", code="wrong-type"
        )
    return source


@dataclass(frozen=True)
class Given(Outcome):
    """Ready-made predictions.

    Args:
        source: a path or a dataframe with the columns ``user``, ``item`` and ``prediction``.
        default: what pairs without a row get; without it they are an error.
        columns: our column names → theirs.
        invalid: rows that cannot be used are an ``error``, or ``drop`` leaves them out and counts them.
        deferred: read a file when it is first asked about: an engine with parts of the users reads it part by part.
    """

    source: Any = option(
        MISSING,
        Made(_source, "FILE", "predictions.parquet"),
        "a table user, item, prediction",
        unnamed=True,
    )
    default: float | None = option(None, Number(), "what pairs without a row get")
    columns: Mapping[str, str] | None = None
    invalid: Invalid = "error"
    deferred: bool = field(default=False, compare=False, repr=False)
    read: Predictions | None = field(default=None, init=False, compare=False, repr=False)

    name = "given"
    estimated = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.deferred:
            self.load()

    @property
    def file(self) -> str | PathLike[str] | None:
        """The file, where it has not been read."""
        return self.source if self.read is None and isinstance(self.source, str | PathLike) else None

    @property
    def table(self) -> Predictions:
        """All of the predictions."""
        self.load()
        return present(self.read)

    def load(self) -> None:
        """Read the table, where that has not been done."""
        if self.read is not None:
            return
        how: dict[str, Any] = {"columns": self.columns, "invalid": self.invalid}
        if isinstance(self.source, str | PathLike):
            self.remember(read=read_predictions(self.source, **how))
        else:
            self.remember(read=Predictions.from_frame(self.source, source="predictions", **how))

    def of_table(self, table: Predictions) -> Given:
        """The same with some of the predictions, of the users of one part."""
        return self.copy().remember(read=table)

    @property
    def account(self) -> Account:
        """Of the table."""
        return self.table.account

    @property
    def answers_all(self) -> bool:
        """Only with a default."""
        return self.default is not None

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """Look pairs up."""
        find = self._finder(users, items)

        def ask(user: Codes, item: Codes) -> Floats:
            at = find(user, item)
            missing = at < 0
            if missing.any() and self.default is None:
                first = int(np.argmax(missing))
                raise InputError(
                    f"{self.table.account.source}: there is no prediction for {np.count_nonzero(missing):,} of "
                    f"{len(at):,} pairs; the first is user '{plain(users.values[int(user[first])])}', item "
                    f"'{plain(items.values[int(item[first])])}'.\n"
                    "Add rows for them, or say what such pairs get: given(..., default=0).",
                    code="missing-prediction",
                    pairs=int(np.count_nonzero(missing)),
                )
            q = np.full(len(at), self.default or 0.0)
            q[~missing] = self.table.value[at[~missing]]
            return q

        return ask

    def lacking(self, users: Ids, items: Ids) -> Lacking:
        """Pairs without a row, which get the default."""
        find = self._finder(users, items)
        return lambda user, item: find(user, item) < 0

    def known(self, users: Ids, items: Ids) -> tuple[Bools, Bools]:
        """Those that occur in the table."""
        return users.into(self.table.users) >= 0, items.into(self.table.items) >= 0

    def _finder(self, users: Ids, items: Ids) -> Finder:
        """The entry of each pair in the table, −1 where it has none; entries ascend by user and item."""
        table, many = self.table, len(self.table.items)
        row, column = users.into(table.users).astype(np.int64), items.into(table.items).astype(np.int64)
        keys = np.repeat(np.arange(len(table.users)), np.diff(table.indptr)) * many + table.item

        def find(user: Codes, item: Codes) -> Ints64:
            if not len(keys):  # of a part whose users the table lacks
                return np.full(len(user), -1, dtype=np.int64)
            key = np.where((row[user] >= 0) & (column[item] >= 0), row[user] * many + column[item], -1)
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            return np.where(keys[at] == key, at, -1)

        return find

    def __str__(self) -> str:
        default = "" if self.default is None else f", default={show(self.default)}"
        return f"{self.name}({self.source if isinstance(self.source, str | PathLike) else 'frame'}{default})"
