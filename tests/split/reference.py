"""Sliding windows by loops over tuples: what ``sliding_window`` must give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from unskew.log import Log

Row = tuple[int, int, int]  # user, item, time
Pairs = set[tuple[int, int]]


class Fold(NamedTuple):
    """What a window learns from and judges, and who of it has a past."""

    train: Pairs
    test: Pairs
    users: set[int]
    inside: Pairs


def earliest(rows: Sequence[Row]) -> list[Row]:
    """Each pair once, at its first time."""
    first: dict[tuple[int, int], int] = {}
    for user, item, time in rows:
        first[user, item] = min(time, first.get((user, item), time))
    return [(user, item, time) for (user, item), time in first.items()]


def windows(rows: Sequence[Row], width: int, folds: int, history: int | None) -> list[Fold]:
    """All windows counted back from the last time, none skipped; every item in a window counts."""
    log = earliest(rows)
    last = max(time for _, _, time in log)
    found = []
    for k in range(folds, 0, -1):
        start, end = last - k * width, last - (k - 1) * width
        since = -(10**30) if history is None else start - history
        train = [row for row in log if since <= row[2] < start]
        inside = [row for row in log if start <= row[2] < end or (k == 1 and row[2] == last)]
        past = {user for user, _, _ in train}
        test = [row for row in inside if row[0] in past]
        found.append(Fold(pairs(train), pairs(test), {user for user, _, _ in test}, pairs(inside)))
    return found


def pairs(rows: Sequence[Row]) -> Pairs:
    """Users and items of rows."""
    return {(user, item) for user, item, _ in rows}


def log_of(rows: Sequence[Row]) -> Log:
    """The log of some rows."""
    return Log.from_frame(pl.DataFrame(rows, schema=["user", "item", "time"], orient="row"))


def pairs_of(log: Log) -> Pairs:
    """Users and items of a log."""
    return set(log.to_frame().select("user", "item").rows())
