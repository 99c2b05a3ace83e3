"""Small logs with seen zeros, as the library gets them and as the reference does."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import unskew as us
from tests.census.reference import World

LENGTH = 6


def small_world(seed: int = 0, users: int = 60, items: int = 14, *, tilt: float = 0.0) -> World:
    """Users who see more of what they like; training and held-out rows are disjoint, everybody has lists."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 0.8, (users, 1)) + rng.normal(0, 0.8, items) - 0.4
    liked = rng.random((users, items)) < 1.0 / (1.0 + np.exp(-taste))
    seen = rng.random((users, items)) < 1.0 / (1.0 + np.exp(-(0.2 + 0.7 * taste + tilt * (liked - 0.5))))
    held = rng.random((users, items)) < 0.5
    train = {(u, i): int(liked[u, i]) for u, i in zip(*np.nonzero(seen & ~held), strict=True)}
    test = {(u, i): int(liked[u, i]) for u, i in zip(*np.nonzero(seen & held), strict=True)}
    lists = {}
    for name, spread in (("near", 0.5), ("far", 1.5), ("noise", 50.0)):
        score = taste + rng.normal(0, spread, taste.shape)
        score[tuple(np.array(list(train)).T)] = -1e9
        lists[name] = {u: np.argsort(-score[u])[:LENGTH].tolist() for u in range(users)}
    return World(users, items, _plain(train), _plain(test), lists)


def inputs(world: World) -> dict[str, Any]:
    """The arguments of ``evaluate``."""
    return {
        "test": _frame(world.test), "models": {name: _lists(ranks) for name, ranks in world.lists.items()},
        "train": _frame(world.train), "feedback": "conversions", "users": pl.DataFrame({"user": range(world.users)}),
        "items": pl.DataFrame({"item": range(world.items)}),
    }  # fmt: skip


def evaluated(world: World, **options: Any) -> us.Result:
    """The library's answer."""
    given = inputs(world) | options
    return us.evaluate(given.pop("test"), given.pop("models"), **given)


def _plain(rows: dict[tuple[Any, Any], int]) -> dict[tuple[int, int], int]:
    return {(int(u), int(i)): y for (u, i), y in rows.items()}


def _frame(rows: Any) -> pl.DataFrame:
    pairs = list(rows)
    return pl.DataFrame({"user": [u for u, _ in pairs], "item": [i for _, i in pairs], "value": list(rows.values())})


def _lists(ranks: Any) -> pl.DataFrame:
    flat = [(u, i, place) for u, items in ranks.items() for place, i in enumerate(items, 1)]
    return pl.DataFrame(flat, schema=["user", "item", "rank"], orient="row")
