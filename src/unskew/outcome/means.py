"""Means of users and items, shrunk to the mean of all.

    q_ui = m + b_i + a_u
    b_i  = t_i/(t_i + shrink) · mean of y − m        over the item's rows
    a_u  = t_u/(t_u + shrink) · mean of y − m − b_i  over the user's rows

Means are weighted by r = 1/P where propensities are given, and t = (Σr)²/Σr² is the number of rows that are as good as
the weighted ones (Kish), so that a mean which hangs on one heavy row is not trusted like one of many. An effect with
variance τ² seen through noise σ² is best shrunk with shrink = σ²/τ² (empirical Bayes); 10 suits rates that differ by a
third of the noise. q is kept between 0 and the largest outcome seen, where outcomes are. Any outcome ≥ 0 will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.bounds import NOT_NEGATIVE
from unskew.kernels import pairs
from unskew.kernels.arrays import Bools, Floats
from unskew.log import Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.base import PairPredictor, Rows
from unskew.outcome.fitted import Fitted, State
from unskew.parts import option
from unskew.propensity.base import FitInputs


@dataclass(frozen=True, eq=False)
class Effects(State):
    """What users and items add to the mean, the mean, and the largest outcome."""

    user: Floats
    item: Floats
    mean: float
    largest: float


@dataclass(frozen=True)
class Means(Fitted[Effects]):
    """Shrunk means of users and items.

    Args:
        shrink: how many rows an effect needs to be believed by half; 0 believes every mean.
    """

    shrink: float = option(10.0, NOT_NEGATIVE, "how many pairs of the mean every user and item is given")
    found: Effects | None = field(default=None, compare=False, repr=False)

    name = "means"

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Means of items, then of users in what items leave."""
        mean = float((rows.times * rows.inverse) @ rows.y / (rows.times @ rows.inverse))
        item, of_items = self._means(log.item, rows.y - mean, rows.inverse, rows.times, len(log.items))
        rest = rows.y - mean - item[log.item]
        user, of_users = self._means(log.user, rest, rows.inverse, np.ones(len(log)), len(log.users))
        largest = float(rows.y[rows.times > 0.0].max())
        return self.remember(found=Effects(log.users, log.items, of_users, of_items, user, item, mean, largest))

    def _means(self, of: Codes, value: Floats, weight: Floats, times: Floats, many: int) -> tuple[Floats, Bools]:
        """The shrunk weighted mean in each group (0 where it has no rows), and which groups have rows."""
        total = np.bincount(of, times * weight, many)
        squares = np.bincount(of, times * weight**2, many)
        there = total > 0.0
        mean = np.divide(np.bincount(of, times * weight * value, many), total, out=np.zeros(many), where=there)
        size = np.divide(total**2, squares, out=np.zeros(many), where=there)
        return mean * np.divide(size, size + self.shrink, out=np.zeros(many), where=there), there

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """Effects in the order of the given ids; unknown ones have none."""
        found = self.state
        user = np.append(found.user, 0.0)[users.into(found.users)]  # code −1 reads the 0 at the end
        item = np.append(found.item, 0.0)[items.into(found.items)]

        def ask(u: Codes, i: Codes) -> Floats:
            q = np.empty(len(u))
            pairs.add(u, i, user, item, found.mean, found.largest, q)
            return q

        return ask
