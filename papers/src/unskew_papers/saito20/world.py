"""ML-100K as a world of clicks and conversions whose rates are known (saito20 §5.1).

    R̂ = v_u·w_i + a_u + b_i + c, cut to [1, 5]         fitted to the ratings, squared loss
    Ô = σ(v_u·w_i + a_u + b_i + c)                      fitted to rated or not, over all pairs
    P^cvr = ε + (1 − ε) (2^R − 1) / (2^Rmax − 1)        R = R̂ − 1, ε = .1
    P^ctr = Ô^power
    q     = P^cvr + Unif(−b, b), cut to [0, 1]          b = bound

The text has R = R̂ in the exponents, the author's code R̂ − 1; Table 3 is that of the code (``table3``). The text has the
cut of q the wrong way round, and CTR for CVR in it, which would make q constant. The text draws the noise for every
pair; the code draws one number for all items of a user. Both are here (``Noise``).
R̂ and Ô are matrix factorisations by Adam, plain and logistic, as saito20 ran it (``outcome/adam.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from unskew.log import Ids, Log
from unskew_papers.arrays import Codes, Floats, present
from unskew_papers.models.adam import AdamMF, factorise
from unskew_papers.saito20.dense import Flags

LOWEST, HIGHEST = 1.0, 5.0
EPSILON = 0.1
TRAINING = 0.7  # a click is training with this probability, else validation


def probabilities(
    user: Codes, item: Codes, y: Floats, weight: Floats, shape: tuple[int, int], options: AdamMF
) -> Floats:
    """σ(v_u·w_i + a_u + b_i + c) of every pair, fitted to some rows."""
    z = _logits(*factorise(user, item, y, weight, shape, options))
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


def values(user: Codes, item: Codes, y: Floats, shape: tuple[int, int], options: AdamMF) -> Floats:
    """v_u·w_i + a_u + b_i + c of every pair, fitted to some rows with squared loss."""
    return _logits(*factorise(user, item, y, np.ones(len(y)), shape, options, squared=True))


def every_pair(shape: tuple[int, int]) -> tuple[Codes, Codes]:
    """Users and items of all pairs, row by row."""
    user, item = np.divmod(np.arange(shape[0] * shape[1], dtype=np.int32), np.int32(shape[1]))
    return user, item


def _logits(user: Floats, item: Floats, level: float) -> Floats:
    return np.asarray(user[:, :-1] @ item[:, :-1].T + user[:, -1:] + item[:, -1] + level)


class Noise(StrEnum):
    """For what one number of noise is drawn."""

    PAIR = "pair"
    USER = "user"


class Clicks(NamedTuple):
    """One draw: clicks in training and in validation, and conversions of all pairs, clicked or not."""

    train: Flags
    validation: Flags
    converted: Flags


@dataclass(frozen=True, eq=False)
class World:
    """Completed ratings and probabilities of being rated, [user, item]."""

    users: Ids
    items: Ids
    rating: Floats
    rated: Floats

    @cached_property
    def cvr(self) -> Floats:
        """P(conversion) as in the code."""
        return conversion_rate(self.rating - LOWEST)

    def ctr(self, power: float) -> Floats:
        """P(click)."""
        return np.asarray(self.rated**power)

    def draw(self, power: float, seed: int) -> Clicks:
        """Clicks and conversions; conversions and the split do not depend on power."""
        rng = np.random.default_rng([seed, 1])
        converted = rng.random(self.rating.shape) < self.cvr
        train = rng.random(self.rating.shape) < TRAINING
        clicked = rng.random(self.rating.shape) < self.ctr(power)
        return Clicks(clicked & train, clicked & ~train, converted)


def world_of(log: Log, seed: int = 0) -> World:
    """Complete a log of ratings; another seed is another start of the factorisations."""
    shape, options = (len(log.users), len(log.items)), AdamMF(seed=seed)
    rating = np.clip(values(log.user, log.item, present(log.value), shape, options), LOWEST, HIGHEST)
    rated = np.zeros(shape)
    rated[log.user, log.item] = 1.0
    rated = probabilities(*every_pair(shape), rated.ravel(), np.ones(rated.size), shape, options)
    return World(log.users, log.items, rating, rated)


def conversion_rate(rating: Floats) -> Floats:
    """ε + (1 − ε)(2^R − 1)/(2^Rmax − 1)."""
    return np.asarray(EPSILON + (1.0 - EPSILON) * (2.0**rating - 1.0) / (2.0 ** rating.max() - 1.0))


def guess(cvr: Floats, bound: float, noise: Noise, rng: np.random.Generator) -> Floats:
    """q: the right rate with noise, cut to [0, 1]."""
    shape = cvr.shape if noise is Noise.PAIR else (len(cvr), 1)
    return np.clip(cvr + rng.uniform(-bound, bound, shape), 0.0, 1.0)
