"""Which window of time a row is judged in: one pass over the rows of each user, no sorting."""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit


@njit(cache=True, nogil=True)
def behind(edges, moment):  # type: ignore[no-untyped-def]
    """How many of the ascending edges are at most ``moment``."""
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= moment:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def judge(indptr, time, starts, end, since, code, tested, users, new_rows, new_users, entered, left):  # type: ignore[no-untyped-def]
    """Set ``code`` of each row to the window in which it is judged, −1 where it is judged in none.

    Window w is [starts[w], starts[w + 1]), the last one ends before ``end``; it learns from [since[w], starts[w]). A
    row is judged in its window if its user has a row to learn from there. Counted by window: rows and users that are
    judged (``tested``, ``users``), those without a past (``new_rows``, ``new_users``), and, in arrays with one more,
    rows that begin (``entered``) and cease (``left``) to be learnt from.
    """
    folds = len(starts)
    asked = np.full(folds, -1, dtype=np.int64)  # the last user whose past was looked up
    known = np.zeros(folds, dtype=np.bool_)
    for u in range(len(indptr) - 1):
        for r in range(indptr[u], indptr[u + 1]):
            code[r] = -1
            if time[r] >= end:
                continue
            window = behind(starts, time[r]) - 1 if time[r] >= starts[0] else -1
            until = folds if since[folds - 1] <= time[r] else behind(since, time[r])
            if window + 1 < until:
                entered[window + 1] += 1
                left[until] += 1
            if window < 0:
                continue
            if asked[window] != u:
                asked[window] = u
                known[window] = False
                for q in range(indptr[u], indptr[u + 1]):
                    if since[window] <= time[q] < starts[window]:
                        known[window] = True
                        break
                if known[window]:
                    users[window] += 1
                else:
                    new_users[window] += 1
            if known[window]:
                code[r] = window
                tested[window] += 1
            else:
                new_rows[window] += 1
