"""Matrix factorisation by stochastic gradient descent (Koren, Bell & Volinsky 2009), without offsets and with them.

    plain_mf    y ≈ v_u·w_i                    Cornac's MF with use_bias=False, "MF" of gs23
    biased_mf   y ≈ v_u·w_i + a_u + b_i + c    Cornac's SVD, "SVD" of gs23; c is the mean of y

Pairs that are not in the log are not looked at: on positives alone y is 1 everywhere. From small factors, plain_mf then
grows as a power iteration does, so that popular items come first, until all products are near 1 and the order is that
of chance and penalty. For biased_mf nothing is left to learn at all, since c = 1: its lists are random, unless
``values`` gives it ratings. Factors start uniform with a standard deviation of 0.01, where Cornac's are normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from unskew import models
from unskew.core import Flag, option
from unskew_papers.kernels import constant_rate as kernel
from unskew_papers.models.base import Pairs, Started, ValueRecipe, both_sides
from unskew_papers.models.options import DIM, PENALTY, RATE, ROUNDS, SEED

SPREAD = 0.01


class Squared(ValueRecipe):
    """What both share."""

    rate: float
    l2: float

    def _start(self, pairs: Pairs) -> Started:
        users, items = both_sides(pairs, self.dim, self.seed, 0.0, SPREAD * sqrt(12.0), more=2 * self.offsets)
        level = np.float32(pairs.y.mean(dtype=np.float64)) if self.offsets and len(pairs.y) else np.float32(0.0)
        if self.offsets:
            users[:, self.dim], items[:, self.dim + 1] = 1.0, 1.0
        given = pairs.user, pairs.item, pairs.y - level, users, items
        steps = self.dim, self.offsets, np.float32(self.rate), np.float32(self.l2)
        return Started(users, items, lambda: float(kernel.squared_epoch(*given, *steps)))


@models.register
@dataclass(eq=False, repr=False)
class PlainMF(Squared):
    """Factors whose products come near y, for the pairs of the log alone.

    Users without pairs, or unknown to the training log, score 0 everywhere: their lists are random. Items without pairs
    score 0 for everybody.
    """

    dim: int = option(50, DIM, "factors")
    epochs: int = option(10, ROUNDS, "passes over the pairs")
    rate: float = option(0.01, RATE, "size of every step")
    l2: float = option(0.02, PENALTY, "penalty of the rows that a step moves")
    values: bool = option(False, Flag(), "learn the log's values, instead of 1 for every positive", changed=True)
    seed: int = option(0, SEED, "of the start, and of the order of pairs")

    name = "plain_mf"


@models.register
@dataclass(eq=False, repr=False)
class BiasedMF(Squared):
    """Factors and offsets that come near y, for the pairs of the log alone; of use with ``values`` only.

    Users without pairs, or unknown to the training log, get the items with the largest offsets. Items without pairs
    count as average ones.
    """

    dim: int = option(50, DIM, "factors")
    epochs: int = option(1, ROUNDS, "passes over the pairs")
    rate: float = option(0.01, RATE, "size of every step")
    l2: float = option(0.02, PENALTY, "penalty of the rows that a step moves")
    values: bool = option(False, Flag(), "learn the log's values, instead of 1 for every positive", changed=True)
    seed: int = option(0, SEED, "of the start, and of the order of pairs")

    name = "biased_mf"
    offsets = True
