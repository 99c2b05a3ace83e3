"""Which held-out rows each of several samples keeps (``sampling/repeated_draws.py``), cut as rows and users are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64
from unskew.sampling.repeated_draws import DRAWN


@dataclass(frozen=True, eq=False)
class DrawMarks:
    """Samples of the held-out rows.

    Args:
        marks: (samples, rows), by ``LARGER``, ``DRAWN`` and ``SMALLER``.
        excess: t of each user, over all rows of the log that was sampled.
        span: how many of its rows lie between the smaller and the larger samples.
        squares: Σ t² over all its users.
    """

    marks: npt.NDArray[np.uint8]
    excess: Floats
    span: int
    squares: float

    def times(self, rows: slice) -> Ints64:
        """How many samples keep each of some rows."""
        return np.asarray(np.count_nonzero(self.marks[:, rows] >= DRAWN, axis=0), dtype=np.int64)

    def of_rows(self, rows: Ints64 | Bools) -> DrawMarks:
        """Those of some rows."""
        return replace(self, marks=np.ascontiguousarray(self.marks[:, rows]))

    def of_users(self, users: Ints32) -> DrawMarks:
        """Those of some users, whose rows were cut already."""
        return replace(self, excess=self.excess[users])
