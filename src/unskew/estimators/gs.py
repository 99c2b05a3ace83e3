"""Generalized stratified estimator (gs23, Eqs. 5–6).

    ŵ_ui = mean of 1/P over the user's seen relevant items in the stratum of i
    R̂_u  = Σ ŵ_ui λ(Z_ui) / Σ 1/P_ui

One stratum is the naive estimator, one click per stratum is snips: the number of strata trades variance for bias.
With graded values the mean is weighted by y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from unskew.core.parts import option
from unskew.estimators.base import Batch, Estimator, Need, Sensitivity, Standing, Term, pairs
from unskew.estimators.strata import GROUPS, Strata
from unskew.estimators.summary import Summary
from unskew.estimators.target import Target
from unskew.kernels.sums import group_mean


@dataclass(frozen=True)
class GeneralizedStratified(Estimator):
    """Average inverse propensities inside strata of similar propensity.

    Args:
        strata: how pairs are grouped; ``5`` means five quantile bins of the propensity.
    """

    strata: Strata = option(Strata, GROUPS, "how pairs are grouped", unnamed=True)

    name = "gs"
    valid = frozenset({Target.PER_USER, Target.POOLED})
    always_needs = frozenset({Need.PROPENSITY})
    claim = Standing.BIASED, "less variance than snips, some bias towards naive"

    def prepare(self, summary: Summary) -> Self:
        """Fix the strata's edges."""
        return replace(self, strata=self.strata.fit(summary))

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The stratum's mean of 1/P over the sum of 1/P."""
        inverse, groups = batch.inverse, self.strata.of(batch)
        mean = np.empty_like(inverse)
        group_mean(batch.indptr, groups, self.strata.count, inverse, batch.value, mean)
        return (Term(mean, pairs(inverse), sensitivity=Sensitivity(inverse, groups=(groups, self.strata.count))),)
