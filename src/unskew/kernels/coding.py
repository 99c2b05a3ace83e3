"""Coding and ordering of rows: look-up tables, counting sorts and stamps instead of general sorts and joins.

Ids are few and codes are dense, so every step is one pass over the rows with an array of the size of the
vocabulary beside it. All kernels take int64 ids and positions and int32 codes, so each is compiled once.

Compiled code does not check what it indexes with. ``mark`` and ``tally`` see what comes from outside first, and say
so where it lies outside the tables; what passed them fits the tables of the others.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit

MIXED, ASCENDING, GATHERED = 0, 1, 2  # how rows may lie
SHORT = 64  # entries of a list up to which moving them one by one is quicker than a sort


@njit(cache=True, nogil=True)
def mark(ids, low, start, last):  # type: ignore[no-untyped-def]
    """Write into ``last[id − low]`` the last row (from ``start`` on) that holds the id.

    Gives back whether all ids lie in the table; those outside are passed over.
    """
    size = len(last)
    inside = True
    for r in range(len(ids)):
        at = ids[r] - low
        if 0 <= at < size:
            last[at] = start + r
        else:
            inside = False
    return inside


@njit(cache=True, nogil=True)
def look_up(ids, low, table, out):  # type: ignore[no-untyped-def]
    """``out = table[id − low]``, and −1 for ids outside the table."""
    size = len(table)
    for r in range(len(ids)):
        at = ids[r] - low
        out[r] = table[at] if 0 <= at < size else -1


@njit(cache=True, nogil=True)
def count_below(ids, bounds, shift, first, out):  # type: ignore[no-untyped-def]
    """How many bounds are not above each id; they ascend.

    The range of the bounds is cut into pieces of 2^shift ids, before the b-th of which ``first[b]`` bounds lie: most
    pieces hold none, and where one holds some they are bisected.
    """
    low, last = np.uint64(bounds[0]), len(first) - 2
    for r in range(len(ids)):
        number = ids[r]
        if number < bounds[0]:
            out[r] = 0
            continue
        piece = np.int64((np.uint64(number) - low) >> shift)
        if piece > last:
            piece = np.int64(last)
        a, b = first[piece], first[piece + 1]
        while a < b:
            middle = (a + b) >> 1
            if bounds[middle] <= number:
                a = middle + 1
            else:
                b = middle
        out[r] = a


@njit(cache=True, nogil=True)
def tally(user, key, counts, keys):  # type: ignore[no-untyped-def]
    """Count the rows of each user.

    Gives back ASCENDING if the rows already ascend by (user, key), GATHERED if those of every user stand together and
    ascend by key, MIXED if not, and −1 if a user or key is no code: users are below ``len(counts)``, keys below
    ``keys``.
    """
    users = len(counts)
    found = ASCENDING
    last_user, last_key = np.int32(-1), np.int32(-1)
    for r in range(len(user)):
        u, k = user[r], key[r]
        if u < 0 or u >= users or k < 0 or k >= keys:
            return -1
        if u != last_user:
            if counts[u] > 0:
                found = MIXED
            elif u < last_user and found == ASCENDING:
                found = GATHERED
        elif k < last_key:
            found = MIXED
        counts[u] += 1
        last_user, last_key = u, k
    return found


@njit(cache=True, nogil=True)
def count_codes(codes, counts):  # type: ignore[no-untyped-def]
    """Add up how often every code occurs, without a copy of the codes in 64 bits, as numpy would make.

    Gives back whether all are codes: those below 0, or not below ``len(counts)``, are passed over.
    """
    size, inside = len(counts), True
    for r in range(len(codes)):
        if 0 <= codes[r] < size:
            counts[np.uintp(codes[r])] += 1
        else:
            inside = False
    return inside


@njit(cache=True, nogil=True)
def count_up(indptr, out):  # type: ignore[no-untyped-def]
    """1, 2, 3, … in every group."""
    for u in range(len(indptr) - 1):
        for at in range(indptr[u], indptr[u + 1]):
            out[at] = at - indptr[u] + 1


@njit(cache=True, nogil=True)
def gather(user, indptr, out):  # type: ignore[no-untyped-def]
    """The order by user of rows of which those of every user stand together already."""
    at = 0
    for r in range(len(user)):
        if r == 0 or user[r] != user[r - 1]:
            at = indptr[user[r]]
        out[at] = r
        at += 1


@njit(cache=True, nogil=True)
def place(keys, rows, starts, out):  # type: ignore[no-untyped-def]
    """One pass of a stable counting sort: ``rows``, taken in order, go to the next free place of their key.

    ``starts`` holds the first place of each key and is used up.
    """
    for r in rows:
        k = keys[r]
        out[starts[k]] = r
        starts[k] += 1


@njit(cache=True, nogil=True)
def place_by_rank(user, item, rank, indptr, out_item, out_rank):  # type: ignore[no-untyped-def]
    """Entries go to the place that their rank says, where the ranks of every user run 1, 2, 3, …, each once.

    Gives back whether they do; ``out_rank`` must be 0 before.
    """
    for r in range(len(user)):
        u, k = user[r], rank[r]
        at = indptr[u] + k - 1
        if k < 1 or at >= indptr[u + 1] or out_rank[at] != 0:
            return False
        out_item[at] = item[r]
        out_rank[at] = k
    return True


@njit(cache=True, nogil=True)
def place_entries(user, item, rank, starts, out_item, out_rank):  # type: ignore[no-untyped-def]
    """Entries, taken in order, go to the next free place of their user; ``starts`` is used up."""
    for r in range(len(user)):
        at = starts[user[r]]
        out_item[at] = item[r]
        out_rank[at] = rank[r]
        starts[user[r]] = at + 1


@njit(cache=True, nogil=True)
def sort_entries(indptr, item, rank):  # type: ignore[no-untyped-def]
    """Order the entries of every user by rank; those of the same rank stay as they are.

    Most lists are short: each entry is moved up to its place.
    """
    for u in range(len(indptr) - 1):
        start, stop = indptr[u], indptr[u + 1]
        if stop - start > SHORT:
            order = start + np.argsort(rank[start:stop], kind="mergesort")
            item[start:stop] = item[order]
            rank[start:stop] = rank[order]
            continue
        for e in range(start + 1, stop):
            i, r = item[e], rank[e]
            at = e
            while at > start and rank[at - 1] > r:
                item[at] = item[at - 1]
                rank[at] = rank[at - 1]
                at -= 1
            item[at] = i
            rank[at] = r


@njit(cache=True, nogil=True)
def note(codes, low, out):  # type: ignore[no-untyped-def]
    """Set ``out[code − low]`` of every code that occurs; one below the lowest sets the last."""
    for r in range(len(codes)):
        out[codes[r] - low] = True


@njit(cache=True, nogil=True)
def repeats(indptr, item, rank, stamp, flag):  # type: ignore[no-untyped-def]
    """Flag entries that repeat an item (1) or a rank (2) of a better entry that stays; gives back how many.

    Entries of a user must ascend by rank. ``stamp`` (−1 for every item) remembers the last user of an item.
    """
    found = 0
    for u in range(len(indptr) - 1):
        last = 0
        for e in range(indptr[u], indptr[u + 1]):
            if stamp[item[e]] == u:
                flag[e] = 1
                found += 1
            elif rank[e] == last:
                flag[e] = 2
                found += 1
            else:
                stamp[item[e]] = u
                last = rank[e]
    return found


@njit(cache=True, nogil=True)
def unseen(indptr, item, row, seen_indptr, seen_item, stamp, keep):  # type: ignore[no-untyped-def]
    """Set ``keep`` of the entries whose item is not in row ``row[u]`` of the seen log; gives back how many are.

    Items are codes of the lists, −1 where the other side does not know them; ``row`` is −1 for unknown users.
    """
    found = 0
    for u in range(len(indptr) - 1):
        if row[u] >= 0:
            for s in range(seen_indptr[row[u]], seen_indptr[row[u] + 1]):
                if seen_item[s] >= 0:
                    stamp[seen_item[s]] = u
        for e in range(indptr[u], indptr[u + 1]):
            keep[e] = item[e] < 0 or stamp[item[e]] != u
            found += 1 - keep[e]
    return found


@njit(cache=True, nogil=True)
def recode_lists(  # type: ignore[no-untyped-def]
    indptr, item, rank, row, names, items, seen_indptr, seen_item, target, moved, listed, out_item, out_rank
):
    """Lists over another vocabulary of so many items, in one walk: the list of user u is ``row[u]``.

    ``names`` are the new codes of the items, −1 where there is none, and for items without a code (−1) one more at the
    end; so has ``listed``, which counts the entries of every item. Gives back how many entries are in the user's row of
    the seen log. Ranks are copied if lists ``moved``; items unless ``out_item`` is empty, as when all keep their codes.
    """
    stamp = np.full(items + 1, -1, dtype=np.int32)  # the last one for items without a code, which nobody has seen
    seen, last, copied = 0, np.int64(len(names) - 1), len(out_item) > 0
    for u in range(len(row)):
        if row[u] < 0:
            continue
        if len(seen_indptr) > 0:
            for s in range(seen_indptr[u], seen_indptr[u + 1]):
                stamp[np.uintp(seen_item[s])] = u
        first, stop = indptr[row[u]], indptr[row[u] + 1]
        shift = target[u] - first
        for e in range(first, stop):
            own = np.uintp(item[e] if item[e] >= 0 else last)
            listed[own] += 1
            i = names[own]
            seen += stamp[np.uintp(i if i >= 0 else items)] == u
            if copied:
                out_item[e + shift] = i
        if moved:
            for e in range(first, stop):
                out_rank[e + shift] = rank[e]
    return seen


@njit(cache=True, nogil=True)
def known(item, there, out):  # type: ignore[no-untyped-def]
    """Whether each entry's item is ``there``; −1 never is."""
    for e in range(len(item)):
        out[e] = item[e] >= 0 and there[item[e]]


@njit(cache=True, nogil=True)
def tally_mask(indptr, mask, out):  # type: ignore[no-untyped-def]
    """How many rows of each user a mask chooses."""
    for u in range(len(indptr) - 1):
        number = 0
        for r in range(indptr[u], indptr[u + 1]):
            number += mask[r]
        out[u] = number


@njit(cache=True, nogil=True)
def compress(column, mask, out):  # type: ignore[no-untyped-def]
    """Put the entries that a mask chooses one behind the other; ``out`` has room for one more.

    Every entry is written, and the next one over it unless it is chosen: nothing has to be guessed where the mask is
    as good as random.
    """
    place = 0
    for r in range(len(mask)):
        out[place] = column[r]
        place += mask[r]
