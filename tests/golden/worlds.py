"""Small worlds as plain tables, made without the package, each once per process: what the recorded calls are about.

``table("shop.test")`` is a table of a world. Uniform numbers of one seed are all the chance there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
HELD_OUT = 0.5
DEPTH = 10


class _Base(NamedTuple):
    """People and things: P(seen), how much each pair is liked (0 … 1), and what was seen and held out."""

    chance: np.random.Generator
    seen_with: Floats
    liking: Floats
    liked: Bools
    seen: Bools
    held: Bools


def _base(seed: int, users: int, items: int, shown: float) -> _Base:
    chance = np.random.default_rng(seed)
    popular = (np.arange(items) + 2.0) ** -0.8
    active = 0.4 + 1.2 * chance.random(users)
    seen_with = np.clip(shown * np.outer(active, popular / popular.mean()), 0.02, 0.95)
    tastes, kinds = chance.random((users, 3)) - 0.5, chance.random((items, 3)) - 0.5
    score = 6.0 * tastes @ kinds.T + 1.5 * (chance.random(items) - 0.4) - 0.9
    liking = 1.0 / (1.0 + np.exp(-score))
    liked = chance.random((users, items)) < liking
    seen = chance.random((users, items)) < seen_with
    return _Base(chance, seen_with, liking, liked, seen, chance.random((users, items)) < HELD_OUT)


def _rows(pairs: Bools, **columns: Floats) -> pl.DataFrame:
    """The chosen pairs, ``user`` a number and ``item`` a text, with columns taken from matrices."""
    user, item = np.nonzero(pairs)
    names = np.array([f"i{n:03d}" for n in range(pairs.shape[1])])
    taken = {name: matrix[pairs] for name, matrix in columns.items()}
    return pl.DataFrame({"user": 1000 + user, "item": names[item], **taken})


def _lists(score: Floats, not_these: Bools, depth: int = DEPTH) -> pl.DataFrame:
    """For every user the items of the highest score that are no training items."""
    score = np.where(not_these, -np.inf, score)
    order = np.argsort(-score, axis=1, kind="stable")[:, :depth]
    user = np.repeat(np.arange(len(score)), depth)
    frame = pl.DataFrame(
        {
            "user": 1000 + user,
            "item": [f"i{n:03d}" for n in order.ravel()],
            "rank": np.tile(np.arange(1, depth + 1), len(score)),
        }
    )
    return frame.filter(pl.Series(np.isfinite(np.take_along_axis(score, order, axis=1)).ravel()))


def _three(base: _Base, train: Bools, counts: Floats) -> dict[str, pl.DataFrame]:
    """What is popular, what suits tastes, and chance; ``short`` has fewer and shorter lists than ``tastes``."""
    noise = base.chance.random(base.liking.shape)
    tastes = _lists(base.liking + 0.5 * noise, train)
    short = tastes.filter((pl.col("user") % 5 != 0) & (pl.col("rank") <= 7))
    popular = _lists(counts[None, :] + 1e-3 * noise, train)
    return {"popular": popular, "tastes": tastes, "chance": _lists(noise, train), "short": short}


def _people(base: _Base, train: Bools) -> pl.DataFrame:
    """Everybody, with the number of liked items outside training and a group."""
    there = (base.liked & ~train).sum(axis=1)
    return pl.DataFrame(
        {
            "user": 1000 + np.arange(len(there)),
            "relevant": there.astype(np.float64),
            "group": [("old", "new", "guest")[n % 3] for n in range(len(there))],
        }
    )


def _features(base: _Base) -> dict[str, pl.DataFrame]:
    users, items = base.seen_with.shape
    one, two = base.seen_with.mean(axis=1), base.chance.random(users)
    three, four = np.log(base.seen_with.mean(axis=0)), base.chance.random(items)
    return {
        "user_features": pl.DataFrame({"user": 1000 + np.arange(users), "active": one, "age": two}),
        "item_features": pl.DataFrame({"item": [f"i{n:03d}" for n in range(items)], "place": three, "price": four}),
    }


def _held_out(base: _Base) -> Floats:
    """P(in the test log), given that a pair is not in training."""
    return base.seen_with * HELD_OUT / (1.0 - base.seen_with * (1.0 - HELD_OUT))


def _random_pairs(base: _Base, share: float) -> Bools:
    return base.chance.random(base.seen.shape) < share


def _answers(base: _Base, out: Bools, lists: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Answers to questions about candidates: more about the first ten of two models, a few without an answer."""
    drawn = np.full(base.seen.shape, 0.03)
    for name in ("popular", "tastes"):
        item = lists[name]["item"].str.slice(1).cast(pl.Int64).to_numpy()
        drawn[lists[name]["user"].to_numpy() - 1000, item] = 0.35
    drawn[out] = 0.0
    asked = base.chance.random(drawn.shape) < drawn
    value = np.where(base.chance.random(drawn.shape) < 0.03, np.nan, base.liked.astype(np.float64))
    return _rows(asked, value=value, propensity=drawn).with_columns(pl.col("value").fill_nan(None))


@cache
def shop() -> dict[str, pl.DataFrame]:
    """A log of likes, with propensities, times and a channel."""
    base = _base(1, 240, 90, 0.22)
    train, test = base.seen & base.liked & ~base.held, base.seen & base.liked & base.held
    when = 1_700_000_000.0 + np.floor(40.0 * 86_400.0 * base.chance.random(base.seen.shape))
    channel = np.floor(2.0 * base.chance.random(base.seen.shape))
    rows = _rows(test, propensity=_held_out(base), time=when, channel=channel)
    rows = rows.with_columns(
        pl.col("time").cast(pl.Int64),
        channel=pl.when(pl.col("channel") > 0).then(pl.lit("app")).otherwise(pl.lit("web")),
    )
    counts = train.sum(axis=0).astype(np.float64)
    lists = _three(base, train, counts)
    names = [f"i{n:03d}" for n in range(90)]
    return {
        "train": _rows(train, time=when).with_columns(pl.col("time").cast(pl.Int64)),
        "test": rows,
        "bare": rows.drop("propensity", "time"),
        "uneven": rows.with_columns(propensity=pl.col("propensity") * (1.0 - 0.4 * (pl.col("user") % 2))),
        "users": _people(base, train),
        "items": pl.DataFrame({"item": [*names, "x1", "x2"]}),
        "mcar": _rows(_random_pairs(base, 0.05) & base.liked),
        "answers": _answers(base, train, lists),
        **_features(base),
        **lists,
    }


@cache
def visits() -> dict[str, pl.DataFrame]:
    """A log of pages that were opened and what came of it: 0, 1, or a grade; with places, policies and propensities."""
    base = _base(2, 200, 80, 0.18)
    train, test = base.seen & ~base.held, base.seen & base.held
    value = base.liked.astype(np.float64)
    grade = value * np.floor(1.0 + 3.0 * base.chance.random(value.shape))
    place = np.floor(1.0 + 4.0 * base.chance.random(value.shape) * (1.0 - 0.5 * base.seen_with))
    rows = _rows(test, value=value, propensity=_held_out(base))
    with_places = _rows(test, value=value, propensity=_held_out(base), position=place)
    guess = np.clip(0.8 * base.liking + 0.1 + 0.2 * (base.chance.random(value.shape) - 0.5), 0.01, 0.99)
    lists = _three(base, train, train.sum(axis=0).astype(np.float64))
    policy = (pl.col("user") % 2 == 0).replace_strict({True: "old", False: "new"}, return_dtype=pl.String)
    return {
        "train": _rows(train, value=value),
        "test": rows,
        "bare": rows.drop("propensity"),
        "part_train": _rows(train, value=value, propensity=base.seen_with),
        "part_test": _rows(test, value=value, propensity=base.seen_with),
        "graded": _rows(test, value=grade, propensity=_held_out(base)),
        "graded_train": _rows(train, value=grade),
        "placed": with_places.with_columns(pl.col("position").cast(pl.Int64)),
        "policies": with_places.with_columns(pl.col("position").cast(pl.Int64), policy=policy),
        "users": _people(base, train),
        "mcar": _rows(_random_pairs(base, 0.06), value=value),
        "guess": _rows(np.ones_like(base.seen), prediction=guess),
        "some_guess": _rows(base.held, prediction=guess),
        "answers": _answers(base, train | test, lists),
        **_features(base),
        **lists,
    }


@cache
def ratings() -> dict[str, pl.DataFrame]:
    """Ratings 1 … 5 that are seen the more the better they are, random ratings beside, and predictions."""
    base = _base(3, 160, 70, 0.25)
    rating = 1.0 + np.floor(4.999 * np.clip(base.liking + 0.5 * (base.chance.random(base.seen.shape) - 0.5), 0.0, 1.0))
    chance = np.clip(base.seen_with * 0.45 ** (5.0 - rating) * 2.2, 0.02, 0.9)
    seen = base.chance.random(chance.shape) < chance
    train, test = seen & ~base.held, seen & base.held
    given = chance * HELD_OUT / (1.0 - chance * (1.0 - HELD_OUT))
    good, plain = 1.0 + 4.0 * base.liking, np.broadcast_to(rating.mean(axis=0), rating.shape)
    shifted = np.clip(rating - 0.6 + base.chance.random(rating.shape), 1.0, 5.0)
    everybody = np.ones_like(seen)
    lists = _three(base, train, (train & (rating >= 4.0)).sum(axis=0).astype(np.float64))
    return {
        "train": _rows(train, value=rating),
        "test": _rows(test, value=rating, propensity=given),
        "bare": _rows(test, value=rating),
        "whole": _rows(seen, value=rating, propensity=chance),
        "whole_bare": _rows(seen, value=rating),
        "mcar": _rows(_random_pairs(base, 0.12), value=rating),
        "guess_good": _rows(everybody, prediction=good),
        "guess_plain": _rows(everybody, prediction=plain),
        "guess_shifted": _rows(everybody, prediction=shifted),
        "users": _people(base, train),
        **_features(base),
        **lists,
    }


@cache
def days() -> dict[str, pl.DataFrame]:
    """Two months of purchases under three policies, for folds, protocols and splits."""
    base = _base(4, 210, 50, 0.3)
    bought = base.seen & base.liked
    when = 1_704_067_200.0 + np.floor(60.0 * 86_400.0 * base.chance.random(bought.shape))
    rows = _rows(bought, time=when, propensity=base.seen_with).with_columns(pl.col("time").cast(pl.Int64))
    names = pl.Series(["first", "second", "third"])
    policy = pl.Series("policy", names.gather(np.arange(210) % 3))
    of_user = pl.DataFrame({"user": 1000 + np.arange(210), "policy": policy})
    viewed = _rows(base.seen, value=base.liked.astype(np.float64), time=when, propensity=base.seen_with)
    return {
        "log": rows.drop("propensity"),
        "known": rows,
        "untimed": rows.drop("time", "propensity"),
        "policies": rows.join(of_user, on="user", maintain_order="left"),
        "viewed": viewed.with_columns(pl.col("time").cast(pl.Int64)),
        "viewed_bare": viewed.drop("time", "propensity"),
    }


def table(name: str) -> pl.DataFrame:
    """A table by its name, such as ``shop.test``."""
    world, _, which = name.partition(".")
    return {"shop": shop, "visits": visits, "ratings": ratings, "days": days}[world]()[which]
