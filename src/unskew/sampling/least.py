"""Which rows have the m least keys, of keys that come in pieces, twice.

The first time they are counted by bin (a key's leading bits); the bin that holds the m-th least is then known, and the
second time only its keys are kept, and of all others one bit each: whether they are below it. Memory: the bins, about a
thousandth of the keys, and a bit for each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.kernels.sampling import BITS, SHIFT, tally_bins
from unskew.log.ids import changed


class _Seen(NamedTuple):
    """What is kept of a piece: bits of the keys below the bin, and the places and keys inside it."""

    rows: int
    below: npt.NDArray[np.uint8]
    place: Ints64
    keys: Floats


class LeastKeys:
    """The m least of some keys: ``count`` all pieces, ``look`` at all again, ``settle``, then ask what is ``taken``."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._bins = np.zeros(1 << BITS, dtype=np.int64)
        self._bin = -1
        self._seen: list[_Seen] = []
        self._inside: list[Bools] = []

    def count(self, keys: Floats) -> None:
        """First time: count some keys."""
        tally_bins(keys.view(np.uint64), self._bins)

    def look(self, keys: Floats) -> None:
        """Second time: keep those keys whose bin holds the m-th least."""
        if self._bin < 0:
            self._bin = int(np.searchsorted(np.cumsum(self._bins), self._number))
        bins = keys.view(np.uint64) >> np.uint64(SHIFT)
        inside = np.flatnonzero(bins == self._bin)
        self._seen.append(_Seen(len(keys), np.packbits(bins < self._bin), inside, keys[inside]))

    def settle(self) -> None:
        """Once all pieces were looked at: find out which keys inside the bin are among the least."""
        keys = np.concatenate([piece.keys for piece in self._seen])
        left = self._number - int(self._bins[: self._bin].sum())
        if not 0 < left <= len(keys):
            raise changed()
        ends = np.cumsum([len(piece.keys) for piece in self._seen])
        self._inside = np.split(least(keys, left), ends[:-1])

    def taken(self, piece: int) -> Bools:
        """Whether each key of the n-th piece is among the least; of equal ones the first are."""
        if piece >= len(self._seen):
            raise changed()
        rows, below, place, _ = self._seen[piece]
        found = np.unpackbits(below, count=rows).astype(np.bool_)
        found[place[self._inside[piece]]] = True
        return found


def least(keys: Floats, number: int) -> Bools:
    """Which keys are the least, all at once; of equal ones the first are."""
    threshold = np.partition(keys, number - 1)[number - 1]
    taken: Bools = keys < threshold
    taken[np.flatnonzero(keys == threshold)[: number - np.count_nonzero(taken)]] = True
    return taken
