"""Non-negative matrix factorisation over seen pairs (Lee & Seung 2001), with Cornac's penalty and start.

    y ≈ v_u·w_i,  all factors ≥ 0,     loss = ½ Σ (y − ŷ)² + ½ l2 (Σ_u n_u |v_u|² + Σ_i n_i |w_i|²)

An epoch renews all users, then all items (``kernels/multiplicative.py``), and never raises the loss; Cornac renews both
at once. Factors start uniform in [0, 1). Pairs that are not in the log are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew import models
from unskew.core import Flag, option
from unskew_papers.arrays import starts_of
from unskew_papers.kernels import multiplicative as kernel
from unskew_papers.models.base import Pairs, Started, ValueRecipe, both_sides
from unskew_papers.models.options import DIM, PENALTY, ROUNDS, SEED


@models.register
@dataclass(eq=False, repr=False)
class NMF(ValueRecipe):
    """Factors of at least 0 whose products come near y, for the pairs of the log alone.

    Users without pairs, or unknown to the training log, score 0 everywhere: their lists are random. Items without pairs
    score 0 for everybody.
    """

    dim: int = option(50, DIM, "factors")
    epochs: int = option(200, ROUNDS, "each renews all users, then all items")
    l2: float = option(0.06, PENALTY, "penalty of a row, for each of its pairs")
    values: bool = option(False, Flag(), "learn the log's values, instead of 1 for every positive", changed=True)
    seed: int = option(0, SEED, "of the start")

    name = "nmf"
    _remedy = "Its values are too large; scale them down."

    def _start(self, pairs: Pairs) -> Started:
        users, items = both_sides(pairs, self.dim, self.seed, 0.5, 1.0)
        l2 = np.float32(self.l2)
        sides = []
        for own, other, many in (
            (pairs.user, pairs.item, len(users)),
            (pairs.item, pairs.user, len(items)),
        ):
            order = np.argsort(own, kind="stable")  # inside a row, in the order of hashes
            sides.append((starts_of(np.bincount(own, minlength=many)), other[order], pairs.y[order]))

        def epoch() -> float:
            kernel.renew(*sides[0], items, users, l2)
            return float(kernel.renew(*sides[1], users, items, l2)) / max(len(pairs.y), 1)

        return Started(users, items, epoch)
