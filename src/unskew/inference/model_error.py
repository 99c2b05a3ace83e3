"""How the error of a fitted model enters an estimate (MATHS §15).

    R = N/D with q(θ) in both:   dR/dθ = g = Σ over unseen candidates of q(1 − q) h x,   h = (λ − R)/D
    θ̂ − θ ≈ H⁻¹ Σ_u s_u          so user u adds gᵀH⁻¹ s_u to (N_u − R D_u)/D

The scores s_u are columns of a cell like any other; here is what makes their gradient, as sums that merge. A model
that was fitted to more users than a table holds (a segment) carries the error of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unskew.kernels.arrays import Floats


@dataclass(frozen=True, eq=False)
class ModelError:
    """The derivatives of one cell's sums by the model's coefficients.

    Args:
        numerators: Σ q(1 − q) λ x over the unseen pairs of each model's lists, (models, features).
        divisor: Σ q(1 − q) x over all unseen candidates; 0 where the divisor holds no predictions.
        inverse: H⁻¹.
        outer: Σ s sᵀ over all users that the model was fitted to.
    """

    numerators: Floats
    divisor: Floats
    inverse: Floats
    outer: Floats

    def merge(self, other: ModelError) -> ModelError:
        """The sums of both; the model is the same."""
        return replace(self, numerators=self.numerators + other.numerators, divisor=self.divisor + other.divisor)

    def gradients(self, values: Floats, divisor: float, users: int) -> Floats:
        """d estimate / d mean score, (models, features); ``divisor`` is the sum D over all ``users``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            g = (self.numerators - values[:, None] * self.divisor) / divisor
        return np.asarray(users * g @ self.inverse)

    def outside(self, within: Floats) -> Floats:
        """Σ s sᵀ over the users that a table does not hold, given that of its own."""
        return self.outer - within
