"""The 32 candidate recommenders: 4 sizes × 2 penalties × 4 losses (saito20 Table 1), as lists of items.

They learn from training conversions alone, as in the author's code: 100 epochs at a rate of 1e-3 (the text says 1e-4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unskew.kernels import SEED, top_k
from unskew.log import Feedback, Ids, Log
from unskew_papers.arrays import Codes, Floats, starts_of
from unskew_papers.models import Factors
from unskew_papers.saito20.dense import Flags

DIMS, PENALTIES, LOSSES = (5, 20, 50, 100), (1e-2, 1e-4), ("logistic", "bpr", "warp", "warp-kos")


class Training(NamedTuple):
    """How candidates learn."""

    epochs: int = 100
    rate: float = 1e-3
    dims: tuple[int, ...] = DIMS

    def models(self, seed: int) -> list[Factors]:
        """All of them, not fitted."""
        return [
            Factors(dim, loss, rate=self.rate, l2=l2, epochs=self.epochs, seed=seed)
            for loss in LOSSES
            for dim in self.dims
            for l2 in PENALTIES
        ]


def fit(positive: Flags, users: Ids, items: Ids, training: Training, seed: int) -> list[Floats]:
    """Scores of every pair by every candidate, learnt from these positive pairs.

    One after the other, in the thread that asks: runs are made side by side, and Ctrl-C waits for no pool of threads.
    """
    log = log_of(positive, users, items)
    fitted = (model.fit(log) for model in training.models(seed))
    return [model.user_[:, :-1] @ model.item_[:, :-1].T + model.item_[:, -1] for model in fitted]


def log_of(positive: Flags, users: Ids, items: Ids) -> Log:
    """The positive pairs as a log."""
    user, item = np.nonzero(positive)
    counts = np.bincount(user, minlength=len(users))
    return Log(users, items, starts_of(counts), item.astype(np.int32), feedback=Feedback.IMPLICIT)


def best(scores: list[Floats], users: Ids, items: Ids, k: int) -> Codes:
    """The k best of all items, [model, user, rank]; ties by the hash of user and item."""
    lists = np.empty((len(scores), len(users), k), dtype=np.int32)
    nothing = np.zeros(len(users) + 1, dtype=np.int64)
    for which, score in enumerate(scores):
        top_k(score, k, users.hashes, items.hashes, SEED, nothing, np.empty(0, dtype=np.int32), lists[which])
    return lists
