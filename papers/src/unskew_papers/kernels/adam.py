"""Matrix factorisation by Adam (Kingma & Ba 2015) on batches of rows; factors stand first, the offset last.

    loss(batch) = Σ w·l(y, z) / Σ w  +  ½ l2 (Σ|v_u|² + Σ|w_i|²),   z = v_u·w_i + a_u + b_i + c
    l = log(1 + e^z) − y·z   (a probability σ(z)),   or   (y − z)²   (a value)

The penalty reaches all factors in every step, and so do the moments of Adam: a step costs all parameters, not only
those of the batch, which is what dense libraries do and what saito20 ran.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import njit

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # Adam's usual decay of the two moments, and what keeps a root from 0


@njit(cache=True, nogil=True)
def gradient(rows, user, item, y, weight, users, items, level, l2, squared, to_users, to_items):  # type: ignore[no-untyped-def]
    """Fill the gradients of users and items, and give back that of c and the loss."""
    d = users.shape[1] - 1
    total, loss, to_level = 0.0, 0.0, 0.0
    for e in range(len(rows)):
        total += weight[rows[e]]
    for side, to in ((users, to_users), (items, to_items)):
        for r in range(len(side)):
            for j in range(d):
                to[r, j] = l2 * side[r, j]
                loss += 0.5 * l2 * side[r, j] ** 2
            to[r, d] = 0.0
    if total <= 0.0:
        return to_level, loss
    for e in range(len(rows)):
        u, i = user[rows[e]], item[rows[e]]
        z = level + users[u, d] + items[i, d]
        for j in range(d):
            z += users[u, j] * items[i, j]
        share, target = weight[rows[e]] / total, y[rows[e]]
        if squared:
            pull = 2.0 * share * (z - target)
            loss += share * (target - z) ** 2
        else:
            pull = share * (1.0 / (1.0 + np.exp(-z)) - target)
            loss += share * (np.log1p(np.exp(-abs(z))) + max(z, 0.0) - target * z)
        for j in range(d):
            to_users[u, j] += pull * items[i, j]
            to_items[i, j] += pull * users[u, j]
        to_users[u, d] += pull
        to_items[i, d] += pull
        to_level += pull
    return to_level, loss


@njit(cache=True, nogil=True, error_model="numpy")  # no look for zeros, so that the loop is SIMD
def step(values, gradients, mean, square, rate):  # type: ignore[no-untyped-def]
    """Move flat parameters; ``rate`` holds Adam's correction for the young moments."""
    for j in range(len(values)):
        g = gradients[j]
        mean[j] = FIRST * mean[j] + (1.0 - FIRST) * g
        square[j] = SECOND * square[j] + (1.0 - SECOND) * g * g
        values[j] -= rate * mean[j] / (np.sqrt(square[j]) + TINY)


@njit(cache=True, nogil=True)
def descend(batches, user, item, y, weight, users, items, level, moments, done, rate, l2, squared):  # type: ignore[no-untyped-def]
    """One step per row of ``batches``; ``level`` has one place, ``moments`` those of users, items and c, twice."""
    to_users, to_items, to_level = np.empty_like(users), np.empty_like(items), np.empty(1)
    n, m = users.size, items.size
    for b in range(len(batches)):
        to_level[0], _ = gradient(
            batches[b], user, item, y, weight, users, items, level[0], l2, squared, to_users, to_items
        )
        age = done + b + 1
        now = rate * np.sqrt(1.0 - SECOND**age) / (1.0 - FIRST**age)
        step(users.ravel(), to_users.ravel(), moments[0, :n], moments[1, :n], now)
        step(items.ravel(), to_items.ravel(), moments[0, n : n + m], moments[1, n : n + m], now)
        step(level, to_level, moments[0, n + m :], moments[1, n + m :], now)
