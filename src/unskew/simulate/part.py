"""The busiest part of a log: the items with the most rows, then the users with the most rows among those."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unskew.bounds import Whole
from unskew.log import Ids, Log
from unskew.log.expected import a_log


def most_active(log: Log, *, users: int | None = None, items: int | None = None) -> Log:
    """A smaller log over smaller vocabularies; ``None`` keeps all. Ties stay in the order of the ids."""
    for name, count in (("users", users), ("items", items)):
        if count is not None:
            Whole(1, 2**31 - 1).of(count, f"the number of {name} in the busiest part of a log")
    log = a_log(log)
    kept_items = _busiest(np.bincount(log.item, minlength=len(log.items)), items)
    log = log.take(kept_items[log.item])
    kept_users = _busiest(np.diff(log.indptr), users)
    log = log.take(kept_users[log.user])
    return log.recode(_only(log.users, kept_users), _only(log.items, kept_items))


def _busiest(rows: npt.NDArray[np.int64], count: int | None) -> npt.NDArray[np.bool_]:
    kept = np.zeros(len(rows), dtype=np.bool_)
    kept[np.argsort(-rows, kind="stable")[:count]] = True
    return kept


def _only(ids: Ids, kept: npt.NDArray[np.bool_]) -> Ids:
    return ids if kept.all() else Ids(ids.values.filter(kept))
