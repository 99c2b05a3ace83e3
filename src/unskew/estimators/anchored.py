"""Anchored (MATHS §16): what the log shows, what a model guesses of the rest, and answers that correct the guess.

    N_u = Σ_L yλ + Σ_{C∖L} qλ + Σ_S (y − q)λ/π        D_u the same with λ = 1
    per_user_sum  Σ N / U          pooled  Σ N / Σ D

S are pairs that were drawn with known probability π, shown and answered; L is the held-out log, where all that was seen
is in it. A difference of two models needs only pairs to which their lists give different worth. It is ``dr`` on the log
of both with P = 1 on L and P = π on S: no propensity of the log is needed, and q may be anything that was fitted
without the pair's own answer. Where the log holds positives only, it enters through q alone (``alignment/answers.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.estimators.base import OWN, Batch, Estimator, Need, Standing, Term, users
from unskew.estimators.target import Target
from unskew.kernels.arrays import Floats, present


@dataclass(frozen=True)
class Anchored(Estimator):
    """Guess every pair, and correct the guess by answers that were asked for with known probabilities."""

    name = "anchored"
    claim = Standing.ANSWERED, "unbiased if inclusion probabilities are right and all questions were answered"
    valid = frozenset({Target.POOLED, Target.PER_USER_SUM, Target.SUM_POOLED})
    always_needs = frozenset({Need.ANSWERS, Need.LISTS})

    def promise(self, target: Target) -> str:
        """What may be claimed: ratios of unbiased sums are consistent."""
        return self.claim[1] if target is Target.PER_USER_SUM else self.claim[1].replace("unbiased", "consistent")

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses, and 1/P on their errors; ``batch`` holds the rows of the log and the answers."""
        inverse = batch.inverse
        divisor = users(_totals(batch, inverse)) if target is Target.POOLED else OWN
        return (Term(inverse, divisor, residual=True, listed=True),)


def _totals(batch: Batch, inverse: Floats) -> Floats:
    """D_u, the estimated relevant candidates of every user."""
    errors = inverse * (batch.value - present(batch.q))
    user = np.repeat(np.arange(batch.users), np.diff(batch.indptr))
    return np.asarray(present(batch.q_total) + np.bincount(user, errors, batch.users))
