"""Σ q over each user's candidates from a few of them, where all pairs are too many to be walked (MATHS §16).

    D̂_u = I/m Σ over m draws of q(u, i) · 1{i is a candidate of u}       i uniform over the catalogue of I items

Unbiased for every user, whatever q is, and independent between users: what the draws add to the spread of D̂_u is in
every error that is clustered by user. With four draws for each of a million users Σ D̂ is known to a few thousandths.
Randomness is a hash of the user's id, so that neither order nor threads matter.
"""

from __future__ import annotations

import numpy as np

from unskew.core.threads import Threads
from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids, Log
from unskew.log.ids import stream_of
from unskew.log.recommendations import exclusions
from unskew.outcome.base import Outcome

FULL = 50_000_000  # pairs that are all added up
SAMPLE = 4_000_000  # pairs that are drawn where there are more
FEWEST = 4  # draws of each user
BLOCK = 1_000_000  # pairs that are asked about together


def draws_for(users: int, items: int) -> int:
    """How many pairs of each user are drawn; 0 where all are added up."""
    return 0 if users * items <= FULL else max(FEWEST, -(-SAMPLE // users))


def sampled_totals(
    model: Outcome, users: Ids, items: Ids, seen: Log | None, draws: int, threads: int | None = None
) -> Floats:
    """An unbiased Σ q of every user, from so many draws each."""
    ask, (start, gone) = model.bind(users, items), exclusions(seen, users, items)
    hashes, stream = users.hashes, stream_of("sampled totals")

    step = max(1, BLOCK // draws)

    def one(low: int) -> Floats:
        high = min(low + step, len(users))
        who = np.repeat(np.arange(low, high, dtype=np.int32), draws)
        place = np.tile(np.arange(draws, dtype=np.uint64), high - low)
        drawn = pair_uniform(stream, hashes[who], place)
        what = np.minimum((drawn * len(items)).astype(np.int32), len(items) - 1)
        order = np.lexsort((what, who))
        who, what = who[order], what[order]
        q = np.where(_excluded(who, what, start, gone, len(items)), 0.0, ask(who, what))
        return np.asarray(q.reshape(high - low, draws).sum(axis=1) * (len(items) / draws))

    with Threads(threads) as pool:
        return np.concatenate([np.empty(0), *pool.map(one, range(0, len(users), step))])


def _excluded(who: Ints32, what: Ints32, start: Ints64, gone: Ints32, items: int) -> Bools:
    """Which pairs are no candidates; ``who`` ascends."""
    if not len(who) or not len(gone):
        return np.zeros(len(who), dtype=np.bool_)
    low, high = int(who[0]), int(who[-1]) + 1
    mine = gone[start[low] : start[high]].astype(np.int64)
    owner = np.repeat(np.arange(low, high, dtype=np.int64), np.diff(start[low : high + 1]))
    return np.asarray(np.isin(who.astype(np.int64) * items + what, owner * items + mine))
