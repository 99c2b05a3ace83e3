"""What is learnt of all rows while they are counted, before any weight is known: which may repeat another, and a pilot.

Both go by the hashes of rows, which need those of their ids. The code of an id is not known before all are counted;
ids that are compact numbers have their hashes in a table over their range, others are coded in each piece by itself.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.kernels.arrays import Hashes, Ints32, Ints64
from unskew.kernels.sampling import unknown
from unskew.log import Ids
from unskew.log.ids import hash_texts
from unskew.log.key_counts import RangeTable
from unskew.sampling.draw import row_hashes
from unskew.sampling.pilot import Pilot
from unskew.sampling.repeats import Repeats


class FirstPass:
    """``look`` at all rows, piece by piece."""

    def __init__(self, rows: int, seed: int) -> None:
        self._seed = seed
        self._users, self._items = _IdHashes(), _IdHashes()
        self.repeats, self.pilot = Repeats(rows), Pilot()

    def look(self, piece: pl.DataFrame) -> None:
        """Mark the rows of a piece, and keep some of them."""
        (users, user), (items, item) = self._users.of(piece["user"]), self._items.of(piece["item"])
        time = piece["time"].to_numpy() if "time" in piece.columns else None
        hashes = row_hashes(self._seed, users, items, user, item, time)
        self.repeats.mark(hashes)
        self.pilot.add(piece, hashes)

    def end(self) -> None:
        """Forget what is not needed once all rows were seen."""
        self._users, self._items = _IdHashes(), _IdHashes()


class _IdHashes:
    """The hashes of ids that come piece by piece."""

    def __init__(self) -> None:
        self._range = RangeTable(np.uint64)

    def of(self, ids: pl.Series) -> tuple[Hashes, Ints32 | Ints64]:
        """Some hashes, and which of them each row has."""
        places = self._range.places(ids)
        if places is None:
            vocabulary, codes = Ids.code(ids)
            return vocabulary.hashes, codes
        table, new = self._range.table, np.empty(len(places), dtype=np.int64)
        new = np.unique(new[: unknown(table, places, new)])
        table[new] = hash_texts(pl.Series(new + self._range.low))
        return table, places
