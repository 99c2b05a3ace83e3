"""Worlds that lie inside the box of census and tilt by construction, and worlds that do not quite (MATHS §15).

Inside: η is a linear function of the census features, which training rows make; held-out pairs are seen for reasons
that have nothing to do with their outcomes beyond these features; then

    y ~ σ(η) where a pair was seen,  y ~ σ(η − δ + κz) where not        z standardised log count of training rows

Nobody has a taste beyond the features, and (e^δ, κ) is a point of the box. Two pairs of models are twins, made alike
with other random numbers: they are equally good, and a verdict on them is false. Others are judged by their expected
recall in the world. Outside: ``taste_worlds.py``, where people have tastes that some models learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import unskew as us
from tests.census.taste_worlds import ITEMS as TASTE_ITEMS
from tests.census.taste_worlds import USERS as TASTE_USERS
from tests.census.taste_worlds import sigmoid, taste_world
from tests.worlds import listed, pairs_of
from unskew.inference.turning import whole
from unskew.log import Feedback, Log
from unskew.outcome.affinity import affinity
from unskew.outcome.census_features import features_of

ITEMS, K = 60, 5
THETA = np.array([-1.0, 0.5, 0.3, 0.5, -0.1, 0.3])  # of the standardised features
ALONE, DEFAULT, NAIVE = "tilted alone", "default call", "naive"
TWINS = (frozenset({"random", "random again"}), frozenset({"near", "near again"}))


@dataclass(frozen=True)
class World:
    """The arguments of ``evaluate``, the true value of every model, and which models are equally good."""

    given: Mapping[str, Any]
    truth: Mapping[str, float]
    equal: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class Counts:
    """What was said of the pairs of one world."""

    right: int
    wrong: int
    depends: int
    undecided: int


@dataclass(frozen=True)
class Said:
    """Of one world: what each way of asking says, and how many of the models the region of ``tilted`` covers."""

    counts: Mapping[str, Counts]
    covered: int
    models: int


def inside(seed: int, odds: float, slope: float, users: int) -> World:
    """A world at this point of the box."""
    rng = np.random.default_rng([1_511, seed, users, round(100 * odds), round(100 * slope)])
    activity, popularity = rng.normal(0, 0.5, (users, 1)), rng.normal(0, 0.9, ITEMS)
    taste = -0.7 + rng.normal(0, 0.8, (users, 1)) + rng.normal(0, 0.7, ITEMS) + 0.3 * popularity
    gone = rng.random((users, ITEMS)) < sigmoid(-1.7 + activity + popularity)
    liked = rng.random((users, ITEMS)) < sigmoid(taste)
    train = pairs_of(gone, value=liked)
    log = Log.from_frame(train, feedback=Feedback.CONVERSIONS)
    user, item = log.users.encode(pl.Series(range(users))), log.items.encode(pl.Series(range(ITEMS)))
    every = np.repeat(user, ITEMS), np.tile(item, users)
    x = features_of(log, 10.0, affinity(log, 10)).standardised(*every).of(*every)
    eta = (x @ THETA).reshape(users, ITEMS)
    shown = ~gone & (rng.random((users, ITEMS)) < sigmoid(-1.4 + 0.5 * eta + 0.6 * popularity + activity))
    count = np.log1p(gone.sum(axis=0))
    weight = (~gone & ~shown).sum(axis=0)
    centre = weight @ count / weight.sum()
    z = (count - centre) / math.sqrt(weight @ (count - centre) ** 2 / weight.sum())
    p = np.where(shown, sigmoid(eta), sigmoid(eta - math.log(odds) + slope * z))
    p[gone] = 0.0
    y = rng.random((users, ITEMS)) < p
    hits, times, one = (gone & liked).sum(axis=0), gone.sum(axis=0), np.ones((users, 1))
    scores = {
        "random": rng.random((users, ITEMS)), "random again": rng.random((users, ITEMS)), "popular": one * hits,
        "mean": one * (hits + 2.0) / (times + 6.0), "near": eta + rng.normal(0, 1, eta.shape),
        "near again": eta + rng.normal(0, 1, eta.shape), "looked at": x[:, 5].reshape(users, ITEMS),
    }  # fmt: skip
    models, truth = {}, {}
    for name, score in scores.items():
        free = np.where(gone, -np.inf, score + 1e-9 * rng.random(score.shape))
        top = np.argsort(-free, axis=1)[:, :K]
        truth[name] = float(np.take_along_axis(p, top, axis=1).sum() / p.sum())
        models[name] = listed(top)
    given = {"test": pairs_of(shown, value=y), "models": models, "train": train, "metrics": [f"recall@{K}"]}
    return World(given | _everybody(users, ITEMS), truth, TWINS)


def with_tastes(seed: int, odds: float, slope: float, personal: float) -> World:
    """A world of people with tastes of their own."""
    given, truth = taste_world(seed, odds, slope, personal)
    return World(given | _everybody(TASTE_USERS, TASTE_ITEMS), truth)


def judge(world: World, *, default: bool = False) -> Said:
    """What ``tilted`` says alone, and in the default call with what ``naive`` says there."""
    given = dict(world.given)
    asked: dict[str, Any] = {} if default else {"estimators": ["tilted"], "target": "pooled"}
    found = us.evaluate(given.pop("test"), given.pop("models"), **given, **asked, feedback="conversions", threads=1)
    headline = found.headline()["estimator"]
    assert headline.startswith("tilted")
    (table,) = [each for each in found.scenarios if each.estimator == headline]
    said = {ALONE: {(row.a, row.b): (whole(row.sign), any(row.sign)) for row in table.differences}}
    if default:
        said |= {DEFAULT: _worded(found, headline), NAIVE: _worded(found, "naive")}
    rows = {row.model: row for row in table.values}
    covered = sum(min(rows[name].low) <= true <= max(rows[name].high) for name, true in world.truth.items())
    return Said({who: _counts(world, pairs) for who, pairs in said.items()}, covered, len(world.truth))


def _worded(found: us.Result, estimator: str) -> dict[tuple[str, str], tuple[int, bool]]:
    words = {"ahead": 1, "better": 1, "behind": -1, "worse": -1}
    return {
        (v.a, v.b): (words.get(v.verdict, 0), v.verdict == "depends")
        for v in found.verdicts_
        if v.estimator == estimator
    }


def _counts(world: World, said: Mapping[tuple[str, str], tuple[int, bool]]) -> Counts:
    right = wrong = depends = 0
    for (a, b), (sign, open_) in said.items():
        good = {a, b} not in world.equal and sign * (world.truth[a] - world.truth[b]) > 0.0
        right += sign != 0 and good
        wrong += sign != 0 and not good
        depends += sign == 0 and open_
    return Counts(right, wrong, depends, len(said) - right - wrong - depends)


def _everybody(users: int, items: int) -> dict[str, pl.DataFrame]:
    return {"users": pl.DataFrame({"user": range(users)}), "items": pl.DataFrame({"item": range(items)})}
