"""Probabilistic matrix factorisation by RMSProp (Tieleman & Hinton 2012), one pass over the pairs at a time.

    ½ (y − g(z))² + ½ l2 (|v_u|² + |w_i|²),    z = v_u·w_i,    g(z) = z or 1/(1 + e^−z)

    s = decay·s + (1 − decay)·slope²,    parameter −= rate·slope/(√s + ε)

First the user of a pair moves, then the item, from where the user now is; as in Cornac's PMF, whose sigmoid is cut at
±6 while ours is not. Numbers are of single precision, rows a multiple of ``sgd.LANES`` long; columns of zeros stay so.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels import njit
from unskew_papers.kernels.sgd import ORDER

EPSILON = np.float32(1e-8)
ONE = np.float32(1.0)


@njit(cache=True, nogil=True, inline="always")
def step(values, squares, r, others, o, pull, l2, rate, decay):  # type: ignore[no-untyped-def]
    """Move row r by ``pull`` times row o of the other side, less the penalty."""
    rest = ONE - decay
    for j in range(values.shape[1]):
        up = pull * others[o, j] - l2 * values[r, j]
        squares[r, j] = decay * squares[r, j] + rest * up * up
        values[r, j] += rate * up / (np.sqrt(squares[r, j]) + EPSILON)


@njit(cache=True, nogil=True, fastmath=ORDER, error_model="numpy")  # no look for zeros, so that the loops are SIMD
def epoch(sigmoid, user, item, y, users, items, user_squares, item_squares, rate, decay, l2):  # type: ignore[no-untyped-def]
    """Meet every pair once, in the order in which they stand; gives back the mean ½ (y − g)² as met before steps."""
    total = 0.0
    for e in range(len(user)):
        u, i, z = np.intp(user[e]), np.intp(item[e]), np.float32(0.0)
        for j in range(users.shape[1]):
            z += users[u, j] * items[i, j]
        if sigmoid:
            guess = np.float32(1.0 / (1.0 + np.exp(-np.float64(z))))
            error = y[e] - guess
            pull = error * guess * (ONE - guess)
        else:
            error = y[e] - z
            pull = error
        total += 0.5 * error * error
        step(users, user_squares, u, items, i, pull, l2, rate, decay)
        step(items, item_squares, i, users, u, pull, l2, rate, decay)
    return total / max(len(user), 1)
