"""What inverse propensities add up to, user by user: each of two halves of the users on items that the other saw.

``half`` is 0 or 1 for every user, ``seen[h, i]`` whether a user of half h has item i. Where all items count, every
entry of ``seen`` is true.
"""

from __future__ import annotations

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def mark_halves(indptr, item, half, seen):  # type: ignore[no-untyped-def]
    """Note which items each half of the users has."""
    for u in range(len(half)):
        for r in range(indptr[u], indptr[u + 1]):
            seen[half[u], item[r]] = True


@njit(cache=True, nogil=True)
def count_in_other(indptr, item, half, seen, out):  # type: ignore[no-untyped-def]
    """Take off ``out`` each user's rows on items that the other half has."""
    for u in range(len(half)):
        for r in range(indptr[u], indptr[u + 1]):
            if seen[1 - half[u], item[r]]:
                out[u] -= 1.0


@njit(cache=True, nogil=True)
def inverse_sums(indptr, item, p, gain, half, seen, sums):  # type: ignore[no-untyped-def]
    """Write each user's Σ w into ``sums``, w = gain/p (1/p where ``gain`` is empty), over items of the other half.

    Gives back Σ w, Σ w² and Σ (1 − p) w² over everybody.
    """
    graded = len(gain) > 0
    total, square, design = 0.0, 0.0, 0.0
    for u in range(len(half)):
        own = 0.0
        for r in range(indptr[u], indptr[u + 1]):
            if seen[1 - half[u], item[r]]:
                w = (gain[r] if graded else 1.0) / p[r]
                own += w
                square += w * w
                design += (1.0 - p[r]) * w * w
        sums[u] = own
        total += own
    return total, square, design
