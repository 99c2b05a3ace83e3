"""Inverse propensity scoring (gs23 Eq. 2; saito20 Eq. 3; schnabel16 Eq. 10).

    per_user       Σ rλ / n_u          per_user_sum   Σ r y λ          per_pair   Σ_O rδ / Σ_u |C_u|          r = 1/P

Unbiased when P is right and positive wherever something is relevant; its variance grows with the largest r.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import OWN, Batch, Estimator, Need, Sensitivity, Standing, Term
from unskew.estimators.target import Target


@dataclass(frozen=True)
class IPS(Estimator):
    """Weigh each seen interaction by one over its propensity, and divide by what is known to be there."""

    name = "ips"
    claim = Standing.UNBIASED, "unbiased if the propensities are right"

    def needs(self, target: Target) -> frozenset[Need]:
        """Absolute propensities, unless sums are normalised; n_u, or for averages over pairs |C_u|."""
        if target.normalised:
            return frozenset({Need.PROPENSITY})
        divisor = {Target.PER_USER_SUM: set[Need](), Target.PER_PAIR: {Need.CANDIDATES}}.get(target, {Need.RELEVANT})
        return frozenset({Need.PROPENSITY, Need.ABSOLUTE} | divisor)

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        ratio = "consistent if the propensities are right up to a constant"
        return ratio if target is Target.SUM_POOLED else super().promise(target)

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """Weight 1/P over the target's own divisor."""
        inverse = batch.inverse
        return (Term(inverse, OWN, sensitivity=Sensitivity(inverse)),)
