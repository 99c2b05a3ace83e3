"""What is minimised: propensity-scored ratings and a penalty (schnabel16 Eq. 14, scaled as in the authors' code).

    Σ over ratings of δ(y, v_u·w_i + a_u + b_i + c) / P  +  ρ · (Σ|v_u|² + Σ|w_i|² [+ Σ a_u² + Σ b_i² + c²])

    ρ = λ · UI/(U + I) / D,    D = d with free offsets, d + 1 with penalised ones (then the part in brackets counts)

δ is the squared or the absolute error. Solvers may round |x| off below an edge ε, where it becomes x²/(2ε) + ε/2;
objectives that are reported are never rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from unskew.kernels import ratings as kernel
from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers

Loss = Literal["squared", "absolute"]
Offsets = Literal["free", "penalised"]


@dataclass(frozen=True, eq=False)
class GroupedRatings:
    """Ratings grouped by user, or by item: row r has those from ``indptr[r]`` to ``indptr[r + 1]``."""

    indptr: Integers
    other: Codes
    value: Floats
    weight: Floats

    @property
    def columns(self) -> tuple[Integers, Codes, Floats, Floats]:
        """All of it, in the order in which kernels take it."""
        return self.indptr, self.other, self.value, self.weight


@dataclass(frozen=True, eq=False)
class Ratings:
    """Weighted ratings (1/P) by user, and how many items there are, with or without ratings."""

    by_user: GroupedRatings
    items: int

    @property
    def users(self) -> int:
        """How many users there are, with or without ratings."""
        return len(self.by_user.indptr) - 1

    @cached_property
    def by_item(self) -> GroupedRatings:
        """The same ratings by item."""
        _, user, value, weight = self.by_user.columns
        starts = np.zeros(self.items + 1, dtype=np.int64)
        found = GroupedRatings(starts, np.empty_like(user), np.empty_like(value), np.empty_like(weight))
        kernel.transpose(*self.by_user.columns, *found.columns)
        return found


@dataclass(eq=False)
class MFParameters:
    """The unknowns; the last column of ``user`` and ``item`` is the offset, ``level`` is c."""

    user: Floats
    item: Floats
    level: float

    def copy(self) -> MFParameters:
        """Another one with the same numbers."""
        return MFParameters(self.user.copy(), self.item.copy(), self.level)


@dataclass(frozen=True, eq=False)
class Problem:
    """Ratings, and how they are to be fitted.

    Args:
        dim: d.
        strength: λ.
    """

    ratings: Ratings
    dim: int
    strength: float
    loss: Loss = "squared"
    offsets: Offsets = "penalised"

    @property
    def penalty(self) -> float:
        """ρ."""
        users, items = self.ratings.users, self.ratings.items
        width = self.dim + 1 if self.offsets == "penalised" else max(self.dim, 1)
        return self.strength * users * items / (users + items) / width

    @property
    def ridge(self) -> float:
        """The penalty of offsets and of c."""
        return self.penalty if self.offsets == "penalised" else 0.0

    def penalties(self, factors: MFParameters) -> float:
        """ρ times the squares."""
        squares = sum(float(np.square(rows[:, :-1]).sum()) for rows in (factors.user, factors.item))
        offsets = sum(float(np.square(rows[:, -1]).sum()) for rows in (factors.user, factors.item))
        return self.penalty * squares + self.ridge * (offsets + factors.level**2)

    def objective(self, factors: MFParameters, edge: float = 0.0) -> tuple[float, MFParameters]:
        """What is minimised, and its slope; ``edge`` is ε (at 0 the slope of |x| at 0 is taken to be 0)."""
        user, item = 2.0 * self.penalty * factors.user, 2.0 * self.penalty * factors.item
        user[:, -1], item[:, -1] = 2.0 * self.ridge * factors.user[:, -1], 2.0 * self.ridge * factors.item[:, -1]
        given, absolute = (factors.user, factors.item, factors.level), self.loss == "absolute"
        loss, level = kernel.slope(*self.ratings.by_user.columns, *given, absolute, edge, user, item)
        return loss + self.penalties(factors), MFParameters(user, item, level + 2.0 * self.ridge * factors.level)
