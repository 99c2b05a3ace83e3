"""Popularity propensities (gs23 §5): what is clicked much was shown much.

    P_i ∝ n_i^((γ+1)/2)          n_i counted on training positives

γ = −1 is uniform. Relative: only ratios mean something. It assumes that popularity comes from exposure; under uniform
exposure it over-corrects. It knows nothing of how active a user is, so pooled estimates weigh users by activity.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from unskew.errors import InputError
from unskew.log import Ids, Log
from unskew.propensity.base import NOTHING, Floats, Level, Propensity, Scored, Side, positive_rows, row_weights
from unskew.spec import show


@dataclass(frozen=True)
class Popularity(Propensity):
    """A power of the training count.

    Args:
        gamma: the exponent's parameter; 2 is the usual choice, −1 is uniform.
        unsupported: items that training never showed: ``floor`` counts them as seen once, ``drop`` drops their rows.
    """

    gamma: float = 2.0
    unsupported: str = "floor"
    items: Ids | None = field(default=None, compare=False, repr=False)
    counts: Floats | None = field(default=None, compare=False, repr=False)

    name = "popularity"
    estimated = True

    def __post_init__(self) -> None:
        if self.unsupported not in ("floor", "drop"):
            raise InputError(f"'popularity': unsupported must be floor or drop, not '{self.unsupported}'.")

    @property
    def level(self) -> Level:
        """Relative: only ratios mean something."""
        return Level.RELATIVE

    def fit(self, train: Log, side: Side = NOTHING, weights: Floats | None = None) -> Self:
        """Count the training positives of every item."""
        positive = positive_rows(train)
        if not positive.any():
            raise InputError("popularity propensities need training positives, and the training log has none.")
        counts = np.bincount(
            train.item[positive], weights=row_weights(train, weights)[positive], minlength=len(train.items)
        )
        return replace(self, items=train.items, counts=counts.astype(np.float64))

    @property
    def fitted(self) -> bool:
        """Whether training counts are there."""
        return self.counts is not None

    def of(self, log: Log) -> Scored:
        """The propensity of every row's item."""
        counts = self._counts(log.items)
        return Scored(self._power(counts)[log.item], floored=int(np.count_nonzero(counts[log.item] == 0)))

    def of_items(self, items: Ids) -> Floats:
        """The propensity of every item (NaN where it is to be dropped)."""
        return self._power(self._counts(items))

    def _counts(self, items: Ids) -> Floats:
        if self.items is None or self.counts is None:
            raise InputError(
                "popularity propensities are counted on a training log, never on the test log whose clicks they are to "
                "debias (that would weigh each click by itself). Give --train (seen=train), or call .fit(train)."
            )
        place = items.into(self.items)
        return np.where(place >= 0, self.counts[np.maximum(place, 0)], 0.0)

    def _power(self, counts: Floats) -> Floats:
        assert self.counts is not None
        exponent = (self.gamma + 1.0) / 2.0
        unit = self.counts.max(initial=1.0) if exponent > 0.0 else 1.0  # so that the largest P is at most 1
        least = np.nan if self.unsupported == "drop" else 1.0
        used = np.where(counts > 0, counts, least)
        return np.asarray((used / unit) ** exponent, dtype=np.float64)

    def __str__(self) -> str:
        rule = "" if self.unsupported == "floor" else f", unsupported={self.unsupported}"
        return f"{self.name}(gamma={show(self.gamma)}{rule})"
