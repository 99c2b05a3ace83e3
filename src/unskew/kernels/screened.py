"""The k best items of each user by v·w + b, exactly, screened in single precision.

A screened score is off by at most e (``models/screen.py``): what lies more than 2e below the k-th best screened score
so far is below k items for certain, and two items whose screened scores differ by more than 2e are in that order. Only
the others are scored again in double precision, always summed in the same order (``topk.py`` says why).

Items come by the length of their factors, longest first. By Cauchy and Schwarz no later item scores more than |v̂| times
the length of the next one; a user whose k-th best lies above that is done.

Scores of four users and four factors at a time, on a tile of items that rests in the second cache, come as fast as from
a matrix product, and are compared while they are in the first.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

HALVINGS = 12  # of the range in which the k-th best screened score lies
WIDE = 512  # items that are screened together: their factors in single precision fit the second cache
LANE = 64  # screened scores that are compared at once; fewer are no longer compared by vector instructions


@njit(cache=True, nogil=True, fastmath={"contract"})
def _screen_scores(four, users, tile, out):  # type: ignore[no-untyped-def]
    """Fill ``out[4, WIDE]`` with single-precision scores of four users for the items of one tile."""
    first, second, third, fourth = four
    for i in range(WIDE):
        out[0, i] = out[1, i] = out[2, i] = out[3, i] = 0.0
    for j in range(0, users.shape[1], 4):
        a0, a1, a2, a3 = users[first, j], users[first, j + 1], users[first, j + 2], users[first, j + 3]
        b0, b1, b2, b3 = users[second, j], users[second, j + 1], users[second, j + 2], users[second, j + 3]
        c0, c1, c2, c3 = users[third, j], users[third, j + 1], users[third, j + 2], users[third, j + 3]
        d0, d1, d2, d3 = users[fourth, j], users[fourth, j + 1], users[fourth, j + 2], users[fourth, j + 3]
        for i in range(WIDE):
            v, w, x, y = tile[j, i], tile[j + 1, i], tile[j + 2, i], tile[j + 3, i]
            out[0, i] += a0 * v + a1 * w + a2 * x + a3 * y
            out[1, i] += b0 * v + b1 * w + b2 * x + b3 * y
            out[2, i] += c0 * v + c1 * w + c2 * x + c3 * y
            out[3, i] += d0 * v + d1 * w + d2 * x + d3 * y


@njit(cache=True, nogil=True)
def top_k_screened(  # type: ignore[no-untyped-def]
    k, wide, tiles, reach, order, length, error, rows, left, right, offsets, users, items, seed, indptr, excluded,
    scores, close, code, out
):  # fmt: skip
    """Fill ``out[b, k]`` with the best items of each user; per user 0, 1 where the cut-off is tied, or −1: not found.

    ``wide[b, D]`` are single-precision factors of users and ``tiles[t, D, WIDE]`` those of the items in their order,
    zeros behind the last; ``reach[t]`` is the length of the first of a tile, ``length[b]`` that of a user, ``error[b]``
    is 2e. ``left[rows[b]]`` and ``right[i]`` are factors in double precision (row −1: none). ``excluded`` are places in
    the order. ``scores``, ``close`` and ``code`` are room to work in: users for whom more items remain than there is
    room (many are nearly tied) are not found.
    """
    many, stop = len(users), len(items)
    tied = np.zeros(many, dtype=np.int8)
    sizes, floors, at = np.zeros(many, np.int64), np.full(many, -np.inf, np.float32), indptr[:-1].copy()
    active, count = np.arange(many), many
    for t in range(len(tiles)):
        first = t * WIDE
        last, still = min(first + WIDE, stop), 0
        for x in range(count):
            u = active[x]
            active[still] = u
            still += sizes[u] >= 0 and length[u] * reach[t] >= floors[u]
        count = still
        for x in range(0, count, 4):
            four = (
                active[x],
                active[min(x + 1, count - 1)],
                active[min(x + 2, count - 1)],
                active[min(x + 3, count - 1)],
            )
            _screen_scores(four, wide, tiles[t], scores)
            for r in range(min(4, count - x)):
                u = active[x + r]
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
