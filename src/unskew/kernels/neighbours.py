"""The rows of a 0/1 matrix that are most alike, and what neighbours vote for.

    alike(r, s) = c / (√(n_r n_s) + shrink)          c: columns that both rows have, n: columns of a row

Columns that two rows share are counted exactly before anything is divided, so that rows that are equally alike have
equal numbers, and a tie at the cut-off goes to the stable hash of the two rows. One row's counts are held at a time:
the cost is that of all pairs in the same column, and nothing of the size rows × rows is made. Rows do not depend on
each other: any division of the rows among threads gives the same numbers.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.topk import rise, sink

SLACK = 1.0 - 1e-12  # rounding of the quick test by which most candidates fail


@njit(cache=True, nogil=True)
def nearest(first, last, asked, indptr, column, back, row, shrink, hashes, seed, near, alike):  # type: ignore[no-untyped-def]
    """Fill ``near[b]`` with the rows most like ``asked[b]`` (first ≤ b < last), ascending, ``alike[b]`` with how much.

    ``column[indptr[r]:indptr[r + 1]]`` are the columns of row r, ``row[back[c]:back[c + 1]]`` the rows of column c.
    Rows that share no column are no neighbours; places without one hold −1 and 0.
    """
    rows, k = len(indptr) - 1, near.shape[1]
    score, key, code = np.empty(k, np.float64), np.empty(k, np.uint64), np.empty(k, np.int32)  # the heap
    common, met = np.zeros(rows, np.int32), np.empty(rows + 1, np.int32)
    root = np.sqrt((indptr[1:] - indptr[:-1]).astype(np.float64))
    for b in range(first, last):
        r, cost = asked[b], 0
        for e in range(indptr[r], indptr[r + 1]):
            cost += back[column[e] + 1] - back[column[e]]
        n, size, salt, bar = indptr[r + 1] - indptr[r], 0, mix(hashes[r] ^ seed), 0.0
        few = cost < rows  # then the rows that are met are listed, else all are looked at
        many = _list_common(r, indptr, column, back, row, common, met) if few else rows
        if not few:
            _count_common(r, indptr, column, back, row, common)
        common[r] = 0
        for m in range(many):
            s = np.uintp(met[m]) if few else np.uintp(m)
            c = common[s]
            if c == 0 or c < bar * (root[r] * root[s] + shrink):
                continue
            value = c / (np.sqrt(np.float64(n * (indptr[s + 1] - indptr[s]))) + shrink)
            if size < k:
                size = rise(score, key, code, size, value, mix(salt ^ hashes[s]), np.int32(s))
            elif value >= score[0]:
                h = mix(salt ^ hashes[s])
                if value > score[0] or h < key[0]:
                    sink(score, key, code, size, value, h, np.int32(s))
            if size == k:
                bar = score[0] * SLACK
        if few:
            for m in range(many):
                common[met[m]] = 0
        else:
            common[:] = 0
        order = np.argsort(code[:size])
        near[b, :size], alike[b, :size] = code[:size][order], score[:size][order]
        near[b, size:], alike[b, size:] = -1, 0.0


@njit(cache=True, nogil=True)
def _count_common(r, indptr, column, back, row, common):  # type: ignore[no-untyped-def]
    """Count the columns that each row shares with row r."""
    for e in range(indptr[r], indptr[r + 1]):
        c = column[e]
        for x in range(np.uintp(back[c]), np.uintp(back[c + 1])):
            common[np.uintp(row[x])] += np.int32(1)


@njit(cache=True, nogil=True)
def _list_common(r, indptr, column, back, row, common, met):  # type: ignore[no-untyped-def]
    """The same, and list the rows that share any; gives back how many those are."""
    many = 0
    for e in range(indptr[r], indptr[r + 1]):
        c = column[e]
        for x in range(np.uintp(back[c]), np.uintp(back[c + 1])):
            s = np.uintp(row[x])
            met[many] = row[x]
            many += common[s] == 0
            common[s] += np.int32(1)
    return many


@njit(cache=True, nogil=True)
def vote(rows, indptr, voter, strength, ballot, choice, worth, out):  # type: ignore[no-untyped-def]
    """out[b] = Σ over the voters v of ``rows[b]`` of strength · the ballot of v; row −1 has no voters.

    ``strength`` and ``worth`` are per voter and per entry of a ballot; empty means 1. Sums run over voters in their
    order.
    """
    out[:] = 0.0
    for b in range(len(rows)):
        if rows[b] < 0:
            continue
        for e in range(indptr[rows[b]], indptr[rows[b] + 1]):
            v, s = voter[e], strength[e] if len(strength) else 1.0
            for x in range(ballot[v], ballot[v + 1]):
                out[b, choice[x]] += s * worth[x] if len(worth) else s
