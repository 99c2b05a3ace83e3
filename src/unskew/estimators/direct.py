"""Direct estimator: what an outcome model says of the recommended items, and nothing else.

    per_user_sum   Σ over the list  q λ          q a model's guess of E[y]

No variance from weights, and all the bias of the model: right only where the model is.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import OWN, Batch, Estimator, Need, Standing, Term
from unskew.estimators.target import Target


@dataclass(frozen=True)
class Direct(Estimator):
    """Believe the outcome model."""

    name = "direct"
    valid = frozenset(target for target in Target if target.sums)
    always_needs = frozenset({Need.OUTCOME, Need.LISTS})
    claim = Standing.MODEL, "right if the outcome model is right; its intervals know nothing of the model's errors"

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses alone."""
        return (Term(None, OWN, listed=True),)
