"""The two logs of a fold, over its own users and items.

A split keeps the vocabulary of the whole log, with users and items that only later folds know. A model that is fitted
on it could list what does not exist yet, and averages over all users would count those who come later. So a fold knows
the users and items of its own rows, and a model those of its training rows: nothing that happens after a window
changes what is said of it.

Codes ascend as they do in the whole log, so that rows keep their order and nothing is sorted or looked up again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unskew.kernels.arrays import Bools, Ints64
from unskew.log import Ids, Log
from unskew.split import Split


class Codes(NamedTuple):
    """Some users and items, by their codes in the whole log."""

    users: Ints64
    items: Ints64


class FoldLogs(NamedTuple):
    """One fold.

    Args:
        train, test: over the users and items of both.
        fitted: the training rows over their own users and items (``fitted_codes``), which models are fitted on.
        judged: the users with held-out rows; ``judged_codes`` among the users of both.
    """

    train: Log
    test: Log
    fitted: Log
    fitted_codes: Codes
    judged: Ids
    judged_codes: Ints64

    def seen_by(self, users: Ids) -> Log:
        """The training rows of some of the users, over these and the items of ``fitted``: what they have had."""
        if users is self.fitted.users:
            return self.fitted
        into = self.fitted.users.into(users)
        part = self.fitted.take(into[self.fitted.user] >= 0)
        return part.recode(users, part.items)


def codes_of(train: Log, test: Log) -> Codes:
    """Who has a row in either part, and of what."""
    users = (np.diff(train.indptr) > 0) | (np.diff(test.indptr) > 0)
    return Codes(np.flatnonzero(users), np.flatnonzero(_listed(train) | _listed(test)))


def fold_logs(train: Log, test: Log, codes: Codes) -> FoldLogs:
    """The parts of a split, which are over the vocabulary of the whole log, as logs of the fold."""
    users, items = train.users.subset(codes.users), train.items.subset(codes.items)
    train, test = (_within(log, *codes, users, items) for log in (train, test))
    of_train = np.flatnonzero(np.diff(train.indptr)), np.flatnonzero(_listed(train))
    fitted = _within(train, *of_train, users.subset(of_train[0]), items.subset(of_train[1]))
    judged = np.flatnonzero(np.diff(test.indptr))
    fitted_codes = Codes(codes.users[of_train[0]], codes.items[of_train[1]])
    return FoldLogs(train, test, fitted, fitted_codes, users.subset(judged), judged)


def _listed(log: Log) -> Bools:
    return np.bincount(log.item, minlength=len(log.items)) > 0


def added_log(split: Split, since: Split, logs: FoldLogs) -> Log | None:
    """The training rows that an earlier fold did not have, over all users and items that train now.

    ``None`` where the earlier fold had others.
    """
    rows = split.added(since)
    if rows is None:
        return None
    return _within(rows, *logs.fitted_codes, logs.fitted.users, logs.fitted.items)


def _within(log: Log, users: Ints64, items: Ints64, own_users: Ids, own_items: Ids) -> Log:
    """The same rows over fewer users and items, by ascending codes; the others have no rows."""
    if own_users is log.users and own_items is log.items:
        return log
    codes = np.full(len(log.items), -1, dtype=np.int32)
    codes[items] = np.arange(len(items), dtype=np.int32)
    indptr = np.append(log.indptr[users], log.indptr[-1])
    return replace(log, users=own_users, items=own_items, indptr=indptr, item=codes[log.item])
