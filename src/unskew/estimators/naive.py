"""Naive estimator (gs23 Eq. 1): what was seen, as if it were all.

    per_user       Σ yλ / Σ y          per_user_sum   Σ yλ          per_pair   Σ_O δ / |O|

Biased whenever what was seen depends on what was shown; shown beside the others so that the skew can be read off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.estimators.base import OWN, Batch, Estimator, Need, Sensitivity, Standing, Term, pairs
from unskew.estimators.target import Target


@dataclass(frozen=True)
class Naive(Estimator):
    """Every seen interaction counts the same."""

    name = "naive"
    claim = Standing.NAIVE, "describes what was seen; biased where exposure was uneven"

    def needs(self, target: Target) -> frozenset[Need]:
        """Nothing but the rows; for averages over pairs also those that brought nothing."""
        return frozenset({Need.ZEROS} if target is Target.PER_PAIR else ())

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """Weight one, over the number seen (or over nothing where the target is a sum)."""
        ones = np.ones(len(batch.value))
        divisor = OWN if target.sums else pairs(ones)
        return (Term(ones, divisor, sensitivity=Sensitivity(ones, relative=True)),)
