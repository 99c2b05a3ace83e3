"""Rows that repeat another one (the same user, item and time), told apart by how many came before them.

The hash of each row is first marked by four bits in a table with 16 for each row, all four in one word (a Bloom filter
in blocks: Putze, Sanders & Singler 2007): a row whose bits were set already may repeat another, and the others do not.
Only the hashes of these few are counted afterwards. Memory: 2 bytes for each row while rows are marked (up to 4, since
tables have 2^k bits), then about 25 bytes for each row that repeats another.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Hashes, Ints64
from unskew.kernels.sampling import enter, mark_rows, number_rows

_PER_ROW = 16  # bits: a row without a twin finds all of its four set in less than 1 % of cases
_NONE = np.empty(0, dtype=np.int64)


class Repeats:
    """``mark`` all rows, then ``numbers`` of all rows, in the same order, as often as needed."""

    def __init__(self, rows: int) -> None:
        self._bits = np.zeros(1 << max((_PER_ROW * rows // 64).bit_length(), 4), dtype=np.uint64)
        self._found: list[Hashes] = []
        self._table: Hashes | None = None
        self._seen = np.zeros(0, dtype=np.int32)
        self.rows = 0

    def mark(self, rows: Hashes) -> None:
        """Note which rows may repeat an earlier one."""
        out = np.empty(len(rows), dtype=np.uint64)
        found, _ = mark_rows(rows, self._bits, out)
        self._found.append(out[:found].copy())

    def begin(self) -> None:
        """Once all rows are marked, and before they come again from the first on."""
        if self._table is None:
            found = np.unique(np.concatenate(self._found)) if self._found else np.empty(0, dtype=np.uint64)
            self._bits, self._found = np.zeros(0, dtype=np.uint64), []
            self._enter(found[found != 0])
        elif len(self._table):
            self._enter(self._table[self._seen > 1])  # now it is known which of them do repeat
        self.rows = 0

    def numbers(self, rows: Hashes) -> Ints64:
        """How many equal rows came before each; empty where no row repeats another."""
        assert self._table is not None
        if not len(self._table):
            return _NONE
        out = np.empty(len(rows), dtype=np.int64)
        number_rows(rows, self._table, self._seen, out)
        self.rows += int(np.count_nonzero(out))
        return out

    def _enter(self, hashes: Hashes) -> None:
        places = 1 << (2 * len(hashes)).bit_length() if len(hashes) else 0
        self._table, self._seen = np.zeros(places, dtype=np.uint64), np.zeros(places, dtype=np.int32)
        if places:
            enter(hashes, self._table)
