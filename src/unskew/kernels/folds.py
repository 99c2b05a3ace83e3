"""Folds of pairs, drawn by a hash of user and item, and the pairs of each fold put together."""

from __future__ import annotations

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix, unit


@njit(cache=True, nogil=True)
def fold_pairs(seed, users, items, user, item, fold, count):  # type: ignore[no-untyped-def]
    """``fold[e]`` = the fold of pair e from the hashes of its ids; ``count[k]`` grows by the pairs of fold k.

    Pairs are given by codes, best ascending by user: what depends on the user alone is computed once for a run.
    """
    folds, last, left = len(count), -1, mix(seed)
    for e in range(len(fold)):
        if user[e] != last:
            last = user[e]
            left = mix(users[last] ^ seed)
        k = int(unit(left ^ items[item[e]]) * folds)
        fold[e] = k
        count[k] += 1


@njit(cache=True, nogil=True)
def by_fold(fold, user, item, free, order, users, items):  # type: ignore[no-untyped-def]
    """The pairs fold by fold, otherwise in their order: place e of the outputs holds pair ``order[e]``.

    ``free`` holds the first place of each fold and is used up.
    """
    for e in range(len(fold)):
        at = free[fold[e]]
        order[at], users[at], items[at] = e, user[e], item[e]
        free[fold[e]] = at + 1
