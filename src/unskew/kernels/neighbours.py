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

SLACK = 1.0 - 1e-5  # rounding of the quick test by which most candidates fail, in single precision


@njit(cache=True, nogil=True)
def nearest(first, last, asked, indptr, column, back, row, shrink, hashes, seed, near, alike):  # type: ignore[no-untyped-def]
    """Fill ``near[b]`` with the rows most like ``asked[b]`` (first ≤ b < last), ascending, ``alike[b]`` with how much.

    ``column[indptr[r]:indptr[r + 1]]`` are the columns of row r, ``row[back[c]:back[c + 1]]`` the rows of column c.
    Rows that share no column are no neighbours; places without one hold −1 and 0.
    """
    rows, k = len(indptr) - 1, near.shape[1]
    score, key, code = np.empty(k, np.float64), np.empty(k, np.uint64), np.empty(k, np.int32)  # the heap
    common, met = np.zeros(rows, np.int32), np.empty(rows + 1, np.int32)
    root, best = roots(indptr[1:] - indptr[:-1]), np.empty(groups_for(k, rows), np.float32)
    for b in range(first, last):
        r, cost = asked[b], 0
        for e in range(indptr[r], indptr[r + 1]):
            cost += back[column[e] + 1] - back[column[e]]
        n, size, salt = indptr[r + 1] - indptr[r], 0, mix(hashes[r] ^ seed)
        few = cost < rows  # then the rows that are met are listed, else all are looked at
        many = _list_common(r, indptr, column, back, row, common, met) if few else 0
        if not few:
            _count_common(r, indptr, column, back, row, common)
        common[r] = 0
        if not few:
            many = candidates(common, root[r], root, np.float32(shrink), k, best, met)
        for m in range(many):
            s = np.uintp(met[m])
            c = common[s]
            if c == 0:
                continue
            value = c / (np.sqrt(np.float64(n * (indptr[s + 1] - indptr[s]))) + shrink)
            if size < k:
                size = rise(score, key, code, size, value, mix(salt ^ hashes[s]), np.int32(s))
            elif value >= score[0]:
                h = mix(salt ^ hashes[s])
                if value > score[0] or h < key[0]:
                    sink(score, key, code, size, value, h, np.int32(s))
        if few:
            for m in range(many):
                common[met[m]] = 0
        else:
            common[:] = 0
        order = np.argsort(code[:size])
        near[b, :size], alike[b, :size] = code[:size][order], score[:size][order]
        near[b, size:], alike[b, size:] = -1, 0.0


@njit(cache=True, nogil=True)
def roots(counts):  # type: ignore[no-untyped-def]
    """√n in single precision; 1 where a row has no columns, which then shares none."""
    return np.sqrt(np.maximum(counts, 1).astype(np.float64)).astype(np.float32)


@njit(cache=True, nogil=True)
def groups_for(k, rows):  # type: ignore[no-untyped-def]
    """Into how many groups ``candidates`` deals out the rows; 0 where that would save nothing."""
    return k + 1 + k // 4 if rows > 8 * k else 0


@njit(cache=True, nogil=True)
def candidates(common, own_root, root, shrink, k, best, met):  # type: ignore[no-untyped-def]
    """List the rows that may be among the k nearest in ``met``, ascending; gives back how many those are.

    Rows are dealt out to groups, and the (k + 1)-th of the groups' best is reached by as many rows, one of which may be
    the row itself: whoever does not reach it is out. There are no branches, so that an instruction takes several rows.
    """
    rows, groups, bar = np.uintp(len(common)), np.uintp(len(best)), np.float32(0.0)
    if groups:
        best[:] = bar
        for start in range(np.uintp(0), rows, groups):
            for g in range(min(groups, rows - start)):
                value = np.float32(common[start + g]) / (own_root * root[start + g] + shrink)
                best[g] = value if value > best[g] else best[g]
        bar = np.partition(best, len(best) - k - 1)[len(best) - k - 1] * np.float32(SLACK)
    many, slope, least = np.uintp(0), bar * own_root, bar * shrink
    for s in range(rows):
        met[many] = s
        c = np.float32(common[s])
        many += np.uintp((c > 0) & (c >= slope * root[s] + least))
    return many


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
