"""What rows need to know of their ids: a hash, and how many rows there are, then a weight.

Ids that are compact numbers have both in one table over their range, so that a row finds them with one look and is
never coded. Other ids are coded in each piece by itself while they are counted, and over all of them afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.arrays import Floats, Hashes, Ints32, Ints64
from unskew.kernels.sampling import count_rows, weigh_rows
from unskew.log import Ids
from unskew.log.ids import changed
from unskew.log.key_counts import KeyCounts, RangeTable
from unskew.sampling.tallies import Tally

_Table = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Column:
    """The ids of some rows: ``table[id − low]`` is what is known of each."""

    ids: Ints32 | Ints64
    low: int
    table: _Table
    vocabulary: Ids | None = None

    def count(self, part: slice) -> Hashes:
        """Count some of the rows; the hash of each one's id."""
        out = np.empty(part.stop - part.start, dtype=np.uint64)
        count_rows(self.ids[part], self.low, self.table, self.vocabulary is None, out)
        return out

    def weigh(self, part: slice, weight: Floats) -> Hashes:
        """Multiply the weight of some of the rows by that of their id; the hash of each one's id."""
        out = np.empty(part.stop - part.start, dtype=np.uint64)
        if not weigh_rows(self.ids[part], self.low, self.table, self.table.view(np.float64), out, weight):
            raise changed()
        return out


class IdTable:
    """The users, or the items: ``count`` all pieces, tell their ``weights``, then ``find`` all pieces again."""

    def __init__(self) -> None:
        self._range, self._others = RangeTable(np.uint64, 2), KeyCounts()
        self._ids: Ids | None = None
        self._dtype: pl.DataType = pl.Int64()
        self._table: _Table = np.empty((0, 2), dtype=np.uint64)

    def count(self, ids: pl.Series) -> Column:
        """A piece whose rows are to be counted; when they were, it is ``counted``."""
        self._dtype = ids.dtype
        numbers = self._range.numbers(ids)
        if numbers is not None:
            return Column(numbers, self._range.low, self._range.table)
        vocabulary, codes = Ids.code(ids)
        return Column(codes, 0, np.stack([vocabulary.hashes, np.zeros_like(vocabulary.hashes)], axis=1), vocabulary)

    def counted(self, piece: Column) -> None:
        """Remember the counts of a piece."""
        if piece.vocabulary is not None:
            rows = piece.table[:, 1].astype(np.int64)
            self._others.add_counts(pl.DataFrame({"key": piece.vocabulary.values.cast(self._dtype), "rows": rows}))

    def result(self) -> pl.DataFrame:
        """Columns ``key`` and ``rows``, each key once."""
        present = np.flatnonzero(self._range.table[:, 1])
        if len(present):
            rows = self._range.table[present, 1].astype(np.int64)
            keys = pl.Series(present + self._range.low).cast(self._dtype)
            self._others.add_counts(pl.DataFrame({"key": keys, "rows": rows}))
        return self._others.result()

    def weights(self, tally: Tally, weight: Floats) -> None:
        """From now on an id's weight stands in the place of its rows."""
        if tally.ids.values.dtype == pl.Int64 and self._range.table[:, 1].sum() == tally.rows.sum():
            self._table = self._range.table
            self._table.view(np.float64)[tally.ids.values.to_numpy() - self._range.low, 1] = weight
        else:
            self._ids, self._range = tally.ids, RangeTable(np.uint64, 2)
            self._table = np.stack([tally.ids.hashes, weight.view(np.uint64)], axis=1)

    def find(self, ids: pl.Series) -> Column:
        """A piece whose rows are to be weighed."""
        if self._ids is not None:
            return Column(self._ids.encode(ids), 0, self._table)
        return Column(ids.cast(pl.Int64).to_numpy(), self._range.low, self._table)
