"""The k best items of each user by v·w + b, exactly, screened in single precision.

A screened score is off by at most e (``models/packed.py``): what lies more than 2e below the k-th best screened score
so far is below k items for certain, and two items whose screened scores differ by more than 2e are in that order. Only
the others are scored again in double precision, always summed in the same order (``topk.py`` says why).

Items come by the length of their factors, longest first. By Cauchy and Schwarz no later item scores more than |v̂| times
the length of the next one; a user whose k-th best lies above that is done.

Floors start from a sample: the first panels hold items of all lengths, every tenth or so, and the r-th best of them for
a user is a floor that about r·I/S of all items reach, S of them in the sample. Where fewer than k turn out to lie 2e
above it, which is seldom, the user is screened again from the bottom: a floor that is guessed never decides a list.

Scores of four users for a panel of 64 items are made as in a matrix product and compared with floors on the way
(``panels.py``); what does not reach its floor, nearly everything, costs nothing more.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix
from unskew.kernels.panels import PANEL, count_bits, lowest, reach, reach_four

HALVINGS = 12  # of the range in which the k-th best screened score lies
TILE = 8  # panels between two looks at who is done
ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def top_k_screened(  # type: ignore[no-untyped-def]
    k, sample, wide, panels, longest, order, place, length, error, rows, left, right, offsets, users, items, seed,
    indptr, excluded, scores, close, code, gone, out
):  # fmt: skip
    """Fill ``out[b, k]`` with the best items of each user; per user 0, 1 where the cut-off is tied, or −1: not found.

    ``sample`` is how many panels hold the sample, and r. ``wide[b, D]`` are single-precision factors of users and
    ``panels[p, D, 64]`` those of the items in their order, zeros behind the last; ``longest[p]`` is the length of the
    first of a panel, ``length[b]`` that of a user, ``error[b]`` is 2e. ``left[rows[b]]`` and ``right[i]`` are factors
    in double precision (row −1: none), and item i stands at ``place[i]`` in the order. ``scores``, ``close``, ``code``
    and ``gone`` are room to work in: users for whom more items remain than there is room (many are nearly tied) are not
    found.
    """
    many, (sampled, r) = len(users), sample
    tied, exact = np.empty(many, dtype=np.int8), np.empty(close.shape[1], np.float64)
    sizes, floors, proven = np.zeros(many, np.int64), np.full(many, -np.inf, np.float32), np.ones(many, np.bool_)
    active, room = np.arange(many), close.shape[1]
    mark(indptr, excluded, place, gone)
    given = wide, panels, longest, length, error, gone, scores, close, code, sizes, floors, proven
    _walk(0, sampled, active, r, min(room, 2 * r + 2 * PANEL), given)
    for u in range(many):
        if sizes[u] > r:
            sizes[u], floors[u] = _compress(close, code, u, sizes[u], r, error[u], floors[u])
        proven[u] = floors[u] == -np.inf
    _walk(sampled, len(panels), active, k, room, given)
    again = 0
    for u in range(many):
        floor = -np.inf
        if sizes[u] >= k:
            sizes[u], floor = _compress(close, code, u, sizes[u], k, error[u], np.float32(-np.inf))
        if sizes[u] >= 0 and not proven[u] and floor < floors[u]:
            active[again] = u
            again += 1
            sizes[u], floors[u], proven[u] = 0, -np.inf, True
    active = active[:again]
    _walk(0, sampled, active, k, room, given)
    _walk(sampled, len(panels), active, k, room, given)
    for x in range(again):
        u = active[x]
        if sizes[u] > k:
            sizes[u], _ = _compress(close, code, u, sizes[u], k, error[u], floors[u])
    for u in range(many):
        size = sizes[u]
        if size < 0:
            tied[u] = -1
            continue
        for x in range(size):
            code[u, x], exact[x] = order[code[u, x]], np.nan
        salt, full = mix(users[u] ^ seed), _fill_up(close, u, size)
        here = close, u, full, size, code[u], error[u], k, rows[u]
        tied[u] = _place(here, left, right, offsets, salt, items, exact, out[u])
    return tied


@njit(cache=True, nogil=True)
def _walk(begin, end, everyone, want, room, given):  # type: ignore[no-untyped-def]
    """Take from some panels what reaches the floors of these users, raised to the ``want``-th best when room is out."""
    wide, panels, longest, length, error, gone, scores, close, code, sizes, floors, proven = given
    active, count = everyone.copy(), len(everyone)
    for p in range(begin, end):
        if (p - begin) % TILE == 0:
            count = still_active(active, count, length, longest[p], floors)
        first = p * PANEL
        for x in range(0, count, 4):
            four = (
                active[x],
                active[min(x + 1, count - 1)],
                active[min(x + 2, count - 1)],
                active[min(x + 3, count - 1)],
            )
            reached = reach_four(wide, four, panels, p, floors, scores)
            for r in range(min(4, count - x)):
                bits, u = reached[r], four[r]
                if bits == 0:
                    continue
                bits &= ~gone[u, p]
                if sizes[u] + count_bits(bits) > room:
                    sizes[u], floor = _compress(close, code, u, sizes[u], want, error[u], floors[u])
                    proven[u] |= floor > floors[u]
                    floors[u] = floor
                    bits &= reach(scores, r, floor)
                    if sizes[u] + count_bits(bits) > room:
                        sizes[u], floors[u] = -1, np.inf
                        continue
                sizes[u] = _take(bits, scores, r, first, close, code, u, sizes[u])


@njit(cache=True, nogil=True)
def still_active(active, count, length, longest, floors):  # type: ignore[no-untyped-def]
    """Keep those users whom items of this length may still reach; how many these are."""
    still = 0
    for x in range(count):
        u = active[x]
        active[still] = u
        still += length[u] * longest >= floors[u]
    return still


@njit(cache=True, nogil=True)
def mark(indptr, excluded, place, gone):  # type: ignore[no-untyped-def]
    """Set the bits of excluded items for every user, and of what stands behind the last item."""
    for u in range(len(indptr) - 1):
        gone[u] = 0
        for x in range(indptr[u], indptr[u + 1]):
            at = place[excluded[x]]
            gone[u, at >> 6] |= ONE << np.uint64(at & 63)
        for at in range(len(place), PANEL * gone.shape[1]):
            gone[u, at >> 6] |= ONE << np.uint64(at & 63)


@njit(cache=True, nogil=True)
def _take(bits, scores, r, first, close, code, u, size):  # type: ignore[no-untyped-def]
    """Add the items whose bits are set; how many there are now."""
    while bits != 0:
        i = lowest(bits)
        bits &= bits - ONE
        close[u, size], code[u, size] = scores[r, i], np.int32(first + i)
        size += 1
    return size


@njit(cache=True, nogil=True)
def _place(here, left, right, offsets, salt, items, exact, out):  # type: ignore[no-untyped-def]
    """Put the k best of a few items into their places, by counting who is before each; whether the cut-off is tied.

    Screened scores that differ by 2e or more say who is before; only the others are scored again exactly.
    """
    block, u, full, size, code, error, k, row = here
    close, words, tied = block[u], u * block.shape[1] // PANEL, False
    out[min(k, size) :] = -1
    for x in range(size):
        low, high = close[x] - error, close[x] + error
        before, near = 0, 0
        for word in range(words, words + full // PANEL):
            above = reach(block, word, high)
            before += count_bits(above)
            near += count_bits(reach(block, word, low) & ~above)
        if before >= k:
            continue
        if near > 1:
            s, h, equal, ahead = _exact(x, code, row, left, right, offsets, exact), mix(salt ^ items[code[x]]), 0, 0
            for y in range(size):
                if y == x or close[y] >= high or close[y] < low:
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
def _fill_up(close, u, size):  # type: ignore[no-untyped-def]
    """Put −∞ behind the scores up to a multiple of 64, since so many are counted faster than a part of them."""
    full = (size + PANEL - 1) // PANEL * PANEL
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
def _compress(close, code, u, size, k, error, floor):  # type: ignore[no-untyped-def]
    """Leave what may be among the k best of at least k: how much that is, and what a score must reach from now on.

    The floor is no lower than before. At least k scores reach ``low``, which is brought near to the k-th best by
    halving: counting what reaches a number takes no jumps that a processor would have to guess, unlike a selection.
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
    floor, n = max(floor, np.float32(low - error)), 0
    for first in range(0, full, PANEL):
        bits = reach(close, (u * close.shape[1] + first) // PANEL, floor)
        if size - first < PANEL:
            bits &= (ONE << np.uint64(size - first)) - ONE
        while bits != 0:
            x = first + lowest(bits)
            bits &= bits - ONE
            close[u, n], code[u, n] = close[u, x], code[u, x]
            n += 1
    return n, floor
