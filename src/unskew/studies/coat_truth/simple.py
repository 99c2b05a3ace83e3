"""Fourteen simple recommenders of coats, each a line of arrays, for everybody and all coats not rated in training.

Y, O               1 where a coat was liked, or rated, in training
liked share (c)    (y_i + c·ȳ) / (n_i + c)         y_i of n_i ratings are 4 or 5, ȳ their share over all coats
factors (r)        the r largest parts of the singular value decomposition of Y less its column means
rated factors (r)  the same of O
item-kNN           Y·S, S the cosines of Y's columns
user-kNN           S·Y, S the cosines of Y's rows
mix                factors (5) and liked share (5), each over its standard deviation
"""

from __future__ import annotations

import numpy as np

from unskew import models
from unskew.log import Log
from unskew.log.log import Floats
from unskew.log.recommendations import Recommendations
from unskew.models.base import from_scores, from_shared_scores
from unskew.studies.coat_truth.recipes import LIKED

SHRUNK, RANKS, RATED_RANK = (1.0, 5.0, 20.0), (2, 5, 20), 5
IMITATOR = f"rated factors ({RATED_RANK})"  # learns what was looked at


def recommend(train: Log) -> dict[str, Recommendations]:
    """The lists of the fourteen."""
    liked = train.positives(LIKED)
    y, seen = _matrix(liked), _matrix(train)
    likes, times, mean = y.sum(axis=0), seen.sum(axis=0), len(liked) / len(train)
    share = {c: (likes + c * mean) / (times + c) for c in SHRUNK}
    factors = {rank: _factors(y, rank) for rank in RANKS}
    made = {
        "random": models.make("random").fit(liked).recommend(train.users, len(train.items), seen=train),
        "most liked": alike(likes, train),
        "most rated": alike(times, train),
        "least rated": alike(-times, train),
    }
    made |= {f"liked share ({c:g})": alike(share[c], train) for c in SHRUNK}
    made |= {f"factors ({rank})": _each(factors[rank], train) for rank in RANKS}
    made |= {
        IMITATOR: _each(_factors(seen, RATED_RANK), train),
        "item-kNN": _each(y @ _cosines(y.T), train),
        "user-kNN": _each(_cosines(y) @ y, train),
        "mix": _each(factors[5] / factors[5].std() + share[5.0] / share[5.0].std(), train),
    }
    return made


def alike(scores: Floats, train: Log) -> Recommendations:
    """The same order of coats for everybody."""
    return from_shared_scores(scores, train.items, train.users, len(train.items), train)


def _each(scores: Floats, train: Log) -> Recommendations:
    return from_scores(lambda rows: scores[rows], train.items, train.users, len(train.items), train)


def _matrix(log: Log) -> Floats:
    out = np.zeros((len(log.users), len(log.items)))
    out[log.user, log.item] = 1.0
    return out


def _factors(matrix: Floats, rank: int) -> Floats:
    mean = matrix.mean(axis=0)
    left, size, right = np.linalg.svd(matrix - mean, full_matrices=False)
    return np.asarray((left[:, :rank] * size[:rank]) @ right[:rank] + mean)


def _cosines(rows: Floats) -> Floats:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return np.asarray(unit @ unit.T)
