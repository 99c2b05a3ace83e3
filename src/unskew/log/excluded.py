"""The pairs of a log in other vocabularies: what a user has already had, and is not recommended or counted again."""

from __future__ import annotations

import numpy as np

from unskew.log.expected import a_log, some_ids
from unskew.log.ids import Codes, Ids
from unskew.log.log import Integers, Log
from unskew.log.order import starts_of


def exclusions(seen: Log | None, users: Ids, items: Ids) -> tuple[Integers, Codes]:
    """Items of ``seen`` in the codes of ``users`` and ``items``, per user and strictly ascending (CSR)."""
    users = some_ids(users)
    if seen is None:
        return np.zeros(len(users) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    user = a_log(seen).users.into(users)[seen.user]
    item = seen.items.into(items)[seen.item]
    known = (user >= 0) & (item >= 0)
    pair = user[known].astype(np.int64) * len(items) + item[known]
    if not np.all(pair[1:] > pair[:-1]):
        pair = np.unique(pair)
    counts = np.bincount(pair // max(1, len(items)), minlength=len(users))
    return starts_of(counts), (pair % max(1, len(items))).astype(np.int32)
