"""How often every number occurs: counts by key that merge, and no key is there twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.kernels.arrays import Ints64


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by key.

    Args:
        keys: whole numbers, ascending: of users, how many rows they have.
        number: how often each occurs: how many users have so many rows.
    """

    keys: npt.NDArray[Any]
    number: Ints64

    @classmethod
    def of(cls, counts: Ints64) -> Tally:
        """How many have how many rows, from the rows of each; those without rows are left out."""
        return cls(*np.unique(counts[counts > 0], return_counts=True))

    def merge(self, other: Tally) -> Tally:
        """Both counts together."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        number = np.zeros(len(keys), dtype=np.int64)
        np.add.at(number, place, np.concatenate([self.number, other.number]))
        return Tally(keys, number)
