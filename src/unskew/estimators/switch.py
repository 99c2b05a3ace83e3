"""Switch estimator (Wang, Agarwal & Dudík 2017): dr where weights are small, the outcome model elsewhere.

    per_user_sum   Σ over the list  [ q + 1{r ≤ τ} O r (y − q) ] λ          r = 1/P

Biased on purpose: where 1/P exceeds τ the model is believed instead of corrected. The share of such pairs is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.bounds import Number
from unskew.core.parts import option
from unskew.core.spec import show
from unskew.estimators.base import OWN, Batch, Estimator, Need, Standing, Term
from unskew.estimators.target import Target
from unskew.kernels.arrays import present

TAU = Number(low=1.0, why="It is the largest weight 1/P, and P is at most 1.")


@dataclass(frozen=True)
class Switch(Estimator):
    """Correct the outcome model only where a seen pair does not weigh too much."""

    tau: float = option(10.0, TAU, "the largest weight 1/P at which the model is corrected", unnamed=True)

    name = "switch"
    valid = frozenset(target for target in Target if target.sums)
    # As dr: a threshold on 1/P means nothing for relative propensities.
    always_needs = frozenset({Need.PROPENSITY, Need.ABSOLUTE, Need.OUTCOME, Need.LISTS, Need.ZEROS})

    @property
    def unclippable(self) -> str:
        """A clip either changes nothing, or makes it another estimator."""
        return (
            f"limits its weights already: a clip below P = {1.0 / self.tau:.3g} changes nothing, and one from there on "
            "makes it clipped(dr, …). Use one of these."
        )

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        return f"biased on purpose where 1/P exceeds {show(self.tau)}; otherwise as dr"

    def standing(self, target: Target) -> Standing:
        """Leaving out large weights trades bias for spread."""
        return Standing.BIASED

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses, and 1/P on the errors of pairs that do not weigh too much."""
        inverse = batch.inverse
        kept = inverse <= self.tau
        left_out = int(np.count_nonzero(~kept & (batch.value != present(batch.q))))
        return (Term(np.where(kept, inverse, 0.0), OWN, raised=left_out, residual=True, listed=True),)
