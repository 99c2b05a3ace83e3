"""What the recipes share: pairs in an order of their own, epochs one after another, and lists from what is learnt.

Nothing depends on how ids are numbered. Pairs stand in the order of a hash of (seed, user, item), in which they are met
or drawn; items are drawn by their place in the order of their hashes; and factors start with a hash of (seed, id,
number of the factor). One model is one thread; many run side by side, since no kernel holds a lock.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from unskew import InputError
from unskew.core import require
from unskew.kernels import pair_uniform
from unskew.log import Feedback, Ids, Log, a_log, gains, some_ids
from unskew.models import ByFactors, Model, Scored
from unskew_papers.arrays import Codes, Floats
from unskew_papers.kernels.sgd import LANES

Singles = npt.NDArray[np.float32]
Progress = Callable[[int, int, float], object]
ITEMS = 1 << 32  # numbers of factors of items begin here, so that an item never starts like a user of the same id


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is learnt from: pairs with their targets, in the order of their hashes.

    Args:
        log: the same pairs, by user.
        order: where the pairs stand in the log.
    """

    log: Log
    order: npt.NDArray[np.int64]
    user: Codes
    item: Codes
    y: Singles

    @classmethod
    def of(cls, log: Log, y: Floats, seed: int) -> Pairs:
        """The pairs of a log, put in order."""
        keys = pair_uniform(seed, log.users.hashes[log.user], log.items.hashes[log.item])
        order = np.argsort(keys, kind="stable")
        return cls(log, order, log.user[order], log.item[order], y[order].astype(np.float32))


@dataclass(frozen=True, eq=False)
class Started:
    """Where learning begins, and what an epoch does to it.

    Args:
        users, items: factors in the first columns; the offset of an item, if there are any, behind them.
        epoch: changes both in place and gives back the mean loss.
    """

    users: Singles
    items: Singles
    epoch: Callable[[], float]


class Recipe(ByFactors, Model):
    """Factors of users and items, and offsets of items where the recipe has them.

    Args:
        offset_: of the items; zeros where the recipe has none.
        losses_: mean loss of every epoch.
    """

    dim: int
    epochs: int
    seed: int
    users_: Ids
    user_: Floats
    item_: Floats
    offset_: Floats
    losses_: tuple[float, ...]

    offsets = False
    _remedy = "Take a smaller rate, or a larger l2."

    def footprint(self, log: Log) -> int:
        """The factors besides, in both precisions, with what a step remembers."""
        return super().footprint(log) + 24 * (len(log.users) + len(log.items)) * (self.dim + LANES)

    def fit(self, log: Log, *, progress: Progress | None = None) -> Self:
        """Learn from a log.

        Args:
            progress: called after every epoch with its number, the number of epochs and the mean loss.
        """
        pairs = self._pairs(a_log(log))
        require(self.footprint(log), f"'{self}'", "Take a smaller dim.")
        started, losses = self._start(pairs), []
        for number in range(self.epochs if len(pairs.user) else 0):
            losses.append(float(started.epoch()))
            if progress is not None:
                progress(number + 1, self.epochs, losses[-1])
        users, items = (side.astype(np.float64) for side in (started.users, started.items))
        if not (np.isfinite(users).all() and np.isfinite(items).all()):
            raise InputError(f"'{self}': the factors grew beyond all bounds. {self._remedy}", code="diverged")
        users[np.bincount(pairs.user, minlength=len(users)) == 0] = 0.0
        items[self._unknown(pairs)] = 0.0
        self.users_, self.items_, self.losses_ = log.users, log.items, tuple(losses)
        self.user_, self.item_ = (np.ascontiguousarray(side[:, : self.dim]) for side in (users, items))
        self.offset_ = items[:, self.dim].copy() if self.offsets else np.zeros(len(items))
        return self

    @abstractmethod
    def _start(self, pairs: Pairs) -> Started:
        """Where it begins, and what an epoch does."""

    def _pairs(self, log: Log) -> Pairs:
        """The positives, each with y = 1."""
        liked = log.positives()
        return Pairs.of(liked, np.ones(len(liked)), self.seed)

    def _unknown(self, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """Items of which nothing was learnt: they have no pair."""
        return np.asarray(np.bincount(pairs.item, minlength=len(pairs.log.items)) == 0)

    def factors(self) -> tuple[Floats, Floats]:
        """Matrices of users and items whose product orders the items of each user: (v, 1) and (w, b)."""
        _ = self.catalogue
        if not self.offsets:
            return self.user_, self.item_
        return np.hstack([self.user_, np.ones((len(self.user_), 1))]), np.hstack([self.item_, self.offset_[:, None]])

    def scored(self, users: Ids) -> Scored:
        """By v·w + b; offsets rank for users without factors."""
        items, rows = self.catalogue, some_ids(users).into(self.users_)
        return Scored(rows, (self.user_, self.item_), self.offset_, items)


class ValueRecipe(Recipe):
    """A recipe that learns y of every pair: 1 for positives, or the log's own values."""

    values: bool

    @property
    def learns_values(self) -> bool:
        """With ``values`` all rows with their values teach it something."""
        return self.values

    def _pairs(self, log: Log) -> Pairs:
        if not self.values:
            return super()._pairs(log)
        return Pairs.of(log, gains(log, log.feedback or Feedback.RATINGS, None), self.seed)


def beginning(ids: Ids, dim: int, seed: int, first: int = 0) -> Floats:
    """Uniform in [0, 1) by a hash of (seed, id, number of the factor), the numbers from ``first`` on."""
    numbers = np.arange(first, first + dim, dtype=np.uint64)
    return pair_uniform(seed, np.repeat(ids.hashes, dim), np.tile(numbers, len(ids))).reshape(len(ids), dim)


def both_sides(
    pairs: Pairs, dim: int, seed: int, centre: float, scale: float, more: int = 0
) -> tuple[Singles, Singles]:
    """Factors of users and items, uniform around ``centre`` times ``scale``; then ``more`` columns, and zeros."""
    width = -(-(dim + more) // LANES) * LANES
    sides = []
    for ids, first in ((pairs.log.users, 0), (pairs.log.items, ITEMS)):
        out = np.zeros((len(ids), width), dtype=np.float32)
        out[:, :dim] = (beginning(ids, dim, seed, first) - (0.5 - centre)) * scale
        sides.append(out)
    return sides[0], sides[1]
