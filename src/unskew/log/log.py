"""The log: who was seen to do what. Immutable, integer-coded, rows grouped by user (CSR) and sorted by item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log.ids import Codes, Ids

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Feedback(StrEnum):
    """What a row of the log says about a pair."""

    IMPLICIT = "implicit"  # positives only
    CONVERSIONS = "conversions"  # seen pairs with a 0/1 or graded outcome, zeros included
    RATINGS = "ratings"  # seen pairs with a graded value


@dataclass(frozen=True)
class Account:
    """What became of the rows of one input: nothing is dropped without a count here."""

    source: str
    rows: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Log:
    """Observed interactions; row r of user u stands at ``indptr[u] ≤ r < indptr[u + 1]``, items ascending.

    Args:
        users: the users, also those without a row here (a split keeps the vocabulary of the whole log).
        items: the catalogue as far as this log knows it.
        value, time, policy, propensity: per row, ``None`` where the log has no such column.
        columns: further per-row columns, kept on request (for segments).
        feedback: what a row says; ``None`` while a log with values has not been told (evaluation then refuses).
        share: the probability with which a random split put a row of the whole log here; ``None`` if not split.
        account: what was read and dropped.
    """

    users: Ids
    items: Ids
    indptr: Integers
    item: Codes
    value: Floats | None = None
    time: Integers | None = None
    policy: pl.Series | None = None
    propensity: Floats | None = None
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    feedback: Feedback | None = None
    share: float | None = None
    account: Account = field(default_factory=lambda: Account("memory", 0))

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        kind = self.feedback or "feedback not told"
        active = int(np.count_nonzero(np.diff(self.indptr)))
        return f"<Log {len(self):,} rows, {active:,} users, {len(self.items):,} items, {kind}>"

    @cached_property
    def user(self) -> Codes:
        """User code of every row."""
        return np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.indptr))

    def take(self, rows: npt.NDArray[Any], *, share: float | None = None) -> Log:
        """The log that holds only the given rows (a mask or ascending indices), over the same vocabularies."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        counts = np.bincount(self.user[rows], minlength=len(self.users))
        pick = {
            name: None if (column := getattr(self, name)) is None else column[rows]
            for name in ("value", "time", "policy", "propensity")
        }
        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            item=self.item[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            share=share if share is not None else self.share,
            **pick,
        )

    def to_frame(self) -> pl.DataFrame:
        """The log as a table with the original ids."""
        frame = pl.DataFrame({"user": self.users.values[self.user], "item": self.items.values[self.item]})
        for name in ("value", "time", "policy", "propensity"):
            if (column := getattr(self, name)) is not None:
                frame = frame.with_columns(pl.Series(name, column))
        return frame.with_columns(**self.columns)
