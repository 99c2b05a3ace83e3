"""A shop that answers: pairs are shown in an exploration slot, and the world's own relevance comes back.

    value = 1 if the pair is relevant, 0 if not, null where nobody answered

Whether somebody answers is a hash of (seed, user, item), independent of relevance: asking in another order changes
nothing.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.core.bounds import Number
from unskew.core.errors import InputError
from unskew.kernels.hashing import pair_uniform
from unskew.log.ids import stream_of
from unskew.simulate.world import World

UNANSWERED = 0.05


def answer(world: World, asked: pl.DataFrame, *, unanswered: float = UNANSWERED, seed: int = 0) -> pl.DataFrame:
    """The table of questions (``user, item, …``) with a column ``value``: what the users of this world say.

    Args:
        asked: what a plan drew.
        unanswered: the chance that nobody answers.
        seed: picks who does not.
    """
    silent = float(Number(low=0.0, below=1.0).of(unanswered, "unanswered"))
    full = world.full_log()
    user, item = full.users.encode(asked["user"]), full.items.encode(asked["item"])
    if unknown := int(np.count_nonzero((user < 0) | (item < 0))):
        raise InputError(
            f"{unknown:,} of {len(asked):,} pairs name a user or an item that this world does not have.",
            code="unknown-id",
        )
    width = np.int64(len(full.items))
    relevant = np.isin(user * width + item, full.user * width + full.item)
    draws = pair_uniform(stream_of(f"answers {seed}"), full.users.hashes[user], full.items.hashes[item])
    value = pl.Series("value", relevant.astype(np.float64))
    return asked.with_columns(pl.when(pl.Series(draws >= silent)).then(value).otherwise(None).alias("value"))
