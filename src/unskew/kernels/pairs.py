"""What factors or effects say of some pairs, whoever fitted them."""

from __future__ import annotations

from unskew.kernels.compiled import njit


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


@njit(cache=True, nogil=True)
def add(user, item, users, items, mean, largest, out):  # type: ignore[no-untyped-def]
    """The mean and what item and user add to it, kept within 0 … ``largest``."""
    for e in range(len(out)):
        out[e] = min(max(mean + items[item[e]] + users[user[e]], 0.0), largest)


@njit(cache=True, nogil=True)
def lacking(user, item, users, items, out):  # type: ignore[no-untyped-def]
    """Whether the user or the item of each pair is not among those that are known."""
    for e in range(len(out)):
        out[e] = not (users[user[e]] and items[item[e]])
