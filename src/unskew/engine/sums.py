"""What passes over the users bring: sums that merge, whatever the partition of the users and the order of merging."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import add

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.places import NO_PLACES, ListPlaces
from unskew.inference.draw_error import DrawSums
from unskew.inference.merging import Mergeable, merged_by
from unskew.inference.moments import Moments
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.inference.tally import Carried, Tally
from unskew.kernels.arrays import Floats


@dataclass(frozen=True)
class Extent(Mergeable):
    """How many rows there are, and how far values and candidates reach."""

    rows: int = 0
    users_with_rows: int = 0
    highest_value: float = merged_by(max, -math.inf)
    lowest_rating: float = merged_by(min, math.inf)
    highest_rating: float = merged_by(max, -math.inf)
    most_candidates: float = merged_by(max, -math.inf)

    @classmethod
    def of(cls, held: EvaluationData, low: int, high: int) -> Extent:
        """Of the users ``low`` … ``high − 1``; of samples the rows of all of them together."""
        rows = slice(held.indptr[low], held.indptr[high])
        rating = np.empty(0) if held.rating is None else held.rating[rows]
        candidates = np.empty(0) if held.candidates is None else held.candidates[low:high]
        return cls(
            int(rows.stop - rows.start) if held.draws is None else int(held.draws.times(rows).sum()),
            int(np.count_nonzero(np.diff(held.indptr[low : high + 1]))),
            float(held.value[rows].max(initial=-math.inf)),
            float(rating.min(initial=math.inf)),
            float(rating.max(initial=-math.inf)),
            float(candidates.max(initial=-math.inf)),
        )


NO_ROWS = Extent()


@dataclass(frozen=True, eq=False)
class Sums(Mergeable):
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
        draws: what averages over samples need besides; counts (tallies, carried, extent) are then those of all samples
            together.
        places: how full the lists are.
    """

    moments: tuple[Moments, ...]
    tallies: tuple[Tally, ...]
    carried: tuple[Carried, ...]
    totals: Floats
    replicates: Floats | None = None
    x: tuple[Floats, ...] = merged_by(add, ())
    predictions: PredictionRange = NO_PREDICTIONS
    extent: Extent = NO_ROWS
    draws: DrawSums | None = None
    places: ListPlaces = NO_PLACES


@dataclass(frozen=True, eq=False)
class TippingSums(Mergeable):
    """What the second pass brings: column sums, sums of their squares or products, and column sums per replicate.

    Worst cases on a grid need squares only; closed forms are sums of columns, and need products.
    """

    totals: Floats
    products: tuple[Floats, ...]
    replicates: Floats | None = None
    draws: DrawSums | None = None
