"""Pairs that could hardly be shown, seen by a check or not: ``python -m tests.inference.hardly_shown [WORLDS]``.

A logger shows half of 40 items with P = .5 and the other half with P = .002; 30 % of all pairs are relevant. List a
holds five items of the first half, list b three of them and two of the second half, which its users like: b is the
better one. The halves are the same for all users, or each user has their own. Prints the sentences of docs/limits.md:
in how many worlds of 200 users a default call with the right propensities calls a better.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

import unskew as us
from tests.worlds import listed, pairs_of

WORLDS, USERS, ITEMS, K = 100, 200, 40, 5
OFTEN, HARDLY, RELEVANT = 0.5, 0.002, 0.3


def world(seed: int, *, personal: bool = True) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The log of positives with their propensities, and both lists."""
    rng = np.random.default_rng(seed)
    half = rng.integers(0, 2, USERS)[:, None] if personal else np.zeros((USERS, 1), dtype=np.int64)
    often = half == np.arange(ITEMS) % 2
    likes = rng.random((USERS, ITEMS)) < RELEVANT
    propensity = np.where(often, OFTEN, HARDLY)
    log = pairs_of(likes & (rng.random((USERS, ITEMS)) < propensity), propensity=propensity)
    lists = {}
    for name, hidden in {"a": 0, "b": 2}.items():
        usual = np.where(often, 0.4 * likes + rng.random((USERS, ITEMS)), -1.0)
        others = np.where(often, -1.0, 1.2 * likes + rng.random((USERS, ITEMS)))
        best = np.hstack([np.argsort(-usual, 1)[:, : K - hidden], np.argsort(-others, 1)[:, :hidden]])
        lists[name] = listed(best)
    return log, lists


def wrong(seed: int, *, personal: bool = True) -> bool:
    """Whether the worse list is called better."""
    log, lists = world(seed, personal=personal)
    every = pl.DataFrame({"item": np.arange(ITEMS)})
    found = us.evaluate(log, lists, metrics=[f"recall@{K}"], propensity="known", items=every)  # perhaps one chance only
    return found.require(f"a better than b on recall@{K}").exit_code == 0


if __name__ == "__main__":
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS
    kinds = {
        False: "Items that are hardly ever shown to anybody",
        True: "Items that are shown often to some users, and hardly ever to others",
    }
    for personal, what in kinds.items():
        count = sum(wrong(seed, personal=personal) for seed in range(worlds))
        print(f"- {what}: the worse of two models was called better in {count} of {worlds} simulated logs.")
