"""Per-user columns for tipping points: what each row says for one model or the other, if propensities were wrong.

Computed for chosen pairs of models in a second pass, when it is known which of the two is ahead. What an outcome model
predicts for the lists counts too, but does not depend on propensities: its sums stand in the first pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.engine.data import Ranked
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.summand import divisor_of
from unskew.estimators.base import Batch, Normaliser
from unskew.inference.tipping import CLOSED, GRID
from unskew.kernels.arrays import Floats, present
from unskew.kernels.sensitivity import signed_sums, worst_ratios
from unskew.kernels.sums import group_mean


@dataclass(frozen=True, eq=False)
class ModelPair:
    """Two models on one metric of an estimator's run, and where the columns of their comparison stand.

    Args:
        a, b: the models' places.
        sign: +1 if a is ahead, −1 if b is.
        start: the first of its columns.
        cell: the place of the metric's cell.
        place: of the pair among all of them.
    """

    run: EstimatorRun
    metric: int
    a: int
    b: int
    sign: float
    start: int
    cell: int
    place: int = 0

    @property
    def on_grid(self) -> bool:
        """Whether the worst case is found inside each user on a grid: of ratios whose divisor varies with weights."""
        return self.run.inside_users and self.run.traits.divisors == (Normaliser.PAIRS,)

    @property
    def width(self) -> int:
        """How many columns it fills."""
        return len(GRID) if self.on_grid else CLOSED

    @property
    def columns(self) -> slice:
        """Its columns."""
        return slice(self.start, self.start + self.width)

    def listed_lead(self, sums: Floats) -> Floats:
        """What predictions for the lists say for a against b, from column sums of the first pass, (…, columns)."""
        columns = self.run.listed_outcomes(self.metric)
        if columns is None:
            return np.zeros(sums.shape[:-1])
        return np.asarray(sums[..., columns[self.a]] - sums[..., columns[self.b]])


def fill_pairs(pairs: Sequence[ModelPair], batch: Batch, ranked: Sequence[Ranked], relative: bool, x: Floats) -> None:
    """Fill the columns of all pairs of one run; ``relative`` says whether propensities are known up to a factor."""
    run = pairs[0].run
    (term,) = run.estimator.terms(batch, run.target)
    varied = present(term.sensitivity)
    fixed = 0.0 if (relative if varied.relative is None else varied.relative) else 1.0
    counted = term.counted(batch, run.target)
    divisor = divisor_of(term, batch, run.target) if run.divided else np.ones(batch.users)
    for pair in pairs:
        d = run.sums.difference(batch, ranked[pair.a], ranked[pair.b], pair.metric)
        if varied.groups is not None:
            groups, count = varied.groups
            mean = np.empty_like(d)
            group_mean(batch.indptr, groups, count, d, counted, mean)
            d = mean
        out = x.T[pair.columns]
        if pair.on_grid:
            worst_ratios(batch.indptr, fixed, varied.inverse, counted, d, pair.sign, GRID, out)
        else:
            signed_sums(batch.indptr, fixed, varied.inverse, counted, d, divisor, out)
