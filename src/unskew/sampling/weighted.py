"""Samplers that undo some of a log's skew, by how often users and items occur in its training part (carraro20).

    SKEW                 w_ui = 1 / n_i                                     n_i rows in training, at least 1
    WTD, WTD_H, weighted w_ui = w_u^a · w_i^b,  w = P_target / P_mnar       Eqs. 13 and 14; the paper has a = 1, b = 2

P_mnar(u) = n_u / n over the training rows; P_target is that of a log of pairs drawn at random (WTD) or 1/U (WTD_H).
A posterior of 0 becomes ``zero``, 1e-4 as in the paper's code: on a large log that is more than the posterior of a user
or item with a few rows, so that the unseen would count as more frequent than they; the summary of a sample says so.

The weights depend on user and item alone. They take exposure and taste for the same thing: an item that is seen often
because it is liked loses its rows like one that was only shown often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.bounds import Number
from unskew.core.parts import Words, option
from unskew.kernels.arrays import Floats
from unskew.sampling.base import Counts, Sampler

ZERO = 1e-4
POWER = Number(low=-4.0, high=4.0, why="Higher powers leave a handful of rows.")
POSTERIOR = Number(above=0.0, high=1.0)
_ZERO_HELP = "the posterior of a user or item without a row"


@dataclass(frozen=True)
class Skew(Sampler):
    """Weigh a row by one over its item's training rows (SKEW)."""

    name = "skew"

    def item_weight(self, counts: Counts) -> Floats:
        """1 / n_i; an item without training rows counts as having one."""
        return 1.0 / np.maximum(counts.train, 1.0)


class _Posteriors(Sampler):
    """w_u^a · w_i^b, w = target posterior / training posterior."""

    zero: float
    user_power: float
    item_power: float

    def user_weight(self, counts: Counts) -> Floats:
        """w_u^a."""
        return self._ratio(counts) ** self.user_power

    def item_weight(self, counts: Counts) -> Floats:
        """w_i^b."""
        return self._ratio(counts) ** self.item_power

    def _ratio(self, counts: Counts) -> Floats:
        """w = target posterior / training posterior."""
        mnar = self._posterior(counts.train, counts.train_rows)
        if not self.needs_random:
            return 1.0 / (counts.number * mnar)
        assert counts.random is not None
        return self._posterior(counts.random, counts.random_rows) / mnar

    def _posterior(self, rows: Floats, total: int) -> Floats:
        return np.where(rows > 0.0, rows / max(total, 1), self.zero)


@dataclass(frozen=True)
class Wtd(_Posteriors):
    """Weigh a row so that users and items come out as in a log of pairs drawn at random (WTD)."""

    zero: float = option(ZERO, POSTERIOR, _ZERO_HELP, changed=True)

    name = "wtd"
    needs_random = True
    user_power, item_power = 1.0, 2.0


@dataclass(frozen=True)
class WtdH(_Posteriors):
    """Weigh a row so that users and items come out evenly (WTD_H)."""

    zero: float = option(ZERO, POSTERIOR, _ZERO_HELP, changed=True)

    name = "wtd_h"
    user_power, item_power = 1.0, 2.0


@dataclass(frozen=True)
class Weighted(_Posteriors):
    """Weigh a row by powers of its user's and its item's target posterior over the training one."""

    user_power: float = option(1.0, POWER, "of the user's weight; 0 leaves users as they are")
    item_power: float = option(2.0, POWER, "of the item's weight; the authors' code has 1, the paper 2")
    target: str = option("uniform", Words(("uniform", "mcar")), "even, or as in a log of pairs drawn at random")
    zero: float = option(ZERO, POSTERIOR, _ZERO_HELP, changed=True)

    name = "weighted"

    @property
    def needs_random(self) -> bool:  # type: ignore[override]
        """Whether posteriors are measured on pairs drawn at random."""
        return self.target == "mcar"

    @property
    def equal(self) -> bool:
        """Powers of 0 weigh nothing."""
        return self.user_power == 0.0 == self.item_power
