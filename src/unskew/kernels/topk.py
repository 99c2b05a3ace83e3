"""The k best items of each user, exactly, with ties broken by a stable hash of (user, item).

Items are ordered by (score downwards, hash upwards), hash = mix(mix(user ^ seed) ^ item): a scorer that gives
everything the same score comes out like random, whatever the order of the items, and the same on every machine.

Selection is one pass with a heap of the k best so far, worst on top: most items fail against the top and cost one
comparison, and the hash is computed only for items that reach the top's score. The top never falls, so the cut-off
is tied exactly if the last score that reached the top and was left out equals the final top. Scores must not be NaN.
Before that, the best scores of short stretches of items are found: k of these reach the k-th best of them, and whatever
does not reach it is in no list, so that most stretches are passed over as a whole, and zeros where k items have more.

Scores of factors are summed by ``top_factors.py``, always in the same order. A matrix product (BLAS) sums in an order
that depends on an item's column and on how many users are asked for together: items with the same factors would no
longer be tied, and a list would depend on whose lists are made beside it.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.selection import smallest

SEED = np.uint64(mix(np.uint64(0)))  # the fixed seed of all tie-breaking
CHUNK = 32  # items of a stretch


@njit(cache=True, nogil=True)
def top_k(scores, k, users, items, seed, indptr, excluded, out):  # type: ignore[no-untyped-def]
    """Fill ``out[b, k]`` with the best items of each row of ``scores[b, I]`` in rank order, −1 where there is none.

    ``users`` and ``items`` are hashes; ``excluded[indptr[u]:indptr[u + 1]]`` (strictly ascending) are no candidates
    of row u. Gives back per row whether the cut-off was tied: the first item left out scores like the last kept.
    """
    tied, held = np.zeros(len(scores), dtype=np.bool_), np.empty(scores.shape[1])
    score, key, code = np.empty(k, np.float64), np.empty(k, np.uint64), np.empty(k, np.int32)  # the heap
    for u in range(len(scores)):
        salt, own = mix(users[u] ^ seed), excluded[indptr[u] : indptr[u + 1]]
        if len(own):
            held[:] = scores[u]
            for i in own:
                held[i] = -np.inf
            tied[u] = _select(held, own, k, salt, items, score, key, code, out[u])
        else:
            tied[u] = _select(scores[u], own, k, salt, items, score, key, code, out[u])
    return tied


@njit(cache=True, nogil=True)
def _select(scores, excluded, k, salt, items, score, key, code, out):  # type: ignore[no-untyped-def]
    """The list of one user, and whether its cut-off was tied; what is excluded scores −∞, as others may."""
    best, bar = np.empty(-(-len(scores) // CHUNK)), -np.inf
    _best_of_stretches(scores, best)
    if len(best) >= k:
        bar = smallest(best.copy(), len(best) - k)
    size, left_out = 0, np.nan
    for b in range(len(best)):
        if best[b] < bar or (size == k and best[b] < score[0]):
            continue
        for i in range(b * CHUNK, min((b + 1) * CHUNK, len(scores))):
            s = scores[i]
            if s < bar or (size == k and s < score[0]) or (s == -np.inf and _holds(excluded, i)):
                continue
            h = mix(salt ^ items[i])
            if size < k:
                size = rise(score, key, code, size, s, h, i)
            elif s > score[0] or h < key[0]:
                left_out = score[0]
                sink(score, key, code, size, s, h, i)
            else:
                left_out = s
    tied = size == k and left_out == score[0]
    drain(score, key, code, size, out)
    return tied


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _best_of_stretches(scores, best):  # type: ignore[no-untyped-def]
    """The largest score of every stretch."""
    for b in range(len(best)):
        top = -np.inf
        for i in range(np.uintp(b * CHUNK), np.uintp(min((b + 1) * CHUNK, len(scores)))):
            top = max(top, scores[i])
        best[b] = top


@njit(cache=True, nogil=True)
def _holds(ascending, number):  # type: ignore[no-untyped-def]
    """Whether a number is one of these."""
    place = np.searchsorted(ascending, number)
    return place < len(ascending) and ascending[place] == number


@njit(cache=True, nogil=True)
def top_k_shared(scores, order, k, users, items, seed, indptr, excluded, out):  # type: ignore[no-untyped-def]
    """The same for ``scores[I]`` that all users share; ``order`` lists the items by score downwards.

    A user's walk ends with the group of equal scores in which the k-th candidate falls, so the cost is k, the
    exclusions and that group, not the catalogue.
    """
    tied = np.zeros(len(users), dtype=np.bool_)
    score, key, code = np.empty(k, np.float64), np.empty(k, np.uint64), np.empty(k, np.int32)  # the heap
    marked = np.full(len(scores), -1, dtype=np.int64)  # the last user for whom an item was excluded
    for u in range(len(users)):
        salt = mix(users[u] ^ seed)
        size, left_out = 0, np.nan
        for x in range(indptr[u], indptr[u + 1]):
            marked[excluded[x]] = u
        for i in order:
            s = scores[i]
            if size == k and s < score[0]:
                break
            if marked[i] == u:
                continue
            h = mix(salt ^ items[i])
            if size < k:
                size = rise(score, key, code, size, s, h, i)
                continue
            left_out = s
            if h < key[0]:
                sink(score, key, code, size, s, h, i)
        tied[u] = size == k and left_out == score[0]
        drain(score, key, code, size, out[u])
    return tied


@njit(cache=True, nogil=True)
def rise(score, key, code, size, s, h, i):  # type: ignore[no-untyped-def]
    """Add an item at the end of the heap and let it rise to where it belongs; gives back the new size."""
    at = size
    while at > 0:
        parent = (at - 1) // 2
        if score[parent] < s or (score[parent] == s and key[parent] >= h):
            break
        score[at], key[at], code[at] = score[parent], key[parent], code[parent]
        at = parent
    score[at], key[at], code[at] = s, h, i
    return size + 1


@njit(cache=True, nogil=True)
def sink(score, key, code, size, s, h, i):  # type: ignore[no-untyped-def]
    """Put an item in the place of the top and let it sink to where it belongs."""
    at, child = 0, 1
    while child < size:
        other = child + 1
        if other < size and (score[other] < score[child] or (score[other] == score[child] and key[other] > key[child])):
            child = other
        if s < score[child] or (s == score[child] and h >= key[child]):
            break
        score[at], key[at], code[at] = score[child], key[child], code[child]
        at, child = child, 2 * child + 1
    score[at], key[at], code[at] = s, h, i


@njit(cache=True, nogil=True)
def drain(score, key, code, size, out):  # type: ignore[no-untyped-def]
    """Empty the heap into ``out``, worst last, −1 behind it."""
    out[size:] = -1
    for left in range(size - 1, -1, -1):
        out[left] = code[0]
        sink(score, key, code, left, score[left], key[left], code[left])
