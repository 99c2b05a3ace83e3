"""What is learnt of rows while they are counted, before any weight is known: which may repeat another, and a pilot."""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.core.threads import ahead
from unskew.log.stream import Stream
from unskew.sampling.draw import blocks, row_hashes, times_of
from unskew.sampling.id_table import IdTable
from unskew.sampling.pilot import Pilot
from unskew.sampling.repeats import Repeats
from unskew.sampling.tallies import Tallies, tally


class FirstPass:
    """The first look at all rows of files.

    Attributes:
        tallies: the rows of users and items.
        users, items: the same with hashes, for the passes that follow.
        repeats: rows that may repeat another.
        pilot: some of the rows.
    """

    def __init__(self, stream: Stream, seed: int) -> None:
        self._seed = seed
        self.users, self.items, self.pilot = IdTable(), IdTable(), Pilot()
        self.repeats = Repeats(sum(file.rows for file in stream.files))
        for _, piece in ahead(stream.pieces()):
            self._look(piece)
        users = tally(stream.source, "user", self.users.result())
        self.tallies = Tallies(users, tally(stream.source, "item", self.items.result()), stream.source)

    def _look(self, piece: pl.DataFrame) -> None:
        user, item, time = self.users.count(piece["user"]), self.items.count(piece["item"]), times_of(piece)
        hashes = np.empty(len(piece), dtype=np.uint64)
        for part in blocks(len(piece)):
            hashes[part] = row_hashes(self._seed, user.count(part), item.count(part), time[part])
            self.repeats.mark(hashes[part])
        self.users.counted(user)
        self.items.counted(item)
        self.pilot.add(piece, hashes)
