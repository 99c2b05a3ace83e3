"""Exact ranks of some items of each user by v·w + b, counted without lists: 1 + how many candidates stand before.

Order and ties are those of ``topk.py``. With t the score of a held-out item, s those of others, ŝ screened ones and e
the largest error of these (``screened.py``):

    ŝ ≥ t + 2e   the other is before      ŝ < t − 2e   it is not      else both are compared in double precision

The first is counted by bits, 64 items at a time. Held-out items come from the lowest score on, so that those which
nothing in a panel reaches cost nothing, as do users all of whose held-out items lie above what longer factors can give.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.panels import PANEL, count_bits, lowest, reach, reach_four
from unskew.kernels.screened import TILE, mark, still_active

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def count_ranks(  # type: ignore[no-untyped-def]
    wide, panels, longest, order, place, length, error, largest, rows, left, right, offsets, users, items, seed,
    indptr, excluded, starts, held, scores, gone, out
):  # fmt: skip
    """Fill ``out`` with the ranks of ``held[starts[b]:starts[b + 1]]`` of each user, 0 where one is no candidate.

    ``largest[b]`` is what a user's factors were divided by, ``held`` are items (−1: of no catalogue), ``out`` begins
    at ``starts[0]``; all else is as in ``top_k_screened``.
    """
    many, base = len(users), starts[0]
    rank = out[: starts[-1] - base]
    exact, sorted_ = np.zeros(len(rank)), np.empty(len(rank), np.int64)
    low, high = np.empty(len(rank), np.float32), np.empty(len(rank), np.float32)
    floors, first_of, end_of = np.full(many, np.inf, np.float32), np.empty(many, np.int64), np.empty(many, np.int64)
    mark(indptr, excluded, place, gone)
    for u in range(many):
        n = first_of[u] = starts[u] - base
        for x in range(starts[u] - base, starts[u + 1] - base):
            item = held[base + x]
            rank[x] = 0
            if item < 0 or (gone[u, place[item] >> 6] >> np.uint64(place[item] & 63)) & ONE:
                continue
            rank[x] = 1
            exact[x] = _score(item, rows[u], left, right, offsets)
            low[x], high[x] = _limits(exact[x], largest[u], error[u])
            at = n
            while at > first_of[u] and exact[sorted_[at - 1]] > exact[x]:
                sorted_[at] = sorted_[at - 1]
                at -= 1
            sorted_[at] = x
            n += 1
        end_of[u] = n
        if n > first_of[u]:
            floors[u] = low[sorted_[first_of[u]]]
    active, count = np.arange(many), many
    for p in range(len(panels)):
        if p % TILE == 0:
            count = still_active(active, count, length, longest[p], floors)
        for x in range(0, count, 4):
            four = (
                active[x],
                active[min(x + 1, count - 1)],
                active[min(x + 2, count - 1)],
                active[min(x + 3, count - 1)],
            )
            reached = reach_four(wide, four, panels, p, floors, scores)
            for r in range(min(4, count - x)):
                u = four[r]
                if reached[r] == 0:
                    continue
                there, salt = ~gone[u, p], mix(users[u] ^ seed)
                for y in range(first_of[u], end_of[u]):
                    target = sorted_[y]
                    near = reach(scores, r, low[target]) & there
                    if near == 0:
                        break
                    before = reach(scores, r, high[target]) & there
                    rank[target] += count_bits(before)
                    near &= ~before
                    while near != 0:
                        other = order[p * PANEL + lowest(near)]
                        near &= near - ONE
                        s = _score(other, rows[u], left, right, offsets)
                        own = held[base + target]
                        if s == exact[target] and other != own:
                            g, h = mix(salt ^ items[other]), mix(salt ^ items[own])
                            rank[target] += g < h or (g == h and other < own)
                        rank[target] += s > exact[target]


@njit(cache=True, nogil=True)
def _limits(score, largest, error):  # type: ignore[no-untyped-def]
    """What a screened score must reach to be compared, and to be before; everything is compared where 2e is ∞."""
    if error == np.inf:
        return np.float32(-np.inf), np.float32(np.inf)
    return np.float32(score / largest - error), np.float32(score / largest + error)


@njit(cache=True, nogil=True)
def _score(item, row, left, right, offsets):  # type: ignore[no-untyped-def]
    """((b + v_1 w_1) + v_2 w_2) + …"""
    s = offsets[item]
    if row >= 0:
        for j in range(right.shape[1]):
            s += left[row, j] * right[item, j]
    return s
