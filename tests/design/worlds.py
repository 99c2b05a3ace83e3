"""Small designs with everything in them: pairs in lists, pairs that are gone, items and users that may not be asked."""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.design.candidates import Candidates
from unskew.design.probabilities import ListDesign
from unskew.log import Ids, Log


def small_design(
    weights: list[dict[int, float]],
    items: int,
    *,
    gone: list[set[int]] | None = None,
    forbidden: set[int] = frozenset(),  # type: ignore[assignment]
    silent: set[int] = frozenset(),  # type: ignore[assignment]
    uniform: float = 0.0,
    per_user: int | None = None,
) -> ListDesign:
    """The design with these weights by user and item; pairs that cannot be asked have none."""
    users, things = Ids(pl.Series(range(len(weights)))), Ids(pl.Series(range(items)))
    had = gone or [set() for _ in weights]
    pairs = [(u, i) for u, own in enumerate(had) for i in sorted(own)]
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in had])]).astype(np.int64)
    log = Log(users, things, indptr, np.array([i for _, i in pairs], dtype=np.int32))
    shown = np.array([i not in forbidden for i in range(items)])
    asked = np.array([u not in silent for u in range(len(weights))])
    candidates = Candidates.of(users, things, (log,), shown, asked)
    kept = [
        {i: w for i, w in sorted(own.items()) if w > 0 and i not in had[u] and i not in forbidden and u not in silent}
        for u, own in enumerate(weights)
    ]
    start = np.concatenate([[0], np.cumsum([len(own) for own in kept])]).astype(np.int64)
    return ListDesign(
        candidates, start, np.array([i for own in kept for i in own], dtype=np.int32),
        np.array([w for own in kept for w in own.values()], dtype=np.float32), candidates.sizes() - np.diff(start),
        uniform, per_user,
    )  # fmt: skip
