"""Whether a list holds an item twice: one pass, with the last list that held each item."""

from __future__ import annotations

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def has_repeats(indptr, item, last):  # type: ignore[no-untyped-def]
    """Codes of list u are ``item[indptr[u]:indptr[u + 1]]``, those below 0 are passed over; ``last`` begins with −1."""
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            if item[e] >= 0:
                if last[item[e]] == u:
                    return True
                last[item[e]] = u
    return False
