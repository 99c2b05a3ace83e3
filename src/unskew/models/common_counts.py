"""How many users each two items have in common, brought up to date with new rows instead of counted anew.

With H the 0/1 matrix of users × items and A the new rows, H' = H + A, and

    C' = H'ᵀH' = C + AᵀH' + HᵀA

in which only users with a new row play a part. C is held as items × items numbers of 4 bytes. Without it ``item_knn``
walks over the Σ n_u² pairs of items in the users' histories, with it over the items² counts, each of which takes the
time of several pairs, since they lie farther apart: C is worth its memory where pairs are many times items², as in logs
of users with long histories.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.core.memory import available
from unskew.core.threads import by_blocks
from unskew.kernels import common_counts as kernel
from unskew.kernels.topk import SEED
from unskew.log import Ids
from unskew.log.ids import Codes
from unskew.log.log import Floats, Log
from unskew.log.order import group, pick
from unskew.log.table import show
from unskew.models.neighbours import Rows, all_kept, kept_places

Counts = npt.NDArray[np.int32]
REPEATED = 8  # pairs of items in histories, for each possible pair


def joined(before: Log, rows: Log) -> Log:
    """The rows of two logs over the same vocabularies; no pair may come twice."""
    users, items = before.users, before.items
    user, item = np.concatenate([before.user, rows.user]), np.concatenate([before.item, rows.item])
    start, order = group(user, item, len(users), len(items))
    user, item = pick(user, order), pick(item, order)
    again = np.flatnonzero((user[1:] == user[:-1]) & (item[1:] == item[:-1]))
    if len(again):
        pair = show(users.values[int(user[again[0]])]), show(items.values[int(item[again[0]])])
        raise InputError(
            f"{rows.account.source}: the pair of user {pair[0]} and item {pair[1]} is one that the model knows "
            "already.\nA log holds a pair once: update with new pairs only, or fit anew.",
            code="repeated-pair",
        )
    values = [log.value for log in (before, rows) if log.value is not None]
    value: Floats | None = np.concatenate(values) if len(values) == 2 else None
    return Log(users, items, start, item, None if value is None else pick(value, order))


def worth_counting(log: Log) -> bool:
    """Whether counts save work, and memory has room for them, and for a copy when items are added."""
    pairs, possible = int((np.diff(log.indptr) ** 2).sum()), len(log.items) ** 2
    return pairs > REPEATED * possible and 8 * possible < available()


def count(log: Log) -> Counts:
    """C, counted anew; its diagonal holds the users of each item."""
    fans, history = Rows.of_items(log), Rows.of_users(log)
    counts = np.empty((len(log.items), len(log.items)), dtype=np.int32)
    given = (fans.start, fans.column, history.start, history.column, counts)
    with by_blocks(None) as each:
        each(len(counts), lambda first, last: kernel.count_common(first, last, *given))
    return counts


def added(counts: Counts, known: Ids, rows: Log, all_rows: Log) -> Counts:
    """C with further rows; ``all_rows`` holds them and those that are counted, over the vocabularies of ``rows``."""
    if rows.items is known:
        out = counts.copy()  # another copy of the model may hold the same array
    else:
        out = np.zeros((len(rows.items), len(rows.items)), dtype=np.int32)
        kernel.spread(counts, known.into(rows.items), out)
    kernel.add_common(all_rows.indptr, all_rows.item, rows.indptr, rows.item, out)
    return out


def nearest_by_counts(counts: Counts, items: Ids, neighbours: int, shrink: float, model: object, asked: Codes) -> Rows:
    """Of the items ``asked`` the items most alike, and how much: what ``neighbours.nearest`` finds."""
    near, alike = kept_places(len(asked), neighbours, model, len(items))
    given = (asked, counts, shrink, items.hashes, SEED, near, alike)
    with by_blocks(None) as each:
        each(len(asked), lambda first, last: kernel.nearest_by_counts(first, last, *given))
    return all_kept(near, alike)
