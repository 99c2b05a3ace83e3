"""Where answers lie: which lists hold the pairs that were asked about, and what lists hold that could be asked about.

    by metric and pair of models (a, b), over candidates outside the log to which a gives more worth than b:

        pairs = their number        worth = Σ (λ_a − λ_b)

The diagonal (a, a) stands for a alone: pairs with λ_a > 0, and Σ λ_a. Answers themselves are few, and are kept row by
row. What is kept merges over users, as everything that an engine gives.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.walk import walk
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Bools, Floats, Hashes, Ints32, Ints64, present

ORIGIN = "origin"  # the label of joined rows that says where they come from
LOGGED, ANSWERED, ASKED = 0, 1, 2  # ASKED: nobody answered


@dataclass(frozen=True, eq=False)
class AskedPairs:
    """The pairs that were asked about, row by row.

    Args:
        user: the hash of the user's id.
        rank: where each model lists the pair, (rows, models); 0 = not listed.
        answered: whether an answer came; ``value`` is q where none did.
    """

    user: Hashes
    rank: Ints32
    propensity: Floats
    value: Floats
    q: Floats
    answered: Bools

    def merge(self, other: AskedPairs) -> AskedPairs:
        """Those of both sets of users."""
        names = (field.name for field in fields(self))
        return AskedPairs(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


@dataclass(frozen=True, eq=False)
class AnswerSums(Mergeable):
    """What verdicts on answers are checked by.

    Args:
        asked: the pairs, row by row.
        pairs, worth: of unseen candidates, (metrics, models, models).
        logged: Σ_L yλ, (metrics, models); 0 where the log is not taken as known.
        candidates: how many candidates there are outside the log, and how many of them some list holds (``listed``).
    """

    asked: AskedPairs
    pairs: Floats
    worth: Floats
    logged: Floats
    candidates: float
    listed: float


def answer_sums(held: EvaluationData, worths: Floats, threads: int | None = None) -> AnswerSums | None:
    """Look at all lists and answers; ``worths`` is by [rank, metric]. ``None`` without answers."""
    joined = held.with_answers
    if joined is None:
        return None

    def one(low: int, high: int) -> AnswerSums:
        return _block(joined, worths, low, high)

    return reduce(AnswerSums.merge, walk(joined.users, one, threads))


def _block(joined: EvaluationData, worths: Floats, low: int, high: int) -> AnswerSums:
    batch, ranked = joined.batch(low, high), joined.ranked(low, high)
    origin, models = batch.labels[ORIGIN], len(ranked)
    rank = np.stack([model.rank for model in ranked], axis=1)
    user = np.repeat(np.arange(high - low), np.diff(batch.indptr))
    ours = origin != LOGGED
    asked = AskedPairs(
        joined.hashes[low:high][user][ours],
        rank[ours],
        present(batch.propensity)[ours],
        batch.value[ours],
        present(batch.q)[ours],
        origin[ours] == ANSWERED,
    )
    logged = np.einsum("n,nmt->tm", batch.value[~ours], _worth(worths, rank[~ours]))
    listed = _listed_ranks(joined, low, high, user[~ours], joined.item[joined.indptr[low] : joined.indptr[high]][~ours])
    pairs, worth = np.zeros((2, worths.shape[1], models, models))
    each = _worth(worths, listed)
    for a in range(models):
        for b in range(models):
            d = each[:, a] if a == b else each[:, a] - each[:, b]
            ahead = d > 1e-12
            pairs[:, a, b], worth[:, a, b] = ahead.sum(axis=0), np.where(ahead, d, 0.0).sum(axis=0)
    candidates = 0.0 if batch.candidates is None else float(batch.candidates.sum()) - float(np.count_nonzero(~ours))
    return AnswerSums(asked, pairs, worth, logged, candidates, float(len(listed)))


def _listed_ranks(joined: EvaluationData, low: int, high: int, user: Ints64, item: Ints32) -> Ints32:
    """Ranks by model of every listed candidate, (pairs, models), without the logged pairs."""
    listed, keys, ranks = present(joined.listed), [], []
    size = len(listed.logged)
    for lists in joined.lists:
        first, last = lists.indptr[low], lists.indptr[high]
        counts = listed.candidates(lists, low, high)
        who = np.repeat(np.arange(high - low), np.diff(lists.indptr[low : high + 1]))
        keys.append((who * size + lists.item[first:last])[counts])
        ranks.append(lists.rank[first:last][counts])
    every = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
    out = np.zeros((len(every), len(joined.lists)), dtype=np.int32)
    for j, (own, rank) in enumerate(zip(keys, ranks, strict=True)):
        out[np.searchsorted(every, own), j] = rank
    return out[~np.isin(every, user * size + item)]


def _worth(worths: Floats, rank: Ints32) -> Floats:
    """What ranks are worth, (…, metrics); 0 is no rank."""
    inside = (rank > 0) & (rank < len(worths))
    return np.where(inside[..., None], worths[np.where(inside, rank, 0)], 0.0)
