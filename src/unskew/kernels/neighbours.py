"""The rows of a 0/1 matrix that are most alike, and what neighbours vote for.

    alike(r, s) = c / (√(n_r n_s) + shrink)          c: columns that both rows have, n: columns of a row

Where entries have weights w, c is Σ w_r w_s over those columns, and n is Σ w². Columns that two rows share are counted
exactly before anything is divided, so that rows that are equally alike have equal numbers, and a tie at the cut-off
goes to the stable hash of the two rows. One row's counts are held at a time: the cost is that of all pairs in the same
column, and nothing of the size rows × rows is made. Rows do not depend on each other: any division of the rows among
threads gives the same numbers.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.selection import smallest

SLACK = 1.0 - 1e-5  # rounding of the quick test by which most candidates fail, in single precision
STEP, STEPS = 19, 256  # bits of a number in single precision that a tally does not tell apart, and its length
FEW = 4  # looks at one of all rows take the time of listing one row
TINIEST = 1e-30  # below every score that is not 0
SPARSE = 8  # words of 64 rows that are passed by in the time of sorting one row
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # every six bits of it come once
BLOCK = 16  # rows whose best is looked at together: a vector of the widest machines


@njit(cache=True, nogil=True)
def nearest(  # type: ignore[no-untyped-def]
    first, last, asked, indptr, column, weight, back, row, worth, own, shrink, hashes, seed, near, alike
):
    """Fill ``near[b]`` with the rows most like ``asked[b]`` (first ≤ b < last), ascending, ``alike[b]`` with how much.

    ``column[indptr[r]:indptr[r + 1]]`` are the columns of row r, ``row[back[c]:back[c + 1]]`` the rows of column c,
    ``weight`` and ``worth`` their weights, all above 0; empty means 1, and c is then counted in their type.
    Rows that share no column are no neighbours; places without one hold −1 and 0.
    """
    rows, k = len(indptr) - 1, near.shape[1]
    root, every = roots(own), np.arange(rows).astype(np.int32)
    common, quick, exact = np.zeros(rows, weight.dtype), scores_for(rows), np.empty(rows)
    met, chosen = np.empty(rows + 1, np.int32), np.empty(rows + 1, np.int32)
    bits, place_of = np.zeros(-(-rows // 64), np.uint64), places_of_bits()
    for b in range(first, last):
        r, cost = asked[b], 0
        for e in range(indptr[r], indptr[r + 1]):
            cost += back[column[e] + 1] - back[column[e]]
        few = FEW * cost < rows  # then the rows that are met are listed, else all are looked at
        if few:
            listed = met[: _list_common(r, indptr, column, weight, back, row, worth, common, met)]
            common[r] = 0
            quick_scores(listed, common, root[r], root, np.float32(shrink), quick)
        else:
            listed = every
            _count_common(r, indptr, column, weight, back, row, worth, common)
            common[r] = 0
            quick_scores_of_all(common, root[r], root, np.float32(shrink), quick)
        many = candidates(listed, quick, k, chosen)
        if few and indptr[r + 1] - indptr[r] > 1:  # the rows of one column are listed in their order
            _sort(chosen, np.int64(many), bits, place_of)
        keep(r, chosen, many, common, own, shrink, hashes, seed, exact, near[b], alike[b])
        if few:
            for s in listed:
                common[s] = 0
        else:
            common[:] = 0


@njit(cache=True, nogil=True)
def roots(counts):  # type: ignore[no-untyped-def]
    """√n in single precision; 1 where a row has no columns, which then shares none."""
    return np.sqrt(np.where(counts > 0, counts, 1).astype(np.float64)).astype(np.float32)


@njit(cache=True, nogil=True)
def scores_for(rows):  # type: ignore[no-untyped-def]
    """Room for quick scores, in whole blocks."""
    return np.zeros(-(-max(rows, 1) // BLOCK) * BLOCK, np.float32)


@njit(cache=True, nogil=True, error_model="numpy")
def quick_scores(listed, common, own_root, root, shrink, quick):  # type: ignore[no-untyped-def]
    """How much the listed rows are alike, in single precision; zeros fill their last block."""
    for m in range(len(listed)):
        s = np.uintp(listed[m])
        quick[m] = np.float32(common[s]) / (own_root * root[s] + shrink)
    for m in range(len(listed), -(-len(listed) // BLOCK) * BLOCK):
        quick[m] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def quick_scores_of_all(common, own_root, root, shrink, quick):  # type: ignore[no-untyped-def]
    """The same of all rows, several by one instruction; what lies behind them stays 0."""
    for s in range(np.uintp(len(common))):
        quick[s] = np.float32(common[s]) / (own_root * root[s] + shrink)
    for s in range(len(common), len(quick)):
        quick[s] = 0.0


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def block_best(quick, best):  # type: ignore[no-untyped-def]
    """The largest score of every block."""
    for b in range(np.uintp(len(best))):
        top, first = np.float32(0.0), b * np.uintp(BLOCK)
        for m in range(np.uintp(BLOCK)):
            top = max(top, quick[first + m])
        best[b] = top


@njit(cache=True, nogil=True)
def candidates(listed, quick, k, chosen):  # type: ignore[no-untyped-def]
    """List in ``chosen`` those of the ``listed`` rows that may be among the k nearest; gives back how many those are.

    The bar is reached by the best of k + 1 blocks or more, and so by as many rows: whoever does not reach it is out,
    and most blocks are passed over as a whole. Where blocks are few, the bar is one that k + 1 of all scores reach.
    A score of 0 never does.
    """
    blocks, many = -(-len(listed) // BLOCK), np.uintp(0)
    if blocks <= 2 * k:
        bar = max(_bar(quick[: len(listed)], k) * np.float32(SLACK), np.float32(TINIEST))
        for m in range(np.uintp(len(listed))):
            chosen[many] = listed[m]
            many += np.uintp(quick[m] >= bar)
        return many
    best = np.empty(blocks, np.float32)
    block_best(quick, best)
    bar = max(_bar(best, k) * np.float32(SLACK), np.float32(TINIEST))
    for b in range(blocks):
        if best[b] < bar:
            continue
        for m in range(np.uintp(b * BLOCK), np.uintp(min((b + 1) * BLOCK, len(listed)))):
            chosen[many] = listed[m]
            many += np.uintp(quick[m] >= bar)
    return many


@njit(cache=True, nogil=True)
def _bar(best, k):  # type: ignore[no-untyped-def]
    """A number that more than k scores reach, and not many more; 0 where there are no more.

    Scores are tallied by their first bits, which ascend with a number that is not negative: the tally's steps are
    sixteenths of a power of two.
    """
    if len(best) <= k:
        return np.float32(0.0)
    bits, top, reached = best.view(np.int32), np.int32(0), 0
    for b in range(len(best)):
        top = max(top, bits[b] >> STEP)
    tally = np.zeros(STEPS, np.int32)
    for b in range(len(best)):
        tally[min(top - (bits[b] >> STEP), STEPS - 1)] += 1
    for below in range(STEPS - 1):
        reached += tally[below]
        if reached > k:
            return np.full(1, (top - below) << STEP, np.int32).view(np.float32)[0]
    return np.float32(0.0)


@njit(cache=True, nogil=True)
def keep(r, chosen, many, common, own, shrink, hashes, seed, exact, near, alike):  # type: ignore[no-untyped-def]
    """Fill ``near`` with the best of the candidates, ascending as they are; a tie at the cut-off goes to the hash.

    Row r itself is not among the candidates.
    """
    k, size, cut = len(near), np.int64(many), -1.0
    _exact_scores(r, chosen, size, common, own, shrink, exact)
    if size > k:
        cut = smallest(exact[:size].copy(), size - k)
        places, tied = k, 0
        for m in range(size):
            places -= exact[m] > cut
            tied += exact[m] == cut
        if tied > places:
            size = _drop_tied(chosen, exact, size, cut, tied - places, mix(hashes[r] ^ seed), hashes)
    at = 0
    for m in range(size):
        if exact[m] >= cut:
            near[at], alike[at] = chosen[m], exact[m]
            at += 1
    near[at:], alike[at:] = -1, 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _exact_scores(r, chosen, size, common, own, shrink, exact):  # type: ignore[no-untyped-def]
    """How much the candidates are alike, several by one instruction."""
    n = np.float64(own[r])
    for m in range(np.uintp(size)):
        s = np.uintp(chosen[m])
        exact[m] = common[s] / (np.sqrt(n * np.float64(own[s])) + shrink)


@njit(cache=True, nogil=True)
def _drop_tied(chosen, exact, size, cut, surplus, salt, hashes):  # type: ignore[no-untyped-def]
    """Take out so many of the rows at the cut-off, those with the largest hashes; gives back how many rows are left."""
    keys, tied = np.empty(size, np.uint64), 0
    for m in range(size):
        if exact[m] == cut:
            keys[tied] = mix(salt ^ hashes[chosen[m]])
            tied += 1
    bound, left, tied = smallest(keys[:tied].copy(), tied - surplus), 0, 0
    for m in range(size):
        stays = True
        if exact[m] == cut:
            stays = keys[tied] < bound
            tied += 1
        if stays:
            chosen[left], exact[left] = chosen[m], exact[m]
            left += 1
    return left


@njit(cache=True, nogil=True)
def _count_common(r, indptr, column, weight, back, row, worth, common):  # type: ignore[no-untyped-def]
    """Count the columns that each row shares with row r."""
    for e in range(indptr[r], indptr[r + 1]):
        c = column[e]
        for x in range(np.uintp(back[c]), np.uintp(back[c + 1])):
            common[np.uintp(row[x])] += weight[e] * worth[x] if len(weight) else np.int32(1)


@njit(cache=True, nogil=True)
def _list_common(r, indptr, column, weight, back, row, worth, common, met):  # type: ignore[no-untyped-def]
    """The same, and list the rows that share any; gives back how many those are."""
    many = 0
    for e in range(indptr[r], indptr[r + 1]):
        c = column[e]
        for x in range(np.uintp(back[c]), np.uintp(back[c + 1])):
            s = np.uintp(row[x])
            met[many] = row[x]
            many += common[s] == 0
            common[s] += weight[e] * worth[x] if len(weight) else np.int32(1)
    return many


@njit(cache=True, nogil=True)
def places_of_bits():  # type: ignore[no-untyped-def]
    """Of every word with one bit set its place, found at (word · DE_BRUIJN) >> 58."""
    out = np.empty(64, np.int32)
    for place in range(64):
        out[((np.uint64(1) << np.uint64(place)) * DE_BRUIJN) >> np.uint64(58)] = place
    return out


@njit(cache=True, nogil=True)
def _sort(chosen, many, bits, place_of):  # type: ignore[no-untyped-def]
    """Sort the first rows of ``chosen``: where they are not few among all, by a bit for each row, read in order."""
    if SPARSE * many < len(bits):
        chosen[:many].sort()
        return
    for m in range(many):
        bits[chosen[m] >> 6] |= np.uint64(1) << np.uint64(chosen[m] & 63)
    at = 0
    for word in range(len(bits)):
        left = bits[word]
        if left:
            bits[word] = 0
        while left:
            lowest = left & (~left + np.uint64(1))
            chosen[at] = (word << 6) + place_of[(lowest * DE_BRUIJN) >> np.uint64(58)]
            at += 1
            left ^= lowest


@njit(cache=True, nogil=True)
def mark_columns(rows, indptr, column, there):  # type: ignore[no-untyped-def]
    """Mark the columns of some rows."""
    for r in rows:
        for e in range(indptr[r], indptr[r + 1]):
            there[column[e]] = True


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
