"""The k best items of each user by v·w + b, exactly, without scores of items that cannot be among them.

Items come by the length of w, longest first. By Cauchy and Schwarz no score from item i on exceeds

    |v| |w_i| + the largest b from i on

and a user whose k-th best score lies above that is done (as in Teflioudi, Gemulla & Mykytiuk 2015, "LEMP"); where
lengths are all alike, every item is looked at. A tile of items passes by all users that are left while it is in the
cache. Scores are summed in one order, whoever is asked for beside (``topk.py``, where ties are explained too).
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.topk import drain, rise, sink

TILE = 128  # items of a tile
STRETCH = 32  # items of it whose best score is compared with a user's k-th best first


@njit(cache=True, nogil=True)
def top_k_of_factors(  # type: ignore[no-untyped-def]
    rows, users, items, offsets, reach, highest, code_of, place_of, k, hashes, item_hashes, seed, indptr, excluded, out
):
    """Fill ``out[b, k]`` with the best items of each user in rank order, −1 where there is none.

    ``users[rows[b]]`` is v (row −1: none), ``items[:, p]`` is w of the item ``code_of[p]``, which stands at place p;
    all arrays of items are by place but for ``place_of``. ``reach`` is |w| and ``highest`` the largest offset from p
    on, both with what rounding may add. ``hashes``, ``excluded`` and what is given back are as in ``top_k``.
    """
    count, tied, held = len(rows), np.zeros(len(rows), dtype=np.bool_), np.empty(TILE)
    score, key = np.empty((count, k), np.float64), np.empty((count, k), np.uint64)  # a heap for each user
    code, size, left_out = np.empty((count, k), np.int32), np.zeros(count, np.int64), np.full(count, np.nan)
    gone, length = np.zeros((count, -(-items.shape[1] // 64)), np.uint64), np.zeros(count)
    for u in range(count):
        for x in range(indptr[u], indptr[u + 1]):
            place = place_of[excluded[x]]
            gone[u, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        for j in range(users.shape[1] if rows[u] >= 0 else 0):
            length[u] += users[rows[u], j] ** 2
        length[u] = np.sqrt(length[u])
    left, many = np.arange(count), count
    for first in range(0, items.shape[1], TILE):
        last, still = min(first + TILE, items.shape[1]), 0
        for m in range(many):
            u = left[m]
            if size[u] == k and length[u] * reach[first] + highest[first] < score[u, 0]:
                continue
            left[still] = u
            still += 1
            _score_tile(rows[u], users, items, offsets, first, last, held)
            heap, salt = (score[u], key[u], code[u]), mix(hashes[u] ^ seed)
            size[u], left_out[u] = _take(
                held, first, last, k, salt, item_hashes, code_of, gone[u], heap, size[u], left_out[u]
            )
        many = still
    for u in range(count):
        tied[u] = size[u] == k and left_out[u] == score[u, 0]
        drain(score[u], key[u], code[u], size[u], out[u])
    return tied


@njit(cache=True, nogil=True)
def _score_tile(row, users, items, offsets, first, last, out):  # type: ignore[no-untyped-def]
    """((b + v_1 w_1) + v_2 w_2) + … for the items of one tile, four factors at a time."""
    start, many = np.uintp(first), np.uintp(last - first)
    for i in range(many):
        out[i] = offsets[start + i]
    if row < 0:
        return
    u, whole = np.uintp(row), np.uintp(len(items) // 4 * 4)
    for j in range(np.uintp(0), whole, np.uintp(4)):
        j1, j2, j3 = j + np.uintp(1), j + np.uintp(2), j + np.uintp(3)
        v, v1, v2, v3 = users[u, j], users[u, j1], users[u, j2], users[u, j3]
        w, w1, w2, w3 = items[j], items[j1], items[j2], items[j3]
        for i in range(many):
            out[i] = out[i] + v * w[start + i] + v1 * w1[start + i] + v2 * w2[start + i] + v3 * w3[start + i]
    for j in range(whole, np.uintp(len(items))):
        v, w = users[u, j], items[j]
        for i in range(many):
            out[i] += v * w[start + i]


@njit(cache=True, nogil=True)
def _take(scores, first, last, k, salt, hashes, code_of, gone, heap, size, left_out):  # type: ignore[no-untyped-def]
    """Put the items of a tile into a user's heap where they belong there; what was left out last, as in ``top_k``."""
    score, key, code = heap
    for start in range(0, last - first, STRETCH):
        stop = min(start + STRETCH, last - first)
        if size == k and _best(scores, start, stop) < score[0]:
            continue
        for i in range(start, stop):
            s, place = scores[i], first + i
            if size == k and s < score[0]:
                continue
            if (gone[place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
                continue
            h = mix(salt ^ hashes[place])
            if size < k:
                size = rise(score, key, code, size, s, h, code_of[place])
            elif s > score[0] or h < key[0]:
                left_out = score[0]
                sink(score, key, code, size, s, h, code_of[place])
            else:
                left_out = s
    return size, left_out


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _best(scores, start, stop):  # type: ignore[no-untyped-def]
    """The largest of some scores."""
    best = -np.inf
    for i in range(np.uintp(start), np.uintp(stop)):
        best = max(best, scores[i])
    return best
