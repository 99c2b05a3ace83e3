"""Diagnostics of the weights: how many interactions an estimate really rests on.

    ess = (Σ|v|)² / Σv²        max_weight_share = max|v| / Σ|v|

with v = weight · y, over the user's divisor under per_user; for a model's value v is multiplied by the worth of the
rank, so that only pairs that carry the number count (``Carried``). Pairs that count but weigh nothing (``switch``
leaves them out) are part of what ``clipped_share`` is a share of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.moments import tally

BINS = 128  # weights by powers of √2, from 2⁻³² to 2³²


@dataclass(frozen=True, eq=False)
class Tally(Mergeable):
    """Mergeable sums over weighted pairs."""

    total: float = 0.0
    squares: float = 0.0
    largest: float = merged_by(max, 0.0)
    pairs: int = 0
    raised: int = 0
    idle: int = 0
    bins: Ints64 = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))

    @classmethod
    def of(cls, indptr: Ints64, weight: Floats, value: Floats, divisor: Floats, raised: int) -> Tally:
        """Tally the pairs of a batch."""
        out, bins = np.zeros(4), np.zeros(BINS, dtype=np.int64)
        tally(indptr, np.ascontiguousarray(weight, dtype=np.float64), value, divisor, bins, out)
        idle = int(np.count_nonzero((weight == 0.0) & (value != 0.0))) if raised else 0
        return cls(float(out[0]), float(out[1]), float(out[2]), int(out[3]), raised, idle, bins)

    @property
    def ess(self) -> float:
        """Effective sample size: so many equally weighted pairs would be as noisy."""
        return self.total**2 / self.squares if self.squares > 0.0 else 0.0

    @property
    def max_weight_share(self) -> float:
        """Share of all weight that lies on one pair."""
        return self.largest / self.total if self.total > 0.0 else 0.0

    @property
    def clipped_share(self) -> float:
        """Share of pairs whose propensity a clip raised, or whose correction switch left out."""
        return self.raised / (self.pairs + self.idle) if self.raised else 0.0


@dataclass(frozen=True, eq=False)
class Carried:
    """Mergeable sums over the pairs that carry each metric's number for each model, (metrics, models, 4)."""

    sums: Floats

    def merge(self, other: Carried) -> Carried:
        """The sums of both."""
        both = self.sums + other.sums
        both[..., 2] = np.maximum(self.sums[..., 2], other.sums[..., 2])
        return Carried(both)

    def ess(self, metric: int, model: int) -> float:
        """Effective number of pairs that carry a value."""
        total, squares, *_ = self.sums[metric, model]
        return float(total**2 / squares) if squares > 0.0 else 0.0

    def max_weight_share(self, metric: int, model: int) -> float:
        """The share of a value that one pair carries."""
        total, _, largest, _ = self.sums[metric, model]
        return float(largest / total) if total > 0.0 else 0.0

    def pairs(self, metric: int, model: int) -> int:
        """How many pairs carry a value."""
        return int(self.sums[metric, model, 3])
