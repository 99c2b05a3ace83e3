"""How far an outcome model's predictions reach, next to the outcomes: sums that merge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Floats

ROUNDING = 1e-9


@dataclass(frozen=True)
class PredictionRange(Mergeable):
    """Predictions by number, and how many lie outside the range of the outcomes."""

    predictions: int = 0
    outside: int = 0
    low: float = merged_by(min, math.inf)
    high: float = merged_by(max, -math.inf)

    @classmethod
    def of(cls, q: Floats, outcomes: tuple[float, float]) -> PredictionRange:
        """Of these predictions, for outcomes between two numbers."""
        if not len(q):
            return cls()
        out = (q < outcomes[0] - ROUNDING) | (q > outcomes[1] + ROUNDING)
        return cls(len(q), int(np.count_nonzero(out)), float(q.min()), float(q.max()))


NO_PREDICTIONS = PredictionRange()
