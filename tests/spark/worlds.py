"""Small worlds at random, as frames: what is asked of them goes to the engine in memory and to Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

Frames = dict[str, pl.DataFrame]
GUESSED: dict[str, Any] = {
    "kind": "ratings",
    "relevant": ">=4",
    "metrics": ["dcg@5"],
    "estimators": ["ips", "direct", "dr", "sndr", "switch(tau=3)"],
    "target": ["per_user_sum", "per_user_sum(normalised=pooled)"],
}


@dataclass(frozen=True)
class World:
    """The inputs with rows of users, and the other arguments."""

    test: pl.DataFrame
    models: Frames
    train: pl.DataFrame | None = None
    users: pl.DataFrame | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def given(self, to: Callable[[pl.DataFrame], Any] = lambda frame: frame) -> dict[str, Any]:
        """All arguments, frames as an engine takes them."""
        frames = {"train": self.train, "users": self.users}
        return {
            "test": to(self.test),
            "models": {name: to(frame) for name, frame in self.models.items()},
            **{name: to(frame) for name, frame in frames.items() if frame is not None},
            **self.options,
        }


def draw(seed: int, *, text: bool = False, places: bool = False, **options: Any) -> World:
    """A test log with propensities, a training log, lists of three models and a population.

    Args:
        text: ids are texts, and the lists write some users otherwise.
        places: the test log says at which place of the page most items were shown.
    """
    rng = np.random.default_rng(seed)
    users, items = int(rng.integers(40, 120)), int(rng.integers(15, 40))
    liked = rng.random((users, items)) < 0.4 * rng.random((users, 1)) + 0.2
    chance = np.clip(0.05 + 0.9 * rng.random(items) ** 2, 0.05, 0.8)
    seen = rng.random((users, items)) < chance
    training = rng.random((users, items)) < 0.5
    value = np.where(liked, rng.integers(4, 6, liked.shape), rng.integers(1, 4, liked.shape))

    def frame(mask: Any, **columns: Any) -> pl.DataFrame:
        user, item = np.nonzero(mask)
        rows = {"user": user, "item": item} | {name: column[user, item] for name, column in columns.items()}
        found = pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=seed)
        return found.with_columns(user=pl.format("u{}", "user"), item=pl.format("i{}", "item")) if text else found

    models = {}
    for name, noise in (("near", 0.6), ("far", 1.5), ("flat", 9.0)):
        score = liked + noise * rng.normal(size=liked.shape)
        score[training & seen] = -np.inf
        rank = np.argsort(np.argsort(-score, axis=1), axis=1) + 1
        rank[rng.random(users) < 0.1] = 99  # some have no list
        made = frame(rank <= 10, rank=rank)
        if text and name == "flat":
            some = pl.col("user").str.ends_with("3")
            made = made.with_columns(user=pl.when(some).then(pl.col("user").str.to_uppercase()).otherwise("user"))
        models[name] = made
    propensity = np.broadcast_to(chance, liked.shape)
    groups = pl.DataFrame({"user": np.arange(users), "group": [f"g{number % 3}" for number in range(users)]})
    population = groups.with_columns(user=pl.format("u{}", "user")) if text else groups
    kind = options.pop("kind", "implicit")
    if kind == "ratings":
        held, known = seen & ~training, seen & training
        test, train = frame(held, value=value, propensity=propensity), frame(known, value=value)
        options = {"feedback": "ratings", **options}
    else:
        test, train = frame(seen & liked & ~training, propensity=propensity), frame(seen & liked & training)
    if places:
        place = np.random.default_rng(seed).integers(1, 5, len(test))
        test = test.with_columns(rank=pl.Series(place).set(pl.Series(place == 4), None))
    return World(test, models, train, population if options.pop("people", False) else None, options)


def rated(seed: int, **options: Any) -> World:
    """A world of ratings in which models predict."""
    found, rng = draw(seed, kind="ratings", **options), np.random.default_rng(seed)
    pairs = found.test.select("user", "item")
    models = {
        name: pairs.with_columns(prediction=np.asarray(found.test["value"]) + rng.normal(0, noise, len(pairs)))
        for name, noise in (("near", 0.4), ("far", 1.4))
    }
    return World(found.test, models, None, found.users, options | {"feedback": "ratings"})


def guessed(seed: int, path: Path, *, text: bool = False) -> World:
    """A world with a table of outcomes that were predicted elsewhere, for some of the pairs."""
    world = draw(seed, text=text, **GUESSED)
    assert world.train is not None
    every = pl.concat(frame.select("user", "item") for frame in (world.test, world.train, *world.models.values()))
    pairs = every.unique(maintain_order=True).sample(fraction=0.9, shuffle=True, seed=seed)
    guesses = np.random.default_rng(seed).random(len(pairs))
    pairs.with_columns(prediction=pl.Series(guesses)).write_parquet(path)
    return replace(world, options={**world.options, "outcome": f"given({path}, default=0.25)"})
