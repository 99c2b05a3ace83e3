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

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl

from unskew.core.bounds import NOT_NEGATIVE
from unskew.core.parts import option
from unskew.kernels import pairs
from unskew.kernels.arrays import Bools, Floats
from unskew.log import Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.base import PairPredictor, Rows, no_rows, seen_rows
from unskew.outcome.fitted import Fitted, State
from unskew.propensity.base import NO_INPUTS, FitInputs

NOBODY = Ids(pl.Series("id", [], pl.Int64))


@dataclass(frozen=True, eq=False)
class Effects(State):
    """What users and items add to the mean, the mean, and the largest outcome."""

    user: Floats
    item: Floats
    mean: float
    largest: float


@dataclass(frozen=True, eq=False)
class ItemSums:
    """What the rows of some users add up to, by item; those of other users are added.

    Args:
        items: the vocabulary, the same for all users.
        weight, squares, outcome: Σr, Σr² and Σr·y of every item.
        largest: outcome.
    """

    items: Ids
    weight: Floats
    squares: Floats
    outcome: Floats
    largest: float

    @classmethod
    def of(cls, log: Log, rows: Rows) -> ItemSums:
        """Of the rows of a log."""
        weight, many = rows.times * rows.inverse, len(log.items)
        return cls(
            log.items,
            _sums(log.item, weight, many),
            _sums(log.item, weight * rows.inverse, many),
            _sums(log.item, weight * rows.y, many),
            float(rows.y[rows.times > 0.0].max(initial=0.0)),
        )

    def merge(self, other: ItemSums) -> ItemSums:
        """Those of both sets of users."""
        return ItemSums(
            self.items,
            self.weight + other.weight,
            self.squares + other.squares,
            self.outcome + other.outcome,
            max(self.largest, other.largest),
        )


@dataclass(frozen=True)
class Means(Fitted[Effects]):
    """Shrunk means of users and items.

    Args:
        shrink: how many rows an effect needs to be believed by half; 0 believes every mean.
    """

    shrink: float = option(10.0, NOT_NEGATIVE, "how many pairs of the mean every user and item is given")
    found: Effects | None = field(default=None, compare=False, repr=False)

    name = "means"

    @property
    def by_parts(self) -> bool:
        """Means of items are sums over users, and a user's own mean rests on the user's own rows."""
        return True

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Means of items, then of users in what items leave."""
        return self.remember(found=self._with_users(self._of_items(ItemSums.of(log, rows)), log, rows))

    def tally(self, log: Log, *, propensity: Floats | None = None) -> ItemSums:
        """Sums by item."""
        return ItemSums.of(log, seen_rows(log, propensity, None, self.name))

    def fit_tally(self, tally: ItemSums, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """Means of items; users have no effects yet."""
        if not tally.weight.any():
            raise no_rows("the log", self.name)
        return self.remember(found=self._of_items(tally))

    def of_part(self, log: Log, *, propensity: Floats | None = None) -> Self:
        """The same with effects of the users of this log."""
        rows = seen_rows(log, propensity, None, self.name)
        return self.copy().remember(found=self._with_users(self.state, log, rows))

    def _of_items(self, sums: ItemSums) -> Effects:
        mean = float(sums.outcome.sum() / sums.weight.sum())
        item, there = self._shrunk(sums.weight, sums.squares, sums.outcome - mean * sums.weight)
        return Effects(
            NOBODY, sums.items, np.empty(0, dtype=np.bool_), there, np.empty(0), item, mean, largest=sums.largest
        )

    def _with_users(self, found: Effects, log: Log, rows: Rows) -> Effects:
        """However often a user counts, the own mean is the same."""
        rest, many = rows.y - found.mean - found.item[log.item], len(log.users)
        sums = (_sums(log.user, rows.inverse * value, many) for value in (np.ones(len(log)), rows.inverse, rest))
        user, there = self._shrunk(*sums)
        return replace(found, users=log.users, of_users=there, user=user)

    def _shrunk(self, weight: Floats, squares: Floats, values: Floats) -> tuple[Floats, Bools]:
        """The shrunk mean in each group from Σr, Σr² and Σr·value (0 without rows), and which groups have rows."""
        there, nothing = weight > 0.0, np.zeros(len(weight))
        mean = np.divide(values, weight, out=nothing.copy(), where=there)
        size = np.divide(weight**2, squares, out=nothing.copy(), where=there)
        return mean * np.divide(size, size + self.shrink, out=nothing, where=there), there

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


def _sums(of: Codes, numbers: Floats, many: int) -> Floats:
    return np.bincount(of, numbers, many).astype(np.float64, copy=False)
