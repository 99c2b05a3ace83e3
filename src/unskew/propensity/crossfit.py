"""Seen and unseen pairs, and folds of them, so that a propensity is judged on pairs that it was not fitted on.

Folds are over *pairs*, by a hash of user and item, seen or not. A model fitted without the seen pairs of a fold speaks
of a log that holds (k−1)/k of the seen pairs, whichever fold a pair is in: probabilities of being in it are therefore
raised by k/(k−1), also those whose meaning is relative (a log of clicks); bare ratios (``popularity``) are not.

Or they are over *users*, by a hash of the user: a model is fitted to the users outside the fold (the others weigh
nothing), and speaks of a whole log. What a user saw then tells nothing of that user's own pairs, so that it suits only
models without parameters of users; the others are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unskew.core.errors import InputError
from unskew.core.memory import require
from unskew.kernels.arrays import Ints64
from unskew.kernels.folds import fold_pairs
from unskew.kernels.hashing import mix, pair_uniform
from unskew.log import Ids, Log
from unskew.log.ids import Codes, stream_of
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Propensity, pairs_log


class Unseen(NamedTuple):
    """Pairs that are not in a log: all of them, or a uniform sample; each stands for 1/``rate`` pairs."""

    pairs: Log
    rate: float


def unseen_pairs(log: Log, most: int, seed: int = 0) -> Unseen:
    """About ``most`` different unseen pairs, drawn uniformly, or all of them where there are no more."""
    items = max(len(log.items), 1)
    seen = log.user.astype(np.int64) * items + log.item
    every = len(log.users) * len(log.items)
    left = every - len(seen)
    require(48 * min(most, left), f"a sample of {min(most, left):,} unseen pairs", "Take fewer: negatives=10.")
    if left <= most:
        free = np.ones(every, dtype=np.bool_)
        free[seen] = False
        drawn = np.flatnonzero(free)
    else:
        rng = np.random.default_rng([seed, stream_of("crossfit")])
        drawn = np.unique(rng.integers(0, every, size=int(most * every / left)))
        drawn = drawn[seen[np.minimum(np.searchsorted(seen, drawn), len(seen) - 1)] != drawn] if len(seen) else drawn
    user, item = (drawn // items).astype(np.int32), (drawn % items).astype(np.int32)
    return Unseen(pairs_log(log.users, log.items, user, item), len(drawn) / left if left else 1.0)


def pair_folds(log: Log, folds: int, seed: int = 0) -> Ints64:
    """The fold of every row, from the texts of its user and item."""
    return folds_of(log.users, log.items, log.user, log.item, folds, seed)[0]


def folds_of(users: Ids, items: Ids, user: Codes, item: Codes, folds: int, seed: int = 0) -> tuple[Ints64, Ints64]:
    """The fold of each pair of codes, and how many pairs each fold has."""
    fold, count = np.empty(len(user), dtype=np.int64), np.zeros(folds, dtype=np.int64)
    stream = np.uint64(mix(np.uint64(stream_of(f"crossfit {seed}"))))
    fold_pairs(stream, users.hashes, items.hashes, user, item, fold, count)
    return fold, count


def user_folds(log: Log, folds: int, seed: int = 0) -> Ints64:
    """The fold of every user, from its text."""
    users = log.users.hashes
    drawn = pair_uniform(stream_of(f"crossfit users {seed}"), users, np.zeros(len(users), dtype=np.uint64))
    return np.asarray(drawn * folds, dtype=np.int64)


def crossfitted(
    model: Propensity,
    train: Log,
    others: Log,
    folds: int,
    inputs: FitInputs = NO_INPUTS,
    weights: Floats | None = None,
    over: str = "pairs",
) -> tuple[Floats, Floats]:
    """P of the training rows and of other pairs of its users, each by a model fitted without the fold of the pair.

    Args:
        over: ``pairs``, or ``users`` for models without parameters of users.
    """
    model = model.tuned(train, inputs=inputs, weights=weights)
    if over == "users":
        refuse_users(model)
        fold = user_folds(train, folds)
        mine, theirs = fold[train.user], fold[others.users.into(train.users)[others.user]]
    else:
        mine, theirs = pair_folds(train, folds), pair_folds(others, folds)
    seen, unseen = np.empty(len(train)), np.empty(len(others))
    for k in range(folds):
        if over == "users":
            outside = (fold != k) * (1.0 if weights is None else weights)
            fitted, raised, most = model.copy().fit(train, inputs=inputs, weights=outside), 1.0, np.inf
        else:
            share = None if train.share is None else train.share * (folds - 1.0) / folds
            fitted = model.copy().fit(replace(train.take(mine != k), share=share), inputs=inputs, weights=weights)
            raised, most = folds / (folds - 1.0) if fitted.follows_rows else 1.0, 1.0
        seen[mine == k] = np.minimum(raised * fitted.of(train.take(mine == k)).rows, most)
        unseen[theirs == k] = np.minimum(raised * fitted.of(others.take(theirs == k)).rows, most)
    return seen, unseen


def refuse_users(model: Propensity) -> None:
    """Folds over users ask of a user what only that user's pairs can tell."""
    if model.knows_users:
        raise InputError(
            f"over=users fits '{model}' without the users that it is then asked about, and it has parameters of every "
            "user, which nobody else tells. Use over=pairs.",
            code="not-supported",
            option="over",
        )
