"""The random numbers behind a split: one per row, from the texts of its user and item."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.bounds import SEED
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.log.ids import hash_texts


def draws(log: Log, purpose: str, seed: int) -> npt.NDArray[np.float64]:
    """A uniform number for each row that depends on (purpose, seed, the log's share, user, item) and nothing else.

    The purpose keeps splits apart from each other and from the hash that breaks ties between equal scores: if both
    were one, a recommender that scores everything alike would list exactly the held-out items first. The share keeps
    a split of a part independent of the split that made the part; a part that time has cut has no share, but what
    random splits drew before and after the cut.
    """
    log, seed = a_log(log), int(SEED.of(seed, "the seed"))
    past = f"{log.drawn} cut by time" if log.cut_by_time else log.share
    stream = hash_texts(pl.Series([f"{purpose} {seed} {past}"]))[0]
    return pair_uniform(stream, log.users.hashes[log.user], log.items.hashes[log.item])
