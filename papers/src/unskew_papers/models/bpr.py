"""Bayesian personalised ranking (Rendle, Freudenthaler, Gantner & Schmidt-Thieme 2009), as Cornac runs it.

    score(u, i) = v_u·w_i + b_i,     loss of (u, p, n) = log(1 + e^−(z_p − z_n))

An epoch draws as many triples as there are positives: a positive (u, p), and an item n out of all; where the user has n
too, the draw is lost. Every step has the same size (``kernels/constant_rate.py``). Factors start uniform in ±½/dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew import models
from unskew.core import option
from unskew.kernels import mix
from unskew_papers.kernels import constant_rate as kernel
from unskew_papers.models.base import Pairs, Recipe, Started, both_sides
from unskew_papers.models.options import DIM, PENALTY, RATE, ROUNDS, SEED


class Pairwise(Recipe):
    """What bpr and mmmf share: triples are drawn, and items have offsets."""

    rate: float
    l2: float
    offsets = True
    hinge = False

    def _start(self, pairs: Pairs) -> Started:
        users, items = both_sides(pairs, self.dim, self.seed, 0.0, 1.0 / self.dim, more=1)
        users[:, self.dim] = 1.0
        given = pairs.user, pairs.item, pairs.log.indptr, pairs.log.item, np.argsort(pairs.log.items.hashes)
        steps = self.dim, np.float32(self.rate), np.float32(self.l2)
        counter = np.array([mix(np.uint64(self.seed))], dtype=np.uint64)

        def epoch() -> float:
            loss, _ = kernel.pairwise_epoch(self.hinge, *given, users, items, *steps, counter)
            return float(loss)

        return Started(users, items, epoch)

    def _unknown(self, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """None: items without positives were drawn as others, and learnt that nobody has them."""
        return np.zeros(len(pairs.log.items), dtype=np.bool_)


@models.register
@dataclass(eq=False, repr=False)
class BPR(Pairwise):
    """Rank positives over all other items, by stochastic gradient descent on random triples.

    Users without positives, or unknown to the training log, get the items with the largest offsets.
    """

    dim: int = option(50, DIM, "factors")
    epochs: int = option(100, ROUNDS, "each of as many draws as there are positives")
    rate: float = option(0.05, RATE, "size of every step")
    l2: float = option(0.01, PENALTY, "penalty of the rows that a step moves")
    seed: int = option(0, SEED, "of the start and all draws")

    name = "bpr"
