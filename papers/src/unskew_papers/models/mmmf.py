"""Maximum margin matrix factorisation with a ranking loss (Weimer, Karatzoglou & Smola 2008), as Cornac runs it.

    score(u, i) = v_u·w_i + b_i,     loss of (u, p, n) = max(0, z_n − z_p)

Triples are drawn as by ``bpr``, and those in the right order are left alone. Cornac's margin is 0, not 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew import models
from unskew.core import option
from unskew_papers.models.bpr import Pairwise
from unskew_papers.models.options import DIM, PENALTY, RATE, ROUNDS, SEED


@models.register
@dataclass(eq=False, repr=False)
class MMMF(Pairwise):
    """Rank positives over all other items, by steps for those random triples that are in the wrong order.

    Users without positives, or unknown to the training log, get the items with the largest offsets.
    """

    dim: int = option(50, DIM, "factors")
    epochs: int = option(100, ROUNDS, "each of as many draws as there are positives")
    rate: float = option(0.05, RATE, "size of every step")
    l2: float = option(0.01, PENALTY, "penalty of the rows that a step moves")
    seed: int = option(0, SEED, "of the start and all draws")

    name = "mmmf"
    hinge = True
