"""Counts of the columns that each two rows of a 0/1 matrix share: made, added to, and turned into nearest rows.

    alike(r, s) = c / (√(n_r n_s) + shrink)

``nearest_by_counts`` finds what ``neighbours.nearest`` finds: the same numbers, and ties at the cut-off go to the same
hash, so that neighbours do not depend on whether counts were made anew or brought up to date.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.neighbours import candidates, keep, quick_scores_of_all, roots, scores_for


@njit(cache=True, nogil=True)
def count_common(first, last, indptr, column, back, row, counts):  # type: ignore[no-untyped-def]
    """Fill ``counts[r]`` (first … last − 1) with the columns that r shares with each row, itself too.

    ``column[indptr[r]:indptr[r + 1]]`` are the columns of row r, ``row[back[c]:back[c + 1]]`` the rows of column c.
    """
    for r in range(first, last):
        counts[r] = 0
        for e in range(indptr[r], indptr[r + 1]):
            for x in range(np.uintp(back[column[e]]), np.uintp(back[column[e] + 1])):
                counts[r, np.uintp(row[x])] += np.int32(1)


@njit(cache=True, nogil=True)
def spread(counts, place, out):  # type: ignore[no-untyped-def]
    """Copy ``counts[r, s]`` to ``out[place[r], place[s]]``."""
    for r in range(len(place)):
        row = out[place[r]]
        for s in range(len(place)):
            row[np.uintp(place[s])] = counts[r, s]


@njit(cache=True, nogil=True)
def add_common(back, row, new_back, new_row, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts`` what columns that got new rows bring; ``row`` holds the rows of each column, new ones too."""
    for c in range(len(new_back) - 1):
        x = new_back[c]
        for e in range(back[c], back[c + 1] if new_back[c] < new_back[c + 1] else back[c]):
            r = row[e]
            is_new = x < new_back[c + 1] and new_row[x] == r
            x += is_new
            if is_new:
                for f in range(back[c], back[c + 1]):
                    counts[r, row[f]] += np.int32(1)
            else:
                for f in range(new_back[c], new_back[c + 1]):
                    counts[r, new_row[f]] += np.int32(1)


@njit(cache=True, nogil=True)
def nearest_by_counts(first, last, asked, counts, shrink, hashes, seed, near, alike):  # type: ignore[no-untyped-def]
    """Fill ``near[b]`` with the rows most like ``asked[b]`` (first ≤ b < last), ascending, ``alike[b]`` with how much.

    Rows that share no column are no neighbours; places without one hold −1 and 0.
    """
    rows, k = len(counts), near.shape[1]
    own = np.empty(rows, np.int64)
    for r in range(rows):
        own[r] = counts[r, r]
    root, every, quick = roots(own), np.arange(rows).astype(np.int32), scores_for(rows)
    chosen, exact = np.empty(rows + 1, np.int32), np.empty(rows)
    for b in range(first, last):
        r = asked[b]
        quick_scores_of_all(counts[r], root[r], root, np.float32(shrink), quick)
        quick[r] = 0.0
        many = candidates(every, quick, k, chosen)
        keep(r, chosen, many, counts[r], own, shrink, hashes, seed, exact, near[b], alike[b])
