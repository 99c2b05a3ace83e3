"""The log: who was seen to do what. Immutable, integer-coded, rows grouped by user (CSR) and sorted by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.kernels.coding import tally_mask
from unskew.log.ids import Codes, Ids
from unskew.log.order import group, pick, regroup, starts_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Invalid = Literal["error", "drop"]
Duplicates = Literal["error", "first", "last", "max", "earliest"]
WEIGHT = "sampling_weight"  # the column that holds each row's weight, where rows were drawn with unequal chances
POSITION = "(position)"  # what tables of checked rows call the place on the page: 'position' may be a kept column too
ROW_COLUMNS = ("value", "time", "policy", "position", "propensity")


class Feedback(StrEnum):
    """What a row of the log says about a pair."""

    IMPLICIT = "implicit"  # positives only
    CONVERSIONS = "conversions"  # seen pairs with a 0/1 or graded outcome, zeros included
    RATINGS = "ratings"  # seen pairs with a graded value

    @classmethod
    def make(cls, text: str) -> Feedback:
        """The feedback with this name."""
        try:
            return cls(text)
        except ValueError:
            raise InputError(
                f"there is no feedback called '{text}'. Known: {', '.join(cls)}.",
                code="unknown-name",
                option="feedback",
            ) from None


@dataclass(frozen=True)
class Account:
    """What became of the rows of one input: nothing is dropped without a count here.

    ``columns`` are our names → theirs, of columns that the input calls otherwise.
    """

    source: str
    rows: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Notice, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Log:
    """Observed interactions; row r of user u stands at ``indptr[u] ≤ r < indptr[u + 1]``, items ascending.

    Args:
        users: the users, also those without a row here (a split keeps the vocabulary of the whole log).
        items: the catalogue as far as this log knows it.
        value, time, policy, propensity: per row, ``None`` where the log has no such column.
        position: the place of the page at which each item was shown, null where nobody wrote it down; it changes no
            number, and verdicts say what they take for granted of places.
        columns: further per-row columns, kept on request (for segments).
        feedback: what a row says; ``None`` where a log has values and nothing says what they mean (evaluations refuse).
        share: the probability with which a random split put a row of the whole log here; ``None`` if not split, or
            if time has ever decided which rows are here.
        cut_by_time: rows were chosen by their times, here or in a log that this one is a part of: the level of the
            whole log's propensities does not hold for this part, and no share corrects that.
        drawn: the product of the shares of all random splits on the way here, cut by time or not: it keeps a further
            split independent of the earlier ones.
        sampled_by: the strategy that drew these rows with unequal chances, if one did: what estimates take for granted
            of the log (propensities, shares) does not hold for them.
        account: what was read and dropped.
        gain: y of each row, once an evaluation has said what counts (a threshold, say); ``value`` stays as it came.
        estimated_by: who estimated the column ``propensity``, where it was not logged when pairs were shown.
        clock: the type as which ``to_frame`` gives times back, if they were dates or datetimes; ``time`` itself
            then holds microseconds since 1970.
    """

    users: Ids
    items: Ids
    indptr: Integers
    item: Codes
    value: Floats | None = None
    time: Integers | None = None
    policy: pl.Series | None = None
    position: pl.Series | None = None
    propensity: Floats | None = None
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    feedback: Feedback | None = None
    share: float | None = None
    cut_by_time: bool = False
    drawn: float = 1.0
    sampled_by: str = ""
    account: Account = field(default_factory=lambda: Account("memory", 0))
    estimated_by: str = ""
    clock: pl.DataType | None = None
    gain: Floats | None = None

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        feedback: Feedback | str | None = None,
        invalid: Invalid = "error",
        duplicates: Duplicates | None = None,
        keep: Iterable[str] = (),
        source: str = "frame",
    ) -> Log:
        """The log in a dataframe: pandas, polars (eager or lazy), pyarrow, DuckDB, whatever narwhals knows.

        Args:
            frame: one row per interaction; columns as in ``read_log``, which explains the other arguments too.
            source: what messages call the frame.
        """
        from unskew.log.interactions import OPTIONAL, REQUIRED, log_of
        from unskew.log.sources import table_of_frame

        table = table_of_frame(frame, source, REQUIRED, OPTIONAL, columns=columns, keep=keep, invalid=invalid)
        return log_of(table, feedback, duplicates)

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

    def take(self, rows: npt.NDArray[Any]) -> Log:
        """The log that holds only the given rows (a mask or ascending indices), over the same vocabularies."""
        if rows.dtype == np.bool_:
            if rows.shape != self.item.shape:
                raise IndexError(f"the mask has {len(rows):,} entries, and the log {len(self):,} rows")
            counts = np.empty(len(self.users), dtype=np.int64)
            tally_mask(self.indptr, rows, counts)
        else:
            counts = np.bincount(self.user[rows], minlength=len(self.users))
        return self._laid(starts_of(counts), rows, pick(self.item, rows))

    def positives(self, relevant: str | None = None) -> Log:
        """The positive rows, as an implicit log; ratings need a threshold such as ``'>=4'``."""
        from unskew.log.relevance import positives

        return positives(self, relevant)

    def recode(self, users: Ids, items: Ids) -> Log:
        """The same rows over vocabularies that contain ours; without them, ``ValueError``."""
        if users is self.users and items is self.items:
            return self
        source, table = users.into(self.users), self.items.into(items)
        indptr, order = regroup(self.indptr, source)
        item = pick(self.item, order)
        if not np.array_equal(table, np.arange(len(table))):
            item = table[item]
        if indptr[-1] != len(self) or item.min(initial=0) < 0:
            raise ValueError("the vocabularies lack users or items of this log")
        if not (np.diff(table) > 0).all():  # ids of another type may have another order
            user = np.repeat(np.arange(len(users), dtype=np.int32), np.diff(indptr))
            _, resort = group(user, item, len(users), len(items))
            if resort is not None:
                order, item = pick(order, resort) if order is not None else resort, item[resort]
        return self._laid(indptr, order, item, users=users, items=items)

    def _laid(self, indptr: Integers, order: npt.NDArray[Any] | None, item: Codes, **changes: Any) -> Log:
        """The same log with its rows in another order, or only some of them."""
        for name in (*ROW_COLUMNS, "gain"):
            if (column := getattr(self, name)) is not None:
                changes[name] = pick(column, order)
        columns = {name: pick(column, order) for name, column in self.columns.items()}
        return replace(self, indptr=indptr, item=item, columns=columns, **changes)

    def to_frame(self) -> pl.DataFrame:
        """The log as a table with the original ids."""
        frame = pl.DataFrame({"user": self.users.values[self.user], "item": self.items.values[self.item]})
        for name in ROW_COLUMNS:
            if (column := getattr(self, name)) is not None:
                frame = frame.with_columns(pl.Series(name, column))
        if self.time is not None and self.clock is not None:
            zone = self.clock.time_zone if isinstance(self.clock, pl.Datetime) else None
            frame = frame.with_columns(pl.col("time").cast(pl.Datetime("us", zone)).cast(self.clock))
        return frame.with_columns(**{name: c for name, c in self.columns.items() if name not in frame.columns})
