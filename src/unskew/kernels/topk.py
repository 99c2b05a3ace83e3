"""The k best items of each user, exactly, with ties broken by a stable hash of (user, item).

Items are ordered by (score downwards, hash upwards), hash = mix(mix(user ^ seed) ^ item): a scorer that gives
everything the same score comes out like random, whatever the order of the items, and the same on every machine.

Selection is one pass with a heap of the k best so far, worst on top: most items fail against the top and cost one
comparison, and the hash is computed only for items that reach the top's score. The top never falls, so the cut-off
is tied exactly if the last score that reached the top and was left out equals the final top. Scores must not be NaN.

Scores of factors are summed here, always in the same order and in double precision. A matrix product (BLAS) sums in an
order that depends on an item's column and on how many users are asked for together: items with the same factors would
no longer be tied, and a list would depend on whose lists are made beside it.

``top_k_screened`` comes to the same lists through single precision. A screened score is off by at most e
(``models/screen.py``): what lies more than 2e below the k-th best screened score so far is below k items for certain,
and so are two items in order whose screened scores differ by more than 2e. Only the others are scored exactly. Scores
of four users and four factors at a time, on a tile of items that rests in the cache, come as fast as from a matrix
product, and are compared while they are in the first cache.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

SEED = np.uint64(mix(np.uint64(0)))  # the fixed seed of all tie-breaking
TILE = 256  # items whose scores are summed together: with four rows of factors they fill a third of the first cache
HALVINGS = 12  # of the range in which the k-th best screened score lies
WIDE = 512  # items that are screened together: their factors in single precision fit the second cache
LANE = 64  # screened scores that are compared at once; fewer are no longer compared by vector instructions


@njit(cache=True, nogil=True)
def top_k(scores, k, users, items, seed, indptr, excluded, out):  # type: ignore[no-untyped-def]
    """Fill ``out[b, k]`` with the best items of each row of ``scores[b, I]`` in rank order, −1 where there is none.

    ``users`` and ``items`` are hashes; ``excluded[indptr[u]:indptr[u + 1]]`` (strictly ascending) are no candidates
    of row u. Gives back per row whether the cut-off was tied: the first item left out scores like the last kept.
    """
    tied = np.zeros(len(scores), dtype=np.bool_)
    score, key, code = np.empty(k, np.float64), np.empty(k, np.uint64), np.empty(k, np.int32)  # the heap
    for u in range(len(scores)):
        salt = mix(users[u] ^ seed)
        size, left_out = 0, np.nan
        start, last = 0, indptr[u + 1]
        for x in range(indptr[u], last + 1):
            stop = excluded[x] if x < last else scores.shape[1]
            for i in range(start, stop):
                s = scores[u, i]
                if size == k and s < score[0]:
                    continue
                h = mix(salt ^ items[i])
                if size < k:
                    size = rise(score, key, code, size, s, h, i)
                elif s > score[0] or h < key[0]:
                    left_out = score[0]
                    sink(score, key, code, size, s, h, i)
                else:
                    left_out = s
            start = stop + 1
        tied[u] = size == k and left_out == score[0]
        _drain(score, key, code, size, out[u])
    return tied


@njit(cache=True, nogil=True)
def score(rows, users, items, offsets, out):  # type: ignore[no-untyped-def]
    """Fill ``out[b, I]`` with ((b_i + v_1 w_1) + v_2 w_2) + …, v = ``users[rows[b]]`` and w = ``items[:, i]``.

    ``offsets`` are b; row −1 is a user without factors.
    """
    for first in range(0, out.shape[1], TILE):
        last = min(first + TILE, out.shape[1])
        for r in range(len(rows)):
            _score(np.uintp(r), rows[r], users, items, offsets, np.uintp(first), np.uintp(last), out)


@njit(cache=True, nogil=True)
def _score(r, row, users, items, offsets, first, last, out):  # type: ignore[no-untyped-def]
    """One user and the items of one tile, four factors at a time, so that sums rest in registers meanwhile."""
    for i in range(first, last):
        out[r, i] = offsets[i]
    if row < 0:
        return
    u, whole = np.uintp(row), np.uintp(len(items) // 4 * 4)
    for j in range(np.uintp(0), whole, np.uintp(4)):
        j1, j2, j3 = j + np.uintp(1), j + np.uintp(2), j + np.uintp(3)
        v, v1, v2, v3 = users[u, j], users[u, j1], users[u, j2], users[u, j3]
        for i in range(first, last):
            out[r, i] = out[r, i] + v * items[j, i] + v1 * items[j1, i] + v2 * items[j2, i] + v3 * items[j3, i]
    for j in range(whole, np.uintp(len(items))):
        v = users[u, j]
        for i in range(first, last):
            out[r, i] += v * items[j, i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def _screen_scores(first, users, tile, out):  # type: ignore[no-untyped-def]
    """Fill ``out[4, WIDE]`` with single-precision scores of four users for the items of one tile."""
    for i in range(WIDE):
        out[0, i] = out[1, i] = out[2, i] = out[3, i] = 0.0
    for j in range(0, users.shape[1], 4):
        a0, a1, a2, a3 = users[first, j], users[first, j + 1], users[first, j + 2], users[first, j + 3]
        b0, b1, b2, b3 = users[first + 1, j], users[first + 1, j + 1], users[first + 1, j + 2], users[first + 1, j + 3]
        c0, c1, c2, c3 = users[first + 2, j], users[first + 2, j + 1], users[first + 2, j + 2], users[first + 2, j + 3]
        d0, d1, d2, d3 = users[first + 3, j], users[first + 3, j + 1], users[first + 3, j + 2], users[first + 3, j + 3]
        for i in range(WIDE):
            v, w, x, y = tile[j, i], tile[j + 1, i], tile[j + 2, i], tile[j + 3, i]
            out[0, i] += a0 * v + a1 * w + a2 * x + a3 * y
            out[1, i] += b0 * v + b1 * w + b2 * x + b3 * y
            out[2, i] += c0 * v + c1 * w + c2 * x + c3 * y
            out[3, i] += d0 * v + d1 * w + d2 * x + d3 * y


@njit(cache=True, nogil=True)
def top_k_screened(  # type: ignore[no-untyped-def]
    k,
    wide,
    tiles,
    order,
    error,
    rows,
    left,
    right,
    offsets,
    users,
    items,
    seed,
    indptr,
    excluded,
    scores,
    close,
    code,
    out,
):
    """``top_k`` of the scores b_i + v·w_i; gives back per user 0, 1 where the cut-off is tied, or −1: not found.

    ``wide[b, D]`` are single-precision factors, ``tiles[t, D, WIDE]`` those of items, zeros behind the last;
    ``error[b]`` is 2e. ``left[rows[b]]`` and ``right[i]`` are the factors in double precision (row −1: none). Users for
    whom more than ``room`` items remain (many nearly tied) are not found. The number of users is a multiple of four.
    """
    many, stop = len(users), len(items)
    tied = np.zeros(many, dtype=np.int8)
    sizes, floors, at = np.zeros(len(wide), np.int64), np.full(len(wide), -np.inf, np.float32), indptr[:-1].copy()
    for t in range(len(tiles)):
        first = t * WIDE
        last = min(first + WIDE, stop)
        for four in range(0, len(wide), 4):
            _screen_scores(four, wide, tiles[t], scores)
            for r in range(4):
                u = four + r
                if u >= many or sizes[u] < 0:
                    continue
                for i in range(last - first, WIDE):
                    scores[r, i] = np.nan
                while at[u] < indptr[u + 1] and excluded[at[u]] < last:
                    scores[r, excluded[at[u]] - first] = np.nan
                    at[u] += 1
                sizes[u], floors[u] = _screen(scores, r, first, k, error[u], floors[u], close, code, u, sizes[u])
    exact = np.empty(close.shape[1], np.float64)
    for u in range(many):
        if sizes[u] < 0:
            tied[u] = -1
            continue
        size = sizes[u]
        if size > k:
            size, _ = _compress(close, code, u, size, k, error[u])
        for x in range(size):
            code[u, x], exact[x] = order[code[u, x]], np.nan
        salt = mix(users[u] ^ seed)
        tied[u] = _place(
            close[u, : _fill_up(close, u, size)],
            size,
            code[u],
            error[u],
            k,
            rows[u],
            left,
            right,
            offsets,
            salt,
            items,
            exact,
            out[u],
        )
    return tied


@njit(cache=True, nogil=True)
def _place(close, size, code, error, k, row, left, right, offsets, salt, items, exact, out):  # type: ignore[no-untyped-def]
    """Put the k best of a few items into their places, by counting who is before each; whether the cut-off is tied.

    Screened scores that differ by more than 2e say who is before; only the others are scored again exactly.
    """
    tied = False
    out[min(k, size) :] = -1
    for x in range(size):
        low, high = close[x] - error, close[x] + error
        before, reach = np.int32(0), np.int32(0)
        for y in range(len(close)):
            before += np.int32(close[y] > high)
            reach += np.int32(close[y] >= low)
        if before >= k:
            continue
        if reach - before > 1:
            s, h, equal, ahead = _exact(x, code, row, left, right, offsets, exact), mix(salt ^ items[code[x]]), 0, 0
            for y in range(size):
                if y == x or close[y] > high or close[y] < low:
                    continue
                other = _exact(y, code, row, left, right, offsets, exact)
                before += other > s
                if other == s:
                    g = mix(salt ^ items[code[y]])
                    equal += 1
                    ahead += g < h or (g == h and code[y] < code[x])
            tied |= before < k < before + 1 + equal
            before += ahead
        if before < k:
            out[before] = code[x]
    return tied


@njit(cache=True, nogil=True)
def _exact(x, code, row, left, right, offsets, exact):  # type: ignore[no-untyped-def]
    """What ``score`` gives for an item, summed in the same order; kept in ``exact``."""
    if np.isnan(exact[x]):
        s = offsets[code[x]]
        if row >= 0:
            for j in range(right.shape[1]):
                s += left[row, j] * right[code[x], j]
        exact[x] = s
    return exact[x]


@njit(cache=True, nogil=True)
def _screen(scores, r, first, k, error, floor, close, code, u, size):  # type: ignore[no-untyped-def]
    """Add the items of a tile that reach the floor, which rises whenever there is no more room."""
    n, room = size, close.shape[1]
    for lane in range(0, WIDE, LANE):
        hits = np.int32(0)
        for i in range(lane, lane + LANE):
            hits += np.int32(scores[r, i] >= floor)
        if hits == 0:
            continue
        if n + LANE > room:
            n, floor = _compress(close, code, u, n, k, error)
            if n + LANE > room:
                return -1, floor
        start = n
        for i in range(lane, lane + LANE):
            code[u, n] = np.int32(first + i)
            n += scores[r, i] >= floor
        for x in range(start, n):
            close[u, x] = scores[r, code[u, x] - first]
    return n, floor


@njit(cache=True, nogil=True)
def _fill_up(close, u, size):  # type: ignore[no-untyped-def]
    """Put −∞ behind the scores up to the end of a lane, since a lane is counted faster than a part of one."""
    full = (size + LANE - 1) // LANE * LANE
    for x in range(size, full):
        close[u, x] = -np.inf
    return full


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _range(close, u, size):  # type: ignore[no-untyped-def]
    """The least and the largest of some scores, none of them NaN."""
    low = high = close[u, 0]
    for x in range(size):
        low, high = min(low, close[u, x]), max(high, close[u, x])
    return low, high


@njit(cache=True, nogil=True)
def _compress(close, code, u, size, k, error):  # type: ignore[no-untyped-def]
    """Leave what may be among the k best of at least k: how much that is, and what a score must reach from now on.

    At least k scores reach ``low``, which is brought near to the k-th best by halving: counting what reaches a number
    takes no jumps that a processor would have to guess, unlike a selection.
    """
    low, high = _range(close, u, size)
    full = _fill_up(close, u, size)
    for _ in range(HALVINGS):
        middle = np.float32(0.5) * (low + high)
        reached = np.int32(0)
        for x in range(full):
            reached += np.int32(close[u, x] >= middle)
        if reached >= k:
            low = middle
        else:
            high = middle
        if reached == k:
            break
    floor, n = np.float32(low - error), 0
    for x in range(size):
        s = close[u, x]
        close[u, n], code[u, n] = s, code[u, x]
        n += s >= floor
    return n, floor


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
        _drain(score, key, code, size, out[u])
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
def _drain(score, key, code, size, out):  # type: ignore[no-untyped-def]
    """Empty the heap into ``out``, worst last, −1 behind it."""
    out[size:] = -1
    for left in range(size - 1, -1, -1):
        out[left] = code[0]
        sink(score, key, code, left, score[left], key[left], code[left])
