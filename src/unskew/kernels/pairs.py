"""What factors say of some pairs, whoever fitted them."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def predict(user, item, users, items, level, out):  # type: ignore[no-untyped-def]
    """v·w + a + b + c of some pairs; −1 stands for an unknown user or item, whose factors and offset are 0."""
    d = users.shape[1] - 1
    for e in range(len(out)):
        total, u, i = level, user[e], item[e]
        if u >= 0:
            total += users[u, d]
        if i >= 0:
            total += items[i, d]
        if u >= 0 and i >= 0:
            for j in range(d):
                total += users[u, j] * items[i, j]
        out[e] = total
