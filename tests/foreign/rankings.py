"""What tests of adapted models share: a log, and lists by sorting in a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from unskew.log import Log


def small_log(users: int = 40, items: int = 60, seed: int = 0) -> Log:
    """Clicks of two groups of users with a taste of their own; ids are texts out of any order of numbers."""
    drawn = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        half = np.arange(items) % 2 == user % 2
        chance = np.where(half, 3.0, 1.0) / (1.0 + np.arange(items))
        for item in drawn.choice(items, size=int(drawn.integers(4, 12)), replace=False, p=chance / chance.sum()):
            rows.append((f"u{user * 7919 % 1000}", f"i{int(item) * 104729 % 1000}"))
    return Log.from_frame(pl.DataFrame(rows, schema=["user", "item"], orient="row"))


def seen_by(log: Log) -> dict[Any, set[Any]]:
    """Everybody's items."""
    found: dict[Any, set[Any]] = {user: set() for user in log.users}
    for user, item in log.to_frame().select("user", "item").iter_rows():
        found[user].add(item)
    return found


def same_order(ours: list[Any], theirs: list[Any], score: dict[Any, float], tolerance: float) -> None:
    """The same list, where items whose scores agree within the tolerance may have changed places."""
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other or abs(score[mine] - score[other]) <= tolerance, (ours, theirs)
