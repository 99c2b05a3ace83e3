"""Which rows have the m least keys, of keys that come in pieces.

A bracket is known in which the m-th least key most likely lies (``pilot.py``). Only the keys inside it are kept, and of
all others one bit each: whether they are below it. If the m-th least turns out to be outside, all pieces are looked at
again with a wider bracket. Memory: the keys inside, and a bit for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.log.ids import changed


class Placed(NamedTuple):
    """Some rows beside a bracket: whether each is below it, and the places and keys of those inside."""

    below: Bools
    place: Ints64
    keys: Floats


def joined(parts: Sequence[Placed]) -> Placed:
    """Some rows, one after the other."""
    starts = np.cumsum([0, *(len(part.below) for part in parts[:-1])])
    return Placed(
        np.concatenate([part.below for part in parts]),
        np.concatenate([part.place + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.keys for part in parts]),
    )


class _Seen(NamedTuple):
    """What is kept of a piece."""

    rows: int
    below: npt.NDArray[np.uint8]
    place: Ints64
    keys: Floats


class LeastKeys:
    """The m least of some keys: ``look`` at all pieces, ``settle``, then ask what is ``taken``."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._seen: list[_Seen] = []
        self._inside: list[Bools] = []

    def look(self, piece: Placed) -> None:
        """Keep what is needed of a piece."""
        self._left -= int(np.count_nonzero(piece.below))
        self._seen.append(_Seen(len(piece.below), np.packbits(piece.below), piece.place, piece.keys))

    def settle(self) -> bool:
        """Once all pieces were looked at: find the least inside the bracket. False where it does not hold the m-th."""
        keys = np.concatenate([piece.keys for piece in self._seen])
        if not 0 < self._left <= len(keys):
            return False
        ends = np.cumsum([len(piece.keys) for piece in self._seen])
        self._inside = np.split(least(keys, self._left), ends[:-1])
        return True

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
