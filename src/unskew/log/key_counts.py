"""Rows per key, of keys that come piece by piece: memory grows with the different keys, not with the rows.

Most catalogues number their ids compactly, and a table over the range of the numbers counts a piece in one pass. Texts
and scattered numbers are counted in each piece, and the counts of pieces are put together whenever they have grown as
long as what is there already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

LARGEST = 1 << 23  # entries of the table: 64 MB
WAITING = 1_000_000  # counts of pieces that are put together at once, at least


class RangeTable:
    """A table of zeros over the range of whole numbers that come piece by piece; it grows with the range.

    Attributes:
        low: the number of its first entry.
    """

    def __init__(self, dtype: npt.DTypeLike, *columns: int) -> None:
        self.low = 0
        self.table: npt.NDArray[Any] = np.zeros((0, *columns), dtype=dtype)

    def numbers(self, keys: pl.Series) -> npt.NDArray[np.int64] | None:
        """The keys as numbers that lie in the table; nothing for keys that are no numbers, or too far apart."""
        if not keys.dtype.is_integer():
            return None
        fitting = keys if keys.dtype == pl.Int64 else keys.cast(pl.Int64, strict=False)
        if fitting.null_count():
            return None
        numbers = fitting.to_numpy()
        low, high = int(numbers.min()), int(numbers.max()) + 1
        if len(self.table):
            low, high = min(low, self.low), max(high, self.low + len(self.table))
        if high - low > LARGEST:
            return None
        if high - low > len(self.table):
            table = np.zeros((high - low, *self.table.shape[1:]), dtype=self.table.dtype)
            table[self.low - low : self.low - low + len(self.table)] = self.table
            self.low, self.table = low, table
        return numbers


class KeyCounts:
    """How many rows each key has."""

    def __init__(self) -> None:
        self._range = RangeTable(np.int64)
        self._parts: list[pl.DataFrame] = []
        self._waiting = 0

    def add(self, keys: pl.Series) -> None:
        """Count some rows; keys are of one type and never null."""
        if len(keys) and not self._tabled(keys):
            self.add_counts(pl.DataFrame({"key": keys}).group_by("key").agg(rows=pl.len().cast(pl.Int64)))

    def add_counts(self, part: pl.DataFrame) -> None:
        """Columns ``key`` and ``rows`` of some rows that were counted already, each key once."""
        self._parts.append(part)
        self._waiting += len(part)
        if self._waiting > max(WAITING, 2 * len(self._parts[0])):
            self._gather()

    def result(self) -> pl.DataFrame:
        """Columns ``key`` and ``rows``, each key once."""
        self._gather()
        found = np.flatnonzero(self._range.table)
        if not len(found):
            return self._parts[0] if self._parts else pl.DataFrame(schema={"key": pl.Int64, "rows": pl.Int64})
        tabled = pl.DataFrame({"key": found + self._range.low, "rows": self._range.table[found]})
        if not self._parts:
            return tabled
        return _together([tabled.cast({"key": self._parts[0].schema["key"]}), *self._parts])

    def _tabled(self, keys: pl.Series) -> bool:
        """Count the keys in the table, where it is there for them."""
        numbers = self._range.numbers(keys)
        if numbers is None:
            return False
        np.add.at(self._range.table, numbers - self._range.low, 1)
        return True

    def _gather(self) -> None:
        if len(self._parts) > 1:
            self._parts = [_together(self._parts)]
        self._waiting = sum(len(part) for part in self._parts)


def _together(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("key").agg(pl.col("rows").sum())
