"""Logs of users who were each shown items by one policy, which matters or does not."""

from __future__ import annotations

import numpy as np
import polars as pl

START, WEEK = 1_600_000_000, 7 * 86_400


def world(
    seed: int, users: int = 600, items: int = 60, clicks: int = 7, *, policies: int = 2, strength: float = 0.0
) -> pl.DataFrame:
    """Clicks by popularity and taste.

    Args:
        strength: how much policy 0 adds to popularity, and the others to taste; 0: policies do not matter.
    """
    rng = np.random.default_rng(seed)
    popularity = np.log(1.0 / np.arange(1, items + 1) ** 0.7)
    taste = rng.normal(size=(users, 5)) @ rng.normal(size=(items, 5)).T / np.sqrt(5)
    policy = rng.integers(0, policies, users)
    first = (policy == 0).astype(np.float64)[:, None]
    score = popularity * (1.0 + strength * first) + taste * (1.0 + strength * (1.0 - first))
    listed = np.argsort(-(score + rng.gumbel(size=(users, items))), axis=1)[:, :clicks]
    time = START + rng.integers(0, 8 * WEEK, users * clicks)
    return pl.DataFrame(
        {
            "user": np.repeat(np.arange(users), clicks),
            "item": listed.ravel(),
            "time": time,
            "policy": [f"policy {p}" for p in np.repeat(policy, clicks)],
        }
    )
