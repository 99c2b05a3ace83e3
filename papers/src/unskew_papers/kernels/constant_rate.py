"""Factorisation by stochastic gradient descent with one step size, which never changes; one pass at a time.

    z_ui = v_u·w_i (+ a_u + b_i)

    squared   ½ (y − c − z)²             every pair once                  (Koren, Bell & Volinsky 2009)
    bpr       log(1 + e^−(z_p − z_n))    as many draws as there are pairs  (Rendle et al. 2009)
    hinge     max(0, z_n − z_p)          the same                          (Weimer et al. 2008, with a margin of 0)

Every step moves the rows of its pair by rate·(−slope − l2·row), from what both were before the step. These are the
steps of Cornac (MF, SVD; BPR, MMMF): a positive pair is drawn with replacement, a second item out of all, and the draw
is lost where the user has that item too. ``kernels/sgd.py`` has step sizes that adapt.

Offsets are columns: with them users are (v, 1, a) and items (w, b, 1), so that products hold them and their steps are
those of factors; the ones are put back after every step. In pairwise losses a cancels, and there is no such column.
Numbers are of single precision, rows a multiple of ``sgd.LANES`` long; columns of zeros stay zeros.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import njit
from unskew_papers.kernels.sgd import ORDER, below, holds

ONE = np.float32(1.0)
NONE = np.float32(0.0)


@njit(cache=True, nogil=True, fastmath=ORDER)
def squared_epoch(user, item, y, users, items, dim, offsets, rate, l2):  # type: ignore[no-untyped-def]
    """Meet every pair once, in the order in which they stand; gives back the mean loss as met before steps.

    ``y`` is the target less c; with ``offsets`` the columns dim and dim + 1 are those told above.
    """
    total, keep = 0.0, ONE - rate * l2
    for e in range(len(user)):
        u, i, z = np.intp(user[e]), np.intp(item[e]), NONE
        for j in range(users.shape[1]):
            z += users[u, j] * items[i, j]
        error = y[e] - z
        total += 0.5 * error * error
        pull = rate * error
        for j in range(users.shape[1]):
            v, w = users[u, j], items[i, j]
            users[u, j] = keep * v + pull * w
            items[i, j] = keep * w + pull * v
        if offsets:
            users[u, dim], items[i, dim + 1] = ONE, ONE
    return total / max(len(user), 1)


@njit(cache=True, nogil=True, fastmath=ORDER)
def pairwise_epoch(hinge, user, item, indptr, index, draw, users, items, dim, rate, l2, counter):  # type: ignore[no-untyped-def]
    """As many draws as there are pairs; gives back the mean loss of those that were not lost, and how many were.

    ``index[indptr[u]:indptr[u + 1]]`` are the ascending items of user u; ``draw`` holds all items, in the order in
    which numbers stand for them.
    """
    total, lost, keep = 0.0, 0, ONE - rate * l2
    for _ in range(len(user)):
        e = below(counter, len(user))
        u, p, n = np.intp(user[e]), np.intp(item[e]), np.intp(draw[below(counter, len(draw))])
        if holds(indptr, index, u, n):
            lost += 1
            continue
        gap = NONE
        for j in range(users.shape[1]):
            gap += users[u, j] * (items[p, j] - items[n, j])
        if hinge:
            if gap > NONE:
                continue
            total += float(-gap)
            pull = np.float32(rate)
        else:
            small = np.exp(-abs(np.float64(gap)))
            total += np.log1p(small) + max(-gap, NONE)
            pull = np.float32(rate * (small if gap > NONE else 1.0) / (1.0 + small))
        for j in range(users.shape[1]):
            v, w, x = users[u, j], items[p, j], items[n, j]
            users[u, j] = keep * v + pull * (w - x)
            items[p, j] = keep * w + pull * v
            items[n, j] = keep * x - pull * v
        users[u, dim] = ONE
    return total / max(len(user) - lost, 1), lost
