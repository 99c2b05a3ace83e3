"""A full matrix from the few ratings of a log: a factorisation of low rank, fitted by alternating least squares.

    y_ui ≈ v_u·w_i        minimising   Σ_seen (y_ui − v_u·w_i)² + λ Σ_u n_u |v_u|² + λ Σ_i n_i |w_i|²

With items fixed, every user is a small ridge regression of its ratings on w_i, and the other way round; the penalty
grows with the number of ratings n_u and n_i (Zhou et al. 2008), so that one λ suits the busy and the quiet. There are
no offsets, so that what hardly anybody rated stays low. Only the order of the values matters here, since
``quantiles.py`` turns them into ratings.

The form without offsets was chosen for the world of schnabel16: only then does every user of ML-100K have the 50 ones
that the paper's DCG@50 of 12.90 for ``rotate`` implies (with offsets it is 12.95; rounded predictions then hit about a
point more of a held-out tenth). Among ranks 5, 10, 20 and λ .05, .1 without offsets, hits differ by less than a point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import ROUNDS, SEED, STRENGTH, Whole
from unskew.core.errors import InputError
from unskew.log import Ids
from unskew.log.expected import a_log
from unskew.log.ids import Codes
from unskew.log.log import Feedback, Floats, Integers, Log
from unskew.log.order import starts_of

Matrix = npt.NDArray[np.float32]
MOST_CELLS = 100_000_000  # users × items that are held in memory
RANK = Whole(1, 1000, "Every user and item has a matrix of rank × rank to solve.")
BLOCK = 1 << 22  # pairs computed at once


def complete(log: Log, *, rank: int = 10, penalty: float = 0.1, sweeps: int = 15, seed: int = 0) -> Matrix:
    """The value of every pair, as the seen ones suggest it: float32[users, items].

    Args:
        log: ratings; a user or an item without any is like the average one.
        rank: length of v_u and w_i.
        penalty: λ.
        sweeps: how often users and items are fitted in turn.
        seed: where the item factors start.
    """
    value = _check(log, rank, penalty, sweeps, seed)
    users, items = len(log.users), len(log.items)
    by_item = np.argsort(log.item, kind="stable")
    starts = starts_of(np.bincount(log.item, minlength=items))
    right = np.random.default_rng(seed).standard_normal((items, rank)) * 0.1
    right[:, 0] = 1.0
    for _ in range(sweeps):
        left = _fit(log.indptr, log.item, right, value, penalty)
        right = _fit(starts, log.user[by_item], left, value[by_item], penalty)
    out = np.empty((users, items), dtype=np.float32)
    step = max(1, BLOCK // items)
    for first in range(0, users, step):
        out[first : first + step] = left[first : first + step] @ right.T
    return out


def _fit(starts: Integers, other: Codes, features: Floats, target: Floats, penalty: float) -> Floats:
    """One ridge regression per group of rows, (XᵀX + λnI)⁻¹Xᵀy; groups without rows get the mean of the others."""
    count, rank = np.diff(starts), features.shape[1]
    there = np.flatnonzero(count)
    gram, moment = np.empty((len(there), rank, rank)), np.empty((len(there), rank))
    for place, group in enumerate(there):
        rows = slice(starts[group], starts[group + 1])
        x = features[other[rows]]
        gram[place] = x.T @ x + penalty * count[group] * np.eye(rank)
        moment[place] = target[rows] @ x
    found = np.linalg.solve(gram, moment[:, :, None])[:, :, 0]
    out = np.tile(found.mean(axis=0), (len(count), 1))
    out[there] = found
    return out


def _check(log: Log, rank: int, penalty: float, sweeps: int, seed: int) -> Floats:
    RANK.of(rank, "rank")
    STRENGTH.of(penalty, "penalty")
    ROUNDS.of(sweeps, "sweeps")
    SEED.of(seed, "seed")
    source = a_log(log).account.source
    lacks = {
        "empty-log": ("has no rows", len(log) == 0),
        "missing-column": ("has no ratings", log.value is None),
        "wrong-feedback": (f"holds {log.feedback}", log.feedback not in (None, Feedback.RATINGS)),
    }
    for code, (lack, so) in lacks.items():
        if so:
            text = f"{source}: a world of ratings is made from ratings, and this log {lack}."
            raise InputError(text, code=code, column="value")
    if (cells := len(log.users) * len(log.items)) > MOST_CELLS:
        raise InputError(
            f"{source}: {len(log.users):,} users × {len(log.items):,} items are {cells:,} pairs, and a world holds "
            f"at most {MOST_CELLS:,} in memory.\nTake its busiest part (users=…, items=…), as most_active does.",
            code="too-large",
        )
    assert log.value is not None
    return log.value


def most_active(log: Log, *, users: int | None = None, items: int | None = None) -> Log:
    """The busiest part of a log over smaller vocabularies: the items with the most rows, then the users among those.

    ``None`` keeps all. Ties stay in the order of the ids.
    """
    for name, count in (("users", users), ("items", items)):
        if count is not None:
            Whole(1, 2**31 - 1).of(count, f"the number of {name} in the busiest part of a log")
    log = a_log(log)
    kept_items = _busiest(np.bincount(log.item, minlength=len(log.items)), items)
    log = log.take(kept_items[log.item])
    kept_users = _busiest(np.diff(log.indptr), users)
    log = log.take(kept_users[log.user])
    return log.recode(_only(log.users, kept_users), _only(log.items, kept_items))


def _busiest(rows: npt.NDArray[np.int64], count: int | None) -> npt.NDArray[np.bool_]:
    kept = np.zeros(len(rows), dtype=np.bool_)
    kept[np.argsort(-rows, kind="stable")[:count]] = True
    return kept


def _only(ids: Ids, kept: npt.NDArray[np.bool_]) -> Ids:
    return ids if kept.all() else Ids(ids.values.filter(kept))
