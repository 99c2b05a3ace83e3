"""Self-normalised doubly robust estimator: dr whose correction is divided by the sum of its weights.

    per_user_sum   Σ over the list q λ / U  +  (Σ_u |C_u| / Σ_O r) · Σ_O r (y − q) λ / U          r = 1/P

Any constant factor of P cancels, so relative propensities will do.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import OWN, Batch, Estimator, Need, Standing, Term, pairs
from unskew.estimators.target import Target


@dataclass(frozen=True)
class SNDR(Estimator):
    """Guess every listed pair, and correct the guess by the self-normalised error on seen ones."""

    name = "sndr"
    valid = frozenset({Target.PER_USER_SUM})
    always_needs = frozenset({Need.PROPENSITY, Need.OUTCOME, Need.LISTS, Need.ZEROS, Need.CANDIDATES})
    claim = (
        Standing.CONSISTENT,
        "consistent if the propensities are right up to a constant, or the outcome model is right",
    )

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses; and 1/P on their errors over the sum of 1/P."""
        inverse = batch.inverse
        return Term(None, OWN, listed=True), Term(inverse, pairs(inverse), residual=True)
