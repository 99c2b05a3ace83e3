"""Probabilistic matrix factorisation (Salakhutdinov & Mnih 2007), as Cornac runs it: RMSProp, pair by pair.

    linear       y ≈ v_u·w_i
    nonlinear    y ≈ 1/(1 + e^−v_u·w_i),   y scaled to 0 … 1 by the least and the largest value

Both order a user's items by v·w. Pairs that are not in the log are not looked at. RMSProp divides every step by the
usual size of its slopes (``kernels/rmsprop.py``), so that factors move by about ``rate`` whenever their row is met:
rows that are met often go far. Factors start uniform with a standard deviation of 0.001, where Cornac's are normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, get_args

import numpy as np

from unskew import models
from unskew.core import Flag, Words, option
from unskew_papers.kernels import rmsprop as kernel
from unskew_papers.models.base import Pairs, Singles, Started, ValueRecipe, both_sides
from unskew_papers.models.options import DECAY, DIM, PENALTY, RATE, ROUNDS, SEED

SPREAD = 0.001

Variant = Literal["linear", "nonlinear"]


@models.register
@dataclass(eq=False, repr=False)
class PMF(ValueRecipe):
    """Factors whose products, or a sigmoid of them, come near y, for the pairs of the log alone.

    Users without pairs, or unknown to the training log, score 0 everywhere: their lists are random. Items without pairs
    score 0 for everybody.
    """

    dim: int = option(50, DIM, "factors")
    variant: Variant = option("nonlinear", Words(get_args(Variant)), "products as they are, or through a sigmoid")
    epochs: int = option(2, ROUNDS, "passes over the pairs")
    rate: float = option(0.001, RATE, "about how far a row moves when it is met")
    decay: float = option(0.9, DECAY, "weight of earlier slopes in their usual size", changed=True)
    l2: float = option(0.001, PENALTY, "penalty of the rows that a step moves")
    values: bool = option(False, Flag(), "learn the log's values, instead of 1 for every positive", changed=True)
    seed: int = option(0, SEED, "of the start, and of the order of pairs")

    name = "pmf"

    def _start(self, pairs: Pairs) -> Started:
        users, items = both_sides(pairs, self.dim, self.seed, 0.0, SPREAD * sqrt(12.0))
        sigmoid = self.variant == "nonlinear"
        y = _between_0_and_1(pairs.y) if sigmoid else pairs.y
        given = sigmoid, pairs.user, pairs.item, y, users, items, np.zeros_like(users), np.zeros_like(items)
        steps = np.float32(self.rate), np.float32(self.decay), np.float32(self.l2)
        return Started(users, items, lambda: float(kernel.epoch(*given, *steps)))


def _between_0_and_1(y: Singles) -> Singles:
    """By the least and the largest value; where these are the same one, all are 1."""
    least, most = (float(f(initial=at)) for f, at in ((y.min, np.inf), (y.max, -np.inf)))
    return (y - np.float32(least)) / np.float32(most - least) if least < most else np.ones_like(y)
