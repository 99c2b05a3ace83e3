"""Who likes what, and who gets to see what: two laws, one for preferences and one for exposure.

    preference   P(relevant_ui) = Φ(base + breadth_u + appeal_i + x_u·y_i)
    exposure     P_ui = 1 − exp(−activity_u · reach_i),   reach_i ∝ (popularity rank of i)^(−skew)

Exposure is the chance of at least one impression when impressions of item i for user u are Poisson: always in (0, 1),
a power law for rarely shown items, saturated for the head. Appeal and log reach are correlated (what is shown much
is liked a little more), but the power law goes far beyond what appeal deserves: that is the bias. With breadth,
appeal and x·y normal, base = Φ⁻¹(share)·√(1 + their variance) makes the share of relevant items come out right on
average over users and catalogues.

The pairs of a world that matter are relevant ones, and those that were seen:

    relevant_ui ~ Bernoulli(Φ(preference_ui))     N(0, 1) < preference
    seen_ui     ~ Bernoulli(P_ui)                 Exponential(1) < activity · reach
    a seen pair is held out with probability s, else it is training

all independent. Users × items is drawn block by block of users, each block from a random stream of its own, so that
memory stays flat and neither threads nor the number of users change what a block draws.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from unskew.core.threads import Threads
from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers
from unskew.log.order import starts_of

TASTES = 8  # dimensions of x_u and y_i
TASTE = 0.9  # standard deviation of x_u·y_i
APPEAL = 0.5  # standard deviation of appeal_i
BREADTH = 0.7  # standard deviation of breadth_u
ACTIVITY = 4.0  # shape of the gamma law of activity_u, whose mean is 1
BLOCK = 128  # users per random stream; another number would be another world


class Catalogue(NamedTuple):
    """The items, common to all users that are ever drawn: appeal[i], taste[i, d] and reach[i]."""

    appeal: Floats
    taste: Floats
    reach: Floats

    @classmethod
    def draw(cls, items: int, impressions: float, skew: float, agreement: float, seed: int) -> Catalogue:
        """Items in an order that says nothing about them; an average user gets ``impressions`` in all."""
        rng = np.random.default_rng(np.random.SeedSequence(seed))
        place = rng.permutation(items) + 1.0
        reach = place**-skew
        shown = ndtri(1.0 - (place - 0.5) / items)  # the normal score of an item's exposure
        appeal = APPEAL * (agreement * shown + np.sqrt(1.0 - agreement**2) * rng.standard_normal(items))
        taste = rng.standard_normal((items, TASTES)) * (TASTE / np.sqrt(TASTES))
        return cls(appeal, taste, impressions * reach / reach.sum())


class Population(NamedTuple):
    """A sample of users, with the catalogue they meet."""

    catalogue: Catalogue
    base: float
    breadth: Floats
    taste: Floats
    activity: Floats

    @classmethod
    def draw(cls, catalogue: Catalogue, users: int, share: float, seed: np.random.SeedSequence) -> Population:
        """Fresh users, to whom a ``share`` of the catalogue is relevant on average."""
        rng = np.random.default_rng(seed)
        base = ndtri(share) * np.sqrt(1.0 + BREADTH**2 + APPEAL**2 + TASTE**2)
        breadth = BREADTH * rng.standard_normal(users)
        taste = rng.standard_normal((users, TASTES))
        return cls(catalogue, float(base), breadth, taste, rng.gamma(ACTIVITY, 1.0 / ACTIVITY, users))

    def preference(self, users: slice | Codes) -> Floats:
        """Φ⁻¹ of the probability that an item is relevant, for a block of users and all items."""
        preference = self.taste[users] @ self.catalogue.taste.T
        preference += self.catalogue.appeal
        preference += self.base + self.breadth[users, None]
        return np.asarray(preference)


class PairStatus(IntEnum):
    """What became of a pair."""

    UNSEEN = 0
    TRAIN = 1
    TEST = 2


class Pairs(NamedTuple):
    """Pairs by user, items ascending (CSR): which are relevant, where each ended up, and its P(seen)."""

    indptr: Integers
    item: Codes
    relevant: npt.NDArray[np.bool_]
    part: npt.NDArray[np.uint8]
    propensity: Floats


def draw(population: Population, test_share: float, zeros: bool, seed: np.random.SeedSequence) -> Pairs:
    """Draw relevance and sight of every pair; seen pairs that are not relevant are kept only with ``zeros``."""
    starts = range(0, len(population.activity), BLOCK)
    work = partial(_block, population, test_share, zeros)
    with Threads() as pool:
        blocks = list(pool.map(work, starts, seed.spawn(len(starts))))
    counts, item, relevant, part, propensity = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return Pairs(starts_of(counts), item, relevant, part, propensity)


def _block(
    population: Population, test_share: float, zeros: bool, start: int, seed: np.random.SeedSequence
) -> tuple[npt.NDArray[np.generic], ...]:
    rng = np.random.default_rng(seed)
    users = slice(start, start + BLOCK)
    preference = population.preference(users)
    rate = population.activity[users, None] * population.catalogue.reach
    relevant = rng.standard_normal(preference.shape) < preference
    seen = rng.standard_exponential(preference.shape) < rate
    kept = relevant | seen if zeros else relevant
    user, item = np.nonzero(kept)
    held_out = rng.random(len(user)) < test_share
    held = np.where(held_out, PairStatus.TEST, PairStatus.TRAIN)
    part = np.where(seen[kept], held, PairStatus.UNSEEN).astype(np.uint8)
    counts = np.bincount(user, minlength=len(preference))
    return counts, item.astype(np.int32), relevant[kept], part, -np.expm1(-rate[kept])
