"""Factorisation by stochastic gradient descent, one pass over the rows at a time, for five losses.

    score z_ui = v_u·w_i + a_u + b_i + c

    logistic   log(1 + e^z) − y·z                              y = 1 for positives, 0 for seen zeros
    squared    ½ (z − y)²
    bpr        log(1 + e^−(z_p − z_n))                         n: the item of a random row, no positive (Rendle 2009)
    warp       log⌊(I − 1)/t⌋ · (1 − z_p + z_n)                n: first violator in t uniform draws (Weston 2011)
    warp-kos   like warp, p the k-th best of n draws from the user's positives, ⌊negatives/t⌋ (Weston 2013)

A violator scores more than z_p − 1; after ``most`` draws without one the row is left alone. Offsets of users cancel in
the last three and stay 0; the logarithm is cut at 10. Every parameter has a step size of its own: rate/√G with
G = 1 + Σ earlier g² (Adagrad, Duchi 2011), or Adadelta (Zeiler 2012). The penalty shrinks *all* users and items in
every step, by 1/(1 + l2·mean step size of the rows just moved), which one running factor per side does in O(1).

Numbers are of single precision, as in LightFM, and rows have a multiple of ``LANES`` columns, so that loops over them
run in whole SIMD registers: users (v, a, 0, 0 …), items (w, 0, b, 0 …). Columns of zeros add nothing to products and
never move: their G is infinite.

Draws are SplitMix64 on a counter, so a pass depends on its seed and nothing else. One model is one thread; many models
run side by side, since no lock is held. What moves rows is inlined into the pass, since calls with arrays count
references, which takes longer than the sums; divisions do not look for zeros (error_model), which SIMD could not.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import mix, njit

LOGISTIC, SQUARED, BPR, WARP, WARP_KOS = 0, 1, 2, 3, 4
TRIES = 1000  # draws in which bpr looks for a row whose item the user has not; then the positive is left alone
LARGEST = 10.0  # weight of a warp step
FOLD = 1e-6  # the running factor is multiplied in before it gets smaller than this
RHO, EPSILON = np.float32(0.95), np.float32(1e-6)  # of Adadelta
REST = np.float32(1.0 - 0.95)
LANES = 16  # numbers of single precision in the widest register
NONE = np.float32(0.0)
ORDER = {"reassoc", "contract"}  # sums may be taken in another order, which SIMD needs


@njit(cache=True, nogil=True, inline="always")
def below(counter, n):  # type: ignore[no-untyped-def]
    """A number from 0 to n − 1; moves the counter."""
    counter[0] += np.uint64(1)
    return np.int64(((mix(counter[0]) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True, fastmath=ORDER)
def score(users, items, u, i, dim, both):  # type: ignore[no-untyped-def]
    """v·w + a + b of stored rows; ``both`` holds the running factor of users, of items and their product."""
    z = NONE
    for j in range(users.shape[1]):
        z += users[u, j] * items[i, j]
    return z * both[2] + users[u, dim] * both[0] + items[i, dim + 1] * both[1]


@njit(cache=True, nogil=True)
def holds(indptr, item, u, i):  # type: ignore[no-untyped-def]
    """Whether item i is among the user's ascending items."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if item[middle] < i:
            low = middle + 1
        else:
            high = middle
    return low < indptr[u + 1] and item[low] == i


@njit(cache=True, nogil=True, inline="always")
def step(values, squares, moved, r, slopes, g, scale, rate, adadelta):  # type: ignore[no-untyped-def]
    """Move row r against the gradient ``slopes[g]``; gives back the sum of its step sizes (in any order, SIMD)."""
    total, back, rate = NONE, np.float32(1.0 / scale), np.float32(rate)
    if adadelta:
        for j in range(slopes.shape[1]):
            x = slopes[g, j]
            squares[r, j] = RHO * squares[r, j] + REST * x * x
            size = np.sqrt((moved[r, j] + EPSILON) / (squares[r, j] + EPSILON))
            moved[r, j] = RHO * moved[r, j] + REST * size * x * size * x
            values[r, j] -= size * x * back
            total += size
    else:
        for j in range(slopes.shape[1]):
            x = slopes[g, j]
            size = rate / np.sqrt(squares[r, j])
            squares[r, j] += x * x
            values[r, j] -= size * x * back
            total += size
    return total


@njit(cache=True, nogil=True)
def fold(values, both, side):  # type: ignore[no-untyped-def]
    """Multiply the running factor of a side into its rows."""
    for r in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[r, j] = np.float32(values[r, j] * both[side])
    both[side] = 1.0
    both[2] = both[0] * both[1]


@njit(cache=True, nogil=True)
def shrink(users, items, both, size, user_l2, item_l2):  # type: ignore[no-untyped-def]
    """The penalty of one step."""
    both[0] /= 1.0 + user_l2 * size
    both[1] /= 1.0 + item_l2 * size
    both[2] = both[0] * both[1]
    if both[0] < FOLD:
        fold(users, both, 0)
    if both[1] < FOLD:
        fold(items, both, 1)


@njit(cache=True, nogil=True, inline="always")
def one(  # type: ignore[no-untyped-def]
    users, items, user_sums, item_sums, user_moves, item_moves, both, u, i, dim, pull, rate, adadelta, slopes
):
    """A step for one pair whose loss has the slope ``pull`` in z; gives back the mean step size."""
    by_item, by_user = np.float32(pull * both[1]), np.float32(pull * both[0])
    for j in range(slopes.shape[1]):
        slopes[0, j], slopes[1, j] = by_item * items[i, j], by_user * users[u, j]
    slopes[0, dim], slopes[1, dim + 1] = pull, pull
    size = step(users, user_sums, user_moves, u, slopes, 0, both[0], rate, adadelta)
    size += step(items, item_sums, item_moves, i, slopes, 1, both[1], rate, adadelta)
    return size / (2 * (dim + 1))


@njit(cache=True, nogil=True, inline="always")
def two(  # type: ignore[no-untyped-def]
    users, items, user_sums, item_sums, user_moves, item_moves, both, u, p, n, dim, pull, rate, adadelta, slopes
):
    """A step that lifts p over n, ``pull`` = −slope of the loss in z_p − z_n; gives back the mean step size."""
    by_item, by_user = np.float32(pull * both[1]), np.float32(pull * both[0])
    for j in range(slopes.shape[1]):
        slopes[0, j] = by_item * (items[n, j] - items[p, j])
        slopes[2, j] = by_user * users[u, j]
        slopes[1, j] = -slopes[2, j]
    slopes[0, dim], slopes[1, dim + 1], slopes[2, dim + 1] = 0.0, -pull, pull
    size = step(users, user_sums, user_moves, u, slopes, 0, both[0], rate, adadelta)
    size += step(items, item_sums, item_moves, p, slopes, 1, both[1], rate, adadelta)
    size += step(items, item_sums, item_moves, n, slopes, 2, both[1], rate, adadelta)
    return size / (3 * (dim + 1))


@njit(cache=True, nogil=True)
def violator(users, items, dim, both, u, z, indptr, item, most, counter):  # type: ignore[no-untyped-def]
    """The first of ``most`` uniform negatives that scores more than z − 1, how many it took, and its score."""
    for t in range(1, most + 1):
        n = below(counter, len(items))
        while holds(indptr, item, u, n):
            n = below(counter, len(items))
        other = score(users, items, u, n, dim, both)
        if other > z - 1.0:
            return n, t, other
    return -1, most, 0.0


@njit(cache=True, nogil=True)
def kth(users, items, dim, both, u, indptr, item, k, draws, scores, which, counter):  # type: ignore[no-untyped-def]
    """The k-th best of ``draws`` draws, with replacement, from a user's positives; of equals the one drawn first.

    The draw that k − 1 others are ahead of: comparing all with all has no branches to guess, which a sort has.
    """
    many = min(draws, indptr[u + 1] - indptr[u])
    for t in range(many):
        which[t] = item[indptr[u] + below(counter, indptr[u + 1] - indptr[u])]
        scores[t] = score(users, items, u, which[t], dim, both)
    found = 0
    for t in range(many):
        ahead = 0
        for other in range(many):
            ahead += (scores[other] > scores[t]) | ((scores[other] == scores[t]) & (other < t))
        found = t if ahead == min(k, many) - 1 else found
    return which[found]


@njit(cache=True, nogil=True, fastmath=ORDER, error_model="numpy")
def epoch(  # type: ignore[no-untyped-def]
    loss,
    user,
    row_item,
    y,
    order,
    indptr,
    item,
    users,
    items,
    user_sums,
    item_sums,
    user_moves,
    item_moves,
    dim,
    level,
    rate,
    user_l2,
    item_l2,
    adadelta,
    most,
    k,
    draws,
    counter,
):
    """One pass over the rows in a new random order; gives back the mean loss and the number of rows that had one.

    ``user``, ``row_item`` and ``y`` are the rows; ``item[indptr[u]:indptr[u + 1]]`` the ascending positives of user u;
    ``sums`` and ``moves`` what Adagrad (Adadelta) remembers, of users and of items.
    """
    both, total, count = np.ones(3), 0.0, 0
    scores, which = np.empty(draws), np.empty(draws, np.int64)
    slopes = np.empty((3, users.shape[1]), np.float32)
    for e in range(len(order) - 1, 0, -1):
        other = below(counter, e + 1)
        order[e], order[other] = order[other], order[e]
    for e in range(len(order)):
        row = order[e]
        u, p = user[row], np.int64(row_item[row])
        if loss <= SQUARED:
            z = score(users, items, u, p, dim, both) + level
            if loss == LOGISTIC:
                pull = 1.0 / (1.0 + np.exp(-z)) - y[row]
                total += np.log1p(np.exp(-abs(z))) + max(z, 0.0) - y[row] * z
            else:
                pull = z - y[row]
                total += 0.5 * pull * pull
            count += 1
            size = one(
                users, items, user_sums, item_sums, user_moves, item_moves, both,
                u, p, dim, pull, rate, adadelta, slopes,
            )  # fmt: skip
        else:
            positives = indptr[u + 1] - indptr[u]
            if positives >= len(items):
                continue  # everything is a positive: nothing to rank below
            n = np.int64(-1)
            if loss == BPR:
                for _ in range(TRIES):
                    tried = np.int64(row_item[below(counter, len(order))])
                    if not holds(indptr, item, u, tried):
                        n = tried
                        break
                if n < 0:
                    continue
                count += 1
                gap = score(users, items, u, p, dim, both) - score(users, items, u, n, dim, both)
                pull = 1.0 / (1.0 + np.exp(gap))
                total += np.log1p(np.exp(-abs(gap))) + max(-gap, 0.0)
            else:
                if loss == WARP_KOS:
                    p = kth(users, items, dim, both, u, indptr, item, k, draws, scores, which, counter)
                z = score(users, items, u, p, dim, both)
                n, t, other = violator(users, items, dim, both, u, z, indptr, item, most, counter)
                count += 1
                if n < 0:
                    continue
                pool = len(items) - 1 if loss == WARP else len(items) - positives
                pull = min(np.log(max(1.0, np.floor(pool / t))), LARGEST)
                total += pull * (1.0 - z + other)
            size = two(
                users, items, user_sums, item_sums, user_moves, item_moves, both,
                u, p, n, dim, pull, rate, adadelta, slopes,
            )  # fmt: skip
        shrink(users, items, both, size, user_l2, item_l2)
    fold(users, both, 0)
    fold(items, both, 1)
    return total / max(count, 1), count
