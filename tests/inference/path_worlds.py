"""Worlds in which nobody knows the propensities: exposure follows popularity to a degree a, or breaks that rule.

    n_i       popularity, log-normal with spread ``skew``
    P_ui      e_u · n_i^a        how likely a relevant pair was to be seen; e_u, the user's activity, is 0.5 or 1.5
    r_i       n_i^(1 − a)        how often an item is liked: what is seen and liked is as popular as n_i

A model lists a pair with probability h_i·g_u, whether it is liked or not, so that its true recall, over relevant pairs
and users weighted by their exposure (MATHS §14), is known exactly:

    V = Σ_u e_u g_u / Σ_u e_u · Σ_i r_i h_i / Σ_i r_i

h prefers popular or rare items; its level is set so that two models are equal, or one is better by a ``lift``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Random = np.random.Generator
K = 100  # more places than any list has: recall@K asks whether an item is listed
LISTED = 8.0  # places of an ordinary list, on average
ACTIVITY = np.array([0.5, 1.5])  # e of every other user
FAVOURS = np.array([0.6, 1.4])  # g of models that work better for active users
TRAINED = 0.6  # share of the log that the popularity is counted on
CLICKS = 6.0  # per user, in the whole log


@dataclass(frozen=True)
class Size:
    """How much there is, and how skewed it is.

    Args:
        skew: spread of log popularity.
        a: share of popularity that comes from exposure; drawn where there is none.
    """

    users: int
    items: int
    skew: float
    a: float | None = None


@dataclass(frozen=True)
class Case:
    """One call: a training and a held-out log, and models with their true values."""

    train: pl.DataFrame
    test: pl.DataFrame
    models: dict[str, pl.DataFrame]
    values: Mapping[str, float]
    feedback: str = "implicit"

    def run(self) -> us.Result:
        """What the exposure path says."""
        return us.evaluate(
            self.test, self.models, metrics=[f"recall@{K}"], estimators=["exposure_path"], target="pooled",
            train=self.train, candidates="all", feedback=self.feedback,
        )  # fmt: skip


@dataclass(frozen=True)
class Said:
    """What was said of pairs of models: of equal ones that one is ahead, and of others who is; or nothing at all."""

    false: bool
    right: bool
    wrong: bool
    depends: bool
    refused: bool = False


def judge(case: Case) -> Said:
    """Hold all verdicts of a case against the true values; short lists may hold nothing that was clicked."""
    false = right = wrong = depends = False
    try:
        verdicts = case.run().verdicts_
    except us.InputError:
        return Said(false, right, wrong, depends, refused=True)
    for v in verdicts:
        truth = case.values[v.a] - case.values[v.b]
        said = {"ahead": 1.0, "behind": -1.0}.get(v.verdict, 0.0)
        assert v.verdict in ("ahead", "behind", "depends", "undecided")
        false |= bool(said) and truth == 0.0
        right |= said * truth > 0.0
        wrong |= said * truth < 0.0
        depends |= v.verdict == "depends"
    return Said(false, right, wrong, depends)


@dataclass(frozen=True)
class World:
    """One draw: popularity, exposure and liking of items, and who likes and sees what."""

    popularity: Floats
    exposure: Floats  # P of items, for a user of activity 1
    liking: Floats  # r
    activity: Floats  # e
    liked: Flags
    seen: Flags

    @classmethod
    def draw(cls, rng: Random, size: Size) -> World:
        """Exposure and liking that multiply to popularity; the log has ``CLICKS`` per user on average."""
        a = float(rng.uniform()) if size.a is None else size.a
        popularity = np.exp(size.skew * rng.standard_normal(size.items))
        exposure, liking = popularity**a, popularity ** (1.0 - a)
        liking *= 0.5 / liking.max()
        exposure *= min(CLICKS / (exposure @ liking), 0.6 / exposure.max())  # no pair of an active user above 0.9
        return cls.of(rng, size.users, popularity, exposure, liking)

    @classmethod
    def of(cls, rng: Random, users: int, popularity: Floats, exposure: Floats, liking: Floats) -> World:
        """Who likes and sees what, given how often items are liked and shown."""
        activity = ACTIVITY[np.arange(users) % 2]
        shape = users, len(popularity)
        liked = rng.random(shape) < liking
        seen = rng.random(shape) < activity[:, None] * exposure
        return cls(popularity, exposure, liking, activity, liked, seen)

    def model(self, rng: Random, profile: Floats, *, favours: bool = False, value: float | None = None) -> Listed:
        """Lists of a profile h; of about ``LISTED`` places, or with this true value."""
        works = FAVOURS[np.arange(len(self.activity)) % 2] if favours else np.ones(len(self.activity))
        per_h = float((self.activity @ works) / self.activity.sum() * (self.liking @ profile) / self.liking.sum())
        level = LISTED / profile.sum() if value is None else value / per_h
        chance = level * works[:, None] * profile
        assert chance.max() <= 1.0, "a list cannot hold an item more often than always"
        return Listed(listed(rng.random(chance.shape) < chance), level * per_h)

    def halves(self, rng: Random, rows: Flags) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Rows of the log as a training and a held-out part, with what was liked."""
        user, item = np.nonzero(rows)
        frame = pl.DataFrame({"user": user, "item": item, "value": self.liked[user, item].astype(float)})
        trained = pl.Series(rng.random(len(frame)) < TRAINED)
        return frame.filter(trained), frame.filter(~trained)


@dataclass(frozen=True)
class Listed:
    """Lists, and what they are truly worth."""

    lists: pl.DataFrame
    value: float


def listed(places: Flags) -> pl.DataFrame:
    """Lists of the marked pairs; their order is without meaning."""
    user, item = np.nonzero(places)
    return pl.DataFrame({"user": user, "item": item}).with_columns(rank=pl.int_range(pl.len()).over("user") + 1)


def profiles(popularity: Floats) -> dict[str, Floats]:
    """Tastes of models: for popular items, for rare ones, for all alike; no item is wanted eight times more often."""
    lift = np.clip(popularity / np.median(popularity), 0.35, 2.8)
    return {"popular": lift, "rare": 1.0 / lift, "even": np.ones(len(popularity))}


def two(rng: Random, size: Size, lift: float) -> Case:
    """Popular items for active users against rare ones for everybody; where they differ, popular is better."""
    world = World.draw(rng, size)
    return _case(world.halves(rng, world.liked & world.seen), _two(rng, world, lift))


def zeros(rng: Random, size: Size, lift: float) -> Case:
    """The same, and all that was seen is logged, liked or not: popularity is then counted on exposure itself."""
    world = World.draw(rng, size)
    return replace(_case(world.halves(rng, world.seen), _two(rng, world, lift)), feedback="conversions")


def _two(rng: Random, world: World, lift: float) -> dict[str, Listed]:
    taste = profiles(world.popularity)
    rare = world.model(rng, taste["rare"])
    popular = world.model(rng, taste["popular"], favours=True, value=rare.value * (1.0 + lift))
    return {"popular": popular, "rare": rare}


def niche(rng: Random, size: Size, lift: float) -> Case:
    """Rare items against popular ones; where they differ, rare is better."""
    world = World.draw(rng, size)
    taste = profiles(world.popularity)
    rare = world.model(rng, taste["rare"], favours=True)
    popular = world.model(rng, taste["popular"], value=rare.value / (1.0 + lift))
    return _case(world.halves(rng, world.liked & world.seen), {"rare": rare, "popular": popular})


def alike(rng: Random, size: Size, lift: float) -> Case:
    """Two models with the same taste."""
    world = World.draw(rng, size)
    taste = profiles(world.popularity)["even"]
    one = world.model(rng, taste)
    other = world.model(rng, taste, value=one.value * (1.0 + lift))
    return _case(world.halves(rng, world.liked & world.seen), {"other": other, "one": one})


def five(rng: Random, size: Size, lift: float) -> Case:
    """Five models of three tastes, ten pairs; where they differ, one is better than all others."""
    world = World.draw(rng, size)
    taste = profiles(world.popularity)
    rare = world.model(rng, taste["rare"])
    made = {"rare": rare, "rare too": world.model(rng, taste["rare"], favours=True, value=rare.value)}
    for name in ("popular", "even", "even too"):
        better = lift if name == "even too" else 0.0
        made[name] = world.model(rng, taste[name.split()[0]], value=rare.value * (1.0 + better))
    return _case(world.halves(rng, world.liked & world.seen), made)


def unrelated(rng: Random, size: Size, lift: float) -> Case:
    """Fooled: today's exposure has nothing to do with the popularity of the past; one model resembles it."""
    old = World.draw(rng, size)
    shown = np.exp(size.skew * rng.standard_normal(size.items))
    shown *= min(CLICKS / (shown @ old.liking), 0.6 / shown.max())
    new = World.of(rng, size.users, old.popularity, shown, old.liking)
    train, test = old.halves(rng, old.liked & old.seen)[0], new.halves(rng, new.liked & new.seen)[1]
    other = new.model(rng, np.ones(size.items))
    logger = new.model(rng, profiles(shown)["popular"], value=other.value * (1.0 + lift))
    return _case((train, test), {"like the logger": logger, "other": other})


def personal(rng: Random, size: Size, lift: float) -> Case:
    """Fooled: each user is shown a half of the items of their own; one model lists mostly that half."""
    world = World.draw(rng, size)
    half = rng.random(world.liked.shape) < 0.5
    chance = world.activity[:, None] * world.exposure * np.where(half, 1.0, 0.2)
    seen = rng.random(half.shape) < chance
    even = LISTED / size.items
    models = {}
    for name, inside, level in (("like the logger", 1.8, 1.0 + lift), ("other", 1.0, 1.0)):
        places = rng.random(half.shape) < level * even * np.where(half, inside, 2.0 - inside)
        models[name] = Listed(listed(places), even * level)
    return _case(world.halves(rng, world.liked & seen), models)


def _case(halves: tuple[pl.DataFrame, pl.DataFrame], models: Mapping[str, Listed]) -> Case:
    """A call for a training and a held-out part; values that are equal by construction are the same number."""
    values = {name: round(each.value, 12) for name, each in models.items()}
    return Case(*halves, {name: each.lists for name, each in models.items()}, values)


KINDS: dict[str, Callable[[Random, Size, float], Case]] = {
    "popular items against rare ones": two,
    "rare items against popular ones": niche,
    "the same taste": alike,
    "five models": five,
    "with what was not liked": zeros,
}
FOOLED: dict[str, Callable[[Random, Size, float], Case]] = {
    "exposure unrelated to popularity": unrelated,
    "personalised exposure": personal,
}
