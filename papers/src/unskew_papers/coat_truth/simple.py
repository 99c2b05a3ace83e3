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

from collections.abc import Callable

import numpy as np

from unskew import models
from unskew.log import Log, Recommendations
from unskew.models import from_scores, from_shared_scores
from unskew_papers.arrays import Floats
from unskew_papers.coat_truth.recipes import LIKED

ListMaker = Callable[[Log], Recommendations]
SHRUNK, RANKS, RATED_RANK = (1.0, 5.0, 20.0), (2, 5, 20), 5
IMITATOR = f"rated factors ({RATED_RANK})"  # learns what was looked at


def share_of_likes(train: Log, c: float) -> Floats:
    """The share of likes of every coat, shrunk by c."""
    liked = train.positives(LIKED)
    return np.asarray((_times(liked) + c * len(liked) / len(train)) / (_times(train) + c))


def _random(train: Log) -> Recommendations:
    made = models.make("random").fit(train.positives(LIKED))
    return made.recommend(train.users, len(train.items), seen=train)


def _mix(train: Log) -> Recommendations:
    factors, share = _factors(_likes(train), 5), share_of_likes(train, 5.0)
    return _each(factors / factors.std() + share / share.std(), train)


def _item_knn(train: Log) -> Recommendations:
    y = _likes(train)
    return _each(y @ _cosines(y.T), train)


def _user_knn(train: Log) -> Recommendations:
    y = _likes(train)
    return _each(_cosines(y) @ y, train)


def alike(scores: Floats, train: Log) -> Recommendations:
    """The same order of coats for everybody."""
    return from_shared_scores(scores, train.items, train.users, len(train.items), train)


def _each(scores: Floats, train: Log) -> Recommendations:
    return from_scores(lambda rows: scores[rows], train.items, train.users, len(train.items), train)


def _times(log: Log) -> Floats:
    return np.bincount(log.item, minlength=len(log.items)).astype(np.float64)


def _likes(train: Log) -> Floats:
    return _matrix(train.positives(LIKED))


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


def liked_share(c: float) -> ListMaker:
    """The same order for everybody, by the shrunk share of likes."""
    return lambda train: alike(share_of_likes(train, c), train)


def _of_likes(rank: int) -> ListMaker:
    return lambda train: _each(_factors(_likes(train), rank), train)


COMMON: dict[str, ListMaker] = {
    "random": _random,
    "most liked": lambda train: alike(_times(train.positives(LIKED)), train),
    "most rated": lambda train: alike(_times(train), train),
}
MODELS: dict[str, ListMaker] = {
    **COMMON,
    "least rated": lambda train: alike(-_times(train), train),
    **{f"liked share ({c:g})": liked_share(c) for c in SHRUNK},
    **{f"factors ({rank})": _of_likes(rank) for rank in RANKS},
    IMITATOR: lambda train: _each(_factors(_matrix(train), RATED_RANK), train),
    "item-kNN": _item_knn,
    "user-kNN": _user_knn,
    "mix": _mix,
}
