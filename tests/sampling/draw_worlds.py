"""Worlds in which rows compete for places in a sample: some items and users are seen far more often than others.

Every world draws new users. What an interval must cover is the value of an endless log, sampled by the weights that the
world's training log gives: that of 200,000 users of the same kind, one large sample of their rows. The list of
``mixed`` is the middle one for some users and the rare one for the others, so many that an endless log scores it like
the popular list: two equal models that owe their scores to different items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us
from unskew.kernels.arrays import Bools, Floats, Ints64

ITEMS, K, USERS, POPULATION = 60, 10, 1000, 200_000
POPULAR = 1.0 / np.arange(1.0, ITEMS + 1.0)
TARGETS = ("pooled", "per_user")
LISTS = {"popular": np.arange(K), "middle": np.arange(8, 8 + K), "rare": np.arange(25, 25 + K)}
BY_ITEMS = "weighted(user_power=0, item_power=2)"
Lists = Mapping[str, npt.NDArray[Any]]  # one for everybody, or one for each user


@dataclass(frozen=True, eq=False)
class World:
    """Held-out rows and training rows of some users."""

    users: int
    user: Ints64
    item: Ints64
    train_user: Ints64
    train_item: Ints64

    @cached_property
    def trained(self) -> Ints64:
        """Training rows of every user."""
        return np.bincount(self.train_user, minlength=self.users)

    @cached_property
    def counts(self) -> Ints64:
        """Training rows of every item."""
        return np.bincount(self.train_item, minlength=ITEMS)

    def weights(self, strategy: str, counts: Ints64) -> Floats:
        """The weight of every held-out row, by the item counts of some training log."""
        users, items = {"skew": (0, 1), "wtd_h": (1, 2), BY_ITEMS: (0, 2)}[strategy]
        of_items, of_users = (np.where(n > 0, n / counts.sum(), 1e-4) for n in (counts, self.trained))
        return np.asarray(of_users[self.user] ** -users * of_items[self.item] ** -items)


def draw(seed: int, users: int = USERS) -> World:
    """New users, who differ in how much they see; both logs show popular items more often."""
    rng = np.random.default_rng(seed)
    chance = np.clip(np.exp(rng.normal(0.0, 0.8, (users, 1))) * POPULAR * 0.5, 0.0, 0.9)
    test, train = (np.nonzero(rng.random((users, ITEMS)) < chance) for _ in range(2))
    return World(users, *test, *train)


@cache
def population() -> World:
    parts = [draw(10**6 + n, POPULATION // 10) for n in range(10)]
    names = ("user", "item", "train_user", "train_item")
    users = {"user", "train_user"}
    columns = [
        np.concatenate([getattr(part, name) + n * part.users * (name in users) for n, part in enumerate(parts)])
        for name in names
    ]
    return World(POPULATION, *columns)


def truth(strategy: str, counts: Ints64, size: float) -> dict[tuple[str, str], float]:
    """What samples of an endless log score, by list and target: successive weighted draws by other random numbers."""
    world = population()
    keys = np.random.default_rng(int(counts[0])).exponential(size=len(world.item)) / world.weights(strategy, counts)
    number = int(size * len(keys))
    rows: Bools = keys <= np.partition(keys, number - 1)[number - 1]
    drawn = np.bincount(world.user[rows], minlength=POPULATION)
    found = {}
    for name, listed in LISTS.items():
        hits = np.bincount(world.user[rows], weights=np.isin(world.item[rows], listed), minlength=POPULATION)
        found[name, "pooled"] = float(hits.sum() / drawn.sum())
        found[name, "per_user"] = float((hits[drawn > 0] / drawn[drawn > 0]).mean())
    return found


def evaluated(
    world: World, lists: Lists, strategy: str, size: float, repeats: int, *, train: Any = None, **more: Any
) -> us.Result:
    """The world's own training log gives the weights, unless another one is given."""
    users = np.arange(world.users)
    models = {
        name: us.Recommendations.from_frame(
            pl.DataFrame(
                {
                    "user": np.repeat(users, K),
                    "item": np.broadcast_to(listed, (world.users, K)).ravel(),
                    "rank": np.tile(np.arange(1, K + 1), world.users),
                }
            )
        )
        for name, listed in lists.items()
    }
    own = pl.DataFrame({"user": world.train_user, "item": world.train_item})
    return us.evaluate(
        pl.DataFrame({"user": world.user, "item": world.item}),
        models,
        train=own if train is None else train,
        candidates="all",
        metrics=[f"recall@{K}"],
        target=list(TARGETS),
        sample=strategy,
        sample_size=size,
        repeats=repeats,
        threads=1,
        **more,
    )


@cache
def other_users() -> World:
    """Whose training log gives the same weights in every world."""
    return draw(10**7, 5000)


@cache
def share_middle(size: float) -> float:
    """The share of users who get the middle list, so that ``mixed`` equals ``popular`` by ``BY_ITEMS``, pooled."""
    found = truth(BY_ITEMS, other_users().counts, size)
    popular, middle, rare = (found[name, "pooled"] for name in ("popular", "middle", "rare"))
    assert rare < popular < middle
    return (popular - rare) / (middle - rare)


def equal_lists(seed: int, size: float) -> dict[str, Lists]:
    """Two models of the same value: from different items, and from one distribution of lists."""
    rng = np.random.default_rng(seed + 10**8)
    mixed = np.where(rng.random((USERS, 1)) < share_middle(size), LISTS["middle"], LISTS["rare"])
    alike = [rng.permuted(np.tile(np.arange(30), (USERS, 1)), axis=1)[:, :K] for _ in range(2)]
    return {"other items": {"popular": LISTS["popular"], "mixed": mixed}, "alike": {"a": alike[0], "b": alike[1]}}
