"""Errors where users are these and no others: only the draw of the questions is chance (MATHS §16).

    T̂ = known + Σ_S x/π,   x = (y − q) d        what was logged and what is guessed is known

    any design     Σ_u t_u²,  t_u = Σ over S_u with π < 1 of x/π        on average Var(T̂) + Σ_u (Σ_i x_i)²
    independent    Σ_S (1 − π) x²/π²                                    on average Var(T̂): the finite-population factor
    systematic     the lesser of the first and twice the second

Pairs that are drawn for certain add no chance by any of them. The first needs nothing but independence between users.
The factor of independent draws can be too small where pairs of a user exclude each other: of two pairs with π = ½ and
x = 1 and −1 exactly one is drawn, the variance is 4, and the second says 2. Twice it is enough where no two pairs of a
user are drawn together more often than independent ones: positive and negative parts then each vary less than that, and
Var(a − b) ≤ 2 Var(a) + 2 Var(b).

Ratios divide by D̂, whose chance is the same with d = 1: the sums of both make the interval (Fieller, ``contrast.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unskew.inference.contrast import Contrast
from unskew.kernels.arrays import Floats, Hashes, Ints64
from unskew.log.drawing import INDEPENDENT, SYSTEMATIC


@dataclass(frozen=True, eq=False)
class DrawnErrors:
    """What drawn pairs add to sums, by groups that are independent of each other.

    Args:
        group: of each row, from 0: its user, or the row itself.
        error: of each row (y − q)/π, 0 where π = 1; times √(1 − π) where rows are groups.
    """

    group: Ints64
    error: Floats

    @classmethod
    def of(cls, user: Hashes, propensity: Floats, value: Floats, q: Floats, design: str) -> DrawnErrors:
        """From answers row by row."""
        error = np.where(propensity < 1.0, (value - q) / propensity, 0.0)
        together = cls(np.unique(user, return_inverse=True)[1].astype(np.int64), error)
        if design not in (INDEPENDENT, SYSTEMATIC):
            return together
        factor = (1.0 if design == INDEPENDENT else 2.0) * (1.0 - propensity)
        alone = cls(np.arange(len(user)), error * np.sqrt(factor))
        if design == INDEPENDENT:
            return alone
        sums = [each.by_group(np.ones(len(user))) for each in (together, alone)]
        return together if sums[0] @ sums[0] <= sums[1] @ sums[1] else alone

    def by_group(self, d: Floats) -> Floats:
        """The groups' sums."""
        return np.asarray(np.bincount(self.group, self.error * d), dtype=np.float64)

    def contrast(self, value: float, d: Floats, unit: float, below: float | None) -> Contrast:
        """A difference (or a value) of sums, or of ratios of sums.

        Args:
            value: Δ̂.
            d: worth of each row.
            unit: what one unit of the sum is worth in Δ̂.
            below: what one unit of D is worth as a share of D; ``None`` where nothing is divided by.
        """
        t = unit * self.by_group(d)
        base = np.zeros_like(t) if below is None else below * self.by_group(np.ones(len(d)))
        squares = t * t
        total, fourth, m = float(squares.sum()), float((squares * squares).sum()), int(np.count_nonzero(t))
        small = m / (m - 1.0) if m > 1 else 2.0
        sums = small * total, small * float(t @ base), small * float(base @ base)
        around = t - value * base
        error = math.sqrt(small * float(around @ around))
        return Contrast(value, m, min(float(m), total**2 / fourth if fourth > 0.0 else 0.0) - 1.0, *sums, error)
