"""The exposure path (MATHS §14): what holds whatever share of popularity comes from exposure.

    P_i ∝ n_i^a,  0 ≤ a ≤ 1        weights (n_i + (1 + a)/2)^−a, pooled:  R(a) = Σ w λ / Σ w

n_i counts training positives, or all seen training rows where these hold what was not liked too: it then measures
exposure itself. a = 0 says that popular items are popular because they are liked (naive), a = 1 that they are popular
because they were shown. Which a is right cannot be told from positives, so none is chosen: R(a) is computed on the
whole path. The shift (1 + a)/2 makes weights of noisy counts unbiased to second order; no floor is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from unskew.core.bounds import Number
from unskew.core.notice import Notice
from unskew.core.parts import option
from unskew.estimators.base import Batch, Estimator, Need, Sensitivity, Standing, Term, pairs
from unskew.estimators.scenarios import Axis, Scenario, Scenarios
from unskew.estimators.summary import Summary
from unskew.estimators.target import Target
from unskew.kernels.arrays import Floats, present

PATH = "path"
STEPS = 10
SHARE = Axis(
    "exposure",
    "share of popularity that comes from exposure",
    "{} of popularity comes from exposure",
    percent=True,
)


@dataclass(frozen=True)
class ExposurePath(Estimator):
    """Weigh by a power of popularity, for all powers between liked and shown.

    Args:
        at: one point of the path: the share of popularity that exposure explains; by default the whole path.
    """

    at: float | str = option(
        PATH, Number(low=0.0, high=1.0, words=(PATH,)), "one share of popularity that exposure explains", changed=True
    )
    table: Floats | None = field(default=None, compare=False, repr=False)  # weights by code of the row's count

    name = "exposure_path"
    valid = frozenset({Target.POOLED})

    def needs(self, target: Target) -> frozenset[Need]:
        """How often each item was seen in training."""
        return frozenset({Need.COUNTS})

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        if self.at == PATH:
            return "holds for every share of popularity that exposure may explain, if exposure follows popularity alone"
        return f"consistent if {self.assumption}"

    def standing(self, target: Target) -> Standing:
        """Nothing is chosen that the log cannot tell; a single point is an assumption."""
        return Standing.SCENARIOS if self.at == PATH else Standing.CONSISTENT

    @property
    def assumption(self) -> str:
        """How much of popularity comes from exposure, at one point of the path."""
        told = "" if self.at == PATH else f"exposure explains {SHARE.shown(float(self.at))} of popularity"
        return Notice(told, code="exposure-share", at=self.at) if told else ""

    def scenarios(self, target: Target) -> Scenarios | None:
        """Eleven shares of popularity."""
        if self.at != PATH:
            return None
        points = (replace(self, at=step / STEPS) for step in range(STEPS + 1))
        return Scenarios(
            axes=(SHARE,),
            points=tuple(Scenario((float(point.at),), point, target) for point in points),
            assumption=Notice(
                "how likely a relevant item was to be seen depends on its popularity alone", code="popularity-alone"
            ),
            not_covered=Notice(
                "The path does not cover exposure that has nothing to do with popularity, nor exposure chosen for "
                "each user: a model that resembles the recommender behind the log is then ahead on the whole path.",
                code="exposure-beyond-popularity",
            ),
        )

    @property
    def exponent(self) -> float:
        """a; the whole path is looked at from its end."""
        return 1.0 if self.at == PATH else float(self.at)

    def weights(self, counts: Floats) -> Floats:
        """The weight of items that were seen so often."""
        return np.asarray((counts + (1.0 + self.exponent) / 2.0) ** -self.exponent, dtype=np.float64)

    def item_propensity(self, counts: Floats) -> Floats:
        """P of items up to a factor."""
        return 1.0 / self.weights(counts)

    @property
    def counted_error(self) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Counts are Poisson; weights of rarely seen items are too small on average (``judging/count_error.py``)."""
        a = self.exponent

        def error(counts: Floats) -> tuple[Floats, Floats]:
            return a**2 / (counts + 0.5), (1.0 - np.exp(-(counts + 0.5))) ** -a

        return error

    def prepare(self, summary: Summary) -> Self:
        """Weights by code, once."""
        return replace(self, table=self.weights(present(summary.counts)))

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """A power of the count over the sum of these."""
        weight = present(self.table)[present(batch.counted)]
        return (Term(weight, pairs(weight), sensitivity=Sensitivity(weight, relative=True)),)
