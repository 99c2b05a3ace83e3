"""Which rows have the m least keys, of keys that come in pieces, twice.

The first time they are counted by bin (a key's leading bits); the bin that holds the m-th least is then known, and the
second time only its keys are kept. Memory does not grow with the rows: the bins, and about a thousandth of the keys.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Bools, Floats
from unskew.kernels.sampling import BITS, SHIFT, tally_bins
from unskew.log.ids import changed


class LeastKeys:
    """The m least of some keys: ``count`` all of them, ``look`` at all of them again, then ``take``."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._bins = np.zeros(1 << BITS, dtype=np.int64)
        self._bin = -1
        self._below = 0
        self._kept: list[Floats] = []
        self._threshold: float | None = None
        self._ties = 0

    def count(self, keys: Floats) -> None:
        """First time: count some keys."""
        tally_bins(keys.view(np.uint64), self._bins)

    def look(self, keys: Floats) -> None:
        """Second time: keep those keys whose bin holds the m-th least."""
        if self._bin < 0:
            upto = np.cumsum(self._bins)
            self._bin = int(np.searchsorted(upto, self._number))
            self._below = int(upto[self._bin - 1]) if self._bin else 0
        self._kept.append(keys[(keys.view(np.uint64) >> np.uint64(SHIFT)) == self._bin])

    def take(self, keys: Floats) -> Bools:
        """Third time: whether each key is among the least; of equal ones the first are."""
        if self._threshold is None:
            inside = np.sort(np.concatenate(self._kept))
            place = self._number - self._below - 1
            if not 0 <= place < len(inside):
                raise changed()
            self._threshold = float(inside[place])
            self._ties = place + 1 - int(np.searchsorted(inside, self._threshold))
        taken = _upto(keys, self._threshold, self._ties)
        self._ties -= int(np.count_nonzero(taken & (keys == self._threshold)))
        return taken


def least(keys: Floats, number: int) -> Bools:
    """Which keys are the least, all at once."""
    threshold = float(np.partition(keys, number - 1)[number - 1])
    return _upto(keys, threshold, number - int(np.count_nonzero(keys < threshold)))


def _upto(keys: Floats, threshold: float, ties: int) -> Bools:
    """Keys below the threshold, and the first few that equal it."""
    taken = keys < threshold
    taken[np.flatnonzero(keys == threshold)[:ties]] = True
    return taken
