"""What passes over the users bring: sums that merge, whatever the partition of the users and the order of merging."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from unskew.engine.data import EvaluationData, Floats
from unskew.inference.moments import Moments
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.inference.tally import Carried, Tally


@dataclass(frozen=True)
class Extent:
    """How many rows there are, and how far values and candidates reach."""

    rows: int = 0
    users_with_rows: int = 0
    highest_value: float = -math.inf
    lowest_rating: float = math.inf
    highest_rating: float = -math.inf
    most_candidates: float = -math.inf

    @classmethod
    def of(cls, held: EvaluationData, low: int, high: int) -> Extent:
        """Of the users ``low`` … ``high − 1``."""
        rows = slice(held.indptr[low], held.indptr[high])
        rating = np.empty(0) if held.rating is None else held.rating[rows]
        candidates = np.empty(0) if held.candidates is None else held.candidates[low:high]
        return cls(
            int(rows.stop - rows.start),
            int(np.count_nonzero(np.diff(held.indptr[low : high + 1]))),
            float(held.value[rows].max(initial=-math.inf)),
            float(rating.min(initial=math.inf)),
            float(rating.max(initial=-math.inf)),
            float(candidates.max(initial=-math.inf)),
        )

    def merge(self, other: Extent) -> Extent:
        """The extent of both sets of users."""
        return Extent(
            self.rows + other.rows,
            self.users_with_rows + other.users_with_rows,
            max(self.highest_value, other.highest_value),
            min(self.lowest_rating, other.lowest_rating),
            max(self.highest_rating, other.highest_rating),
            max(self.most_candidates, other.most_candidates),
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """What the first pass brings.

    Args:
        moments: one per cell.
        tallies: one per run of an estimator.
        carried: one per run: the pairs that carry each metric's number for each model.
        totals: column sums.
        replicates: bootstrap column sums, (replicates, columns).
        x: the per-user columns themselves, kept on request.
        predictions: how far an outcome model's predictions for listed pairs reach.
        extent: how many rows there are, and how far their values reach.
    """

    moments: tuple[Moments, ...]
    tallies: tuple[Tally, ...]
    carried: tuple[Carried, ...]
    totals: Floats
    replicates: Floats | None = None
    x: tuple[Floats, ...] = ()
    predictions: PredictionRange = NO_PREDICTIONS
    extent: Extent = field(default_factory=Extent)

    def merge(self, other: Sums) -> Sums:
        """The sums of both sets of users."""
        return Sums(
            tuple(a.merge(b) for a, b in zip(self.moments, other.moments, strict=True)),
            tuple(a.merge(b) for a, b in zip(self.tallies, other.tallies, strict=True)),
            tuple(a.merge(b) for a, b in zip(self.carried, other.carried, strict=True)),
            self.totals + other.totals,
            _both(self.replicates, other.replicates),
            self.x + other.x,
            self.predictions.merge(other.predictions),
            self.extent.merge(other.extent),
        )


@dataclass(frozen=True, eq=False)
class TippingSums:
    """What the second pass brings: column sums, sums of their squares or products, and column sums per replicate.

    Worst cases on a grid need squares only; closed forms are sums of columns, and need products.
    """

    totals: Floats
    products: tuple[Floats, ...]
    replicates: Floats | None = None

    def merge(self, other: TippingSums) -> TippingSums:
        """The sums of both sets of users."""
        products = tuple(a + b for a, b in zip(self.products, other.products, strict=True))
        return TippingSums(self.totals + other.totals, products, _both(self.replicates, other.replicates))


def _both(a: Floats | None, b: Floats | None) -> Floats | None:
    return None if a is None or b is None else a + b
