"""Self-normalised inverse propensity scoring (schnabel16 Eq. 11; gs23 §3.1).

    per_user       Σ rλ / Σ r          per_user_sum   (Σ_u |C_u| / Σ_O r) · Σ r y λ / U          r = 1/P

Any constant factor of P cancels, so relative propensities will do. Over a handful of clicks a user's own ratio leans
towards naive (with one click it is naive); ``pooled`` does not suffer from that.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import Batch, Estimator, Need, Term, Tilt, pairs
from unskew.estimators.target import Target


@dataclass(frozen=True)
class SNIPS(Estimator):
    """Weigh by one over the propensity, and divide by the sum of the weights."""

    name = "snips"

    def needs(self, target: Target) -> frozenset[Need]:
        """Propensities; for sums also the seen zeros and the number of candidates."""
        if target is Target.PER_USER_SUM:
            return frozenset({Need.PROPENSITY, Need.ZEROS, Need.CANDIDATES})
        return frozenset({Need.PROPENSITY})

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        few = "; leans towards naive for users with few clicks" if target is Target.PER_USER else ""
        return f"consistent if the propensities are right up to a constant{few}"

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """Weight 1/P over the sum of 1/P."""
        inverse = batch.inverse
        return (Term(inverse, pairs(inverse), tilt=Tilt(inverse)),)
