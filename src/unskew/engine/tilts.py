"""Per-user columns for tipping points: how each row pulls for one model or the other, if propensities were wrong.

Computed for chosen pairs of models in a second pass, when it is known which of the two is ahead. What an outcome model
says of the lists pulls too, but does not depend on propensities: its sums stand in the first pass (``settled``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.engine.arm import Arm, divisor_of
from unskew.engine.held import Floats, Ranked
from unskew.engine.rated import RatedArm
from unskew.engine.summed import SummedArm
from unskew.estimators.base import Batch, Normaliser
from unskew.estimators.target import Target
from unskew.inference.tipping import CLOSED, GRID
from unskew.kernels.sums import group_mean
from unskew.kernels.tilts import signed_sums, worst_ratios
from unskew.metrics import RatingMetric, Shape


@dataclass(frozen=True, eq=False)
class Pull:
    """One pair of models on one additive metric of an arm.

    Args:
        a, b: the models' places.
        sign: +1 if a is ahead, −1 if b is.
        grid: whether the worst case is taken inside each user (per-user ratios).
        start: the first of its columns.
        cell: the place of the metric's cell.
        place: of the pull among all of them.
    """

    arm: Arm | RatedArm | SummedArm
    metric: int
    a: int
    b: int
    sign: float
    grid: bool
    start: int
    cell: int
    place: int = 0

    @property
    def width(self) -> int:
        """How many columns it fills."""
        return len(GRID) if self.grid else CLOSED

    @property
    def columns(self) -> slice:
        """Its columns."""
        return slice(self.start, self.start + self.width)


def has_tilt(arm: Arm | RatedArm | SummedArm, metric: int) -> bool:
    """Whether a tipping point exists: additive metrics of estimators whose weights come from propensities."""
    asked = arm.metrics[metric]
    additive = isinstance(asked, RatingMetric) or asked.shape is Shape.ADDITIVE
    return arm.estimator.bends and additive and arm.target is not Target.SUM_PER_USER


def fill_pulls(pulls: Sequence[Pull], batch: Batch, ranked: Sequence[Ranked], relative: bool, x: Floats) -> None:
    """Fill the columns of all pulls of one arm."""
    arm = pulls[0].arm
    (term,) = arm.estimator.terms(batch, arm.target)
    assert term.tilt is not None
    bent = relative if term.tilt.relative is None else term.tilt.relative
    fixed = 0.0 if bent else 1.0
    divisor = np.ones(batch.users)
    counted = arm.counted(batch)
    if arm.target is Target.PER_USER and term.divisor.kind is Normaliser.OWN:
        divisor = divisor_of(term.divisor, batch)
    for pull in pulls:
        d = arm.gap(batch, ranked[pull.a], ranked[pull.b], pull.metric)
        if term.tilt.groups is not None:
            groups, count = term.tilt.groups
            mean = np.empty_like(d)
            group_mean(batch.indptr, groups, count, d, counted, mean)
            d = mean
        out = np.empty((batch.users, pull.width))
        if pull.grid:
            worst_ratios(batch.indptr, fixed, term.tilt.inverse, counted, d, pull.sign, GRID, out)
        else:
            signed_sums(batch.indptr, fixed, term.tilt.inverse, counted, d, divisor, out)
        x[:, pull.start : pull.start + pull.width] = out


def settled(pull: Pull, sums: Floats) -> Floats:
    """Q of a pair, from column sums of the first pass, (…, columns): what the guesses say for a against b."""
    columns = pull.arm.guesses(pull.metric) if isinstance(pull.arm, SummedArm) else None
    if columns is None:
        return np.zeros(sums.shape[:-1])
    return np.asarray(sums[..., columns[pull.a]] - sums[..., columns[pull.b]])
