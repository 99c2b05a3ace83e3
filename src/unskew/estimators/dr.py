"""Doubly robust estimator (saito20 Eq. 4): the outcome model's guess, corrected by what was seen.

    per_user_sum   Σ over the list  [ q + O r (y − q) ] λ                                r = 1/P
    per_pair       (1/Σ_u |C_u|) Σ over all candidates  [ q + O r (δ − q) ]              q a guess of δ, the pair's cost

Unbiased if the propensities are right, whatever the model, or if the model is right, whatever the propensities; less
variance than ips where 0 ≤ q ≤ 2 E[y] (saito20 Eq. 5). λ vanishes beyond the list, so q is asked for listed pairs only;
of costs it is asked for all candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import OWN, Batch, Estimator, Need, Sensitivity, Standing, Term
from unskew.estimators.target import Target


@dataclass(frozen=True)
class DR(Estimator):
    """Guess every listed pair, and correct the guess by the weighted error on seen ones."""

    name = "dr"
    claim = Standing.UNBIASED, "unbiased if the propensities or the outcome model are right"
    valid = frozenset(target for target in Target if target.sums or target is Target.PER_PAIR)
    always_needs = frozenset({Need.PROPENSITY, Need.ABSOLUTE, Need.OUTCOME, Need.LISTS, Need.ZEROS})

    def needs(self, target: Target) -> frozenset[Need]:
        """Lists, or for averages over pairs |C_u|."""
        always = super().needs(target)
        return always - {Need.LISTS} | {Need.CANDIDATES} if target is Target.PER_PAIR else always

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        words = super().promise(target)
        return words.replace("unbiased", "consistent") if target is Target.SUM_POOLED else words

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses, and 1/P on their errors."""
        inverse = batch.inverse
        return (Term(inverse, OWN, sensitivity=Sensitivity(inverse), residual=True, listed=True),)
