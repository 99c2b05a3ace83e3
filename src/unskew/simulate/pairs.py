"""The pairs of a world that matter: relevant ones, and those that were seen.

    relevant_ui ~ Bernoulli(Φ(preference_ui))     N(0, 1) < preference
    seen_ui     ~ Bernoulli(P_ui)                 Exponential(1) < activity · reach
    a seen pair is held out with probability s, else it is training

all independent. Users × items is drawn block by block of users, each block from a random stream of its own, so that
memory stays flat and neither threads nor the number of users change what a block draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers
from unskew.log.order import starts_of
from unskew.simulate.population import Population
from unskew.threads import Threads

BLOCK = 128  # users per random stream; another number would be another world


class PairStatus(IntEnum):
    """What became of a pair."""

    UNSEEN = 0
    TRAIN = 1
    TEST = 2


@dataclass(frozen=True, eq=False)
class Pairs:
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
