"""Worlds with a known truth as users have them, drawn anew with fresh users: what a default call says of equal models.

Relevance is drawn independently of exposure, so two lists that ignore relevance are equally good whatever they show. A
``pull`` above 0 lets the second model's lists prefer relevant items: then it is better, and a right verdict is power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us
from tests.worlds import listed, pairs_of
from unskew.core.notice import codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Random = np.random.Generator
K = 10
LIKED = 0.1  # of the pairs are relevant


@dataclass(frozen=True)
class Case:
    """One call of ``us.evaluate``; with a ``pull``, ``best`` is the model that is truly better than all others."""

    test: pl.DataFrame
    models: dict[str, Any]
    best: str
    options: dict[str, Any] = field(default_factory=dict)

    def run(self) -> us.Result:
        """What the call answers."""
        return us.evaluate(self.test, self.models, **{"metrics": [f"recall@{K}"]} | self.options)


@dataclass(frozen=True)
class Pairs:
    """Who likes what, who was shown what, and how likely that was, as matrices of users × items."""

    liked: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.bool_]
    propensity: Floats
    exposure: Floats  # per item

    @property
    def users(self) -> int:
        return len(self.liked)

    @classmethod
    def draw(cls, rng: Random, users: int, clicks: float, tail: float, items: int = 200) -> Pairs:
        """``clicks`` per user on average; exposure of items is log-normal with spread ``tail``, of pairs a bit more."""
        exposure = np.exp(tail * rng.standard_normal(items))
        exposure *= clicks / (items * LIKED) / exposure.mean()
        pairs = exposure * np.exp(0.3 * rng.standard_normal((users, items)))
        p = np.clip(pairs, 1e-4, 1.0)
        liked = rng.random((users, items)) < LIKED
        return cls(liked, rng.random((users, items)) < p, p, np.clip(exposure, 1e-4, 1.0))

    def rows(self, mask: npt.NDArray[np.bool_], *, values: bool = False) -> pl.DataFrame:
        """The pairs of a mask as a log with its propensities."""
        return pairs_of(mask, propensity=self.propensity, **({"value": self.liked} if values else {}))

    def lists(
        self, rng: Random, power: float, pull: float = 0.0, banned: npt.NDArray[np.bool_] | None = None
    ) -> pl.DataFrame:
        """Lists that prefer items by a power of their exposure, and liked ones by ``pull``."""
        score = power * np.log(self.exposure) + pull * self.liked + rng.gumbel(size=self.liked.shape)
        if banned is not None:
            score = np.where(banned, -np.inf, score)
        return listed(np.argsort(-score, axis=1)[:, :K])

    @property
    def population(self) -> pl.DataFrame:
        return pl.DataFrame({"user": np.arange(self.users)})


def shown(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """Clicks with their propensities: often shown items against rarely shown ones."""
    world = Pairs.draw(rng, users, clicks, tail)
    models = {"often": world.lists(rng, 1.0), "rarely": world.lists(rng, -0.5, pull)}
    return Case(world.rows(world.liked & world.seen), models, "rarely", {"users": world.population})


def alike(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """Two lists from one distribution."""
    world = Pairs.draw(rng, users, clicks, tail)
    models = {"one": world.lists(rng, 0.5), "other": world.lists(rng, 0.5, pull)}
    return Case(world.rows(world.liked & world.seen), models, "other", {"users": world.population})


def five(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """Five models, ten pairs."""
    world = Pairs.draw(rng, users, clicks, tail)
    powers = (1.0, 0.5, 0.0, 0.0, -0.5)
    models = {f"m{j}": world.lists(rng, power, pull if j == 4 else 0.0) for j, power in enumerate(powers)}
    return Case(world.rows(world.liked & world.seen), models, "m4", {"users": world.population})


def split(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """An own 70/30 split of a log whose column speaks of the whole, told by the share.

    All items are candidates: among those outside training, often shown ones are liked less, and models would differ.
    """
    world = Pairs.draw(rng, users, clicks / 0.3, tail)
    clicked = world.liked & world.seen
    held_out = rng.random(clicked.shape) < 0.3
    train = clicked & ~held_out
    models = {"often": world.lists(rng, 1.0), "rarely": world.lists(rng, -0.5, pull)}
    options = {"train": world.rows(train), "share": 0.3, "candidates": "all", "users": world.population}
    return Case(world.rows(clicked & held_out), models, "rarely", options)


def popular(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """No propensities; exposure explains all of popularity, as popularity(gamma=1) assumes; others train."""
    world = Pairs.draw(rng, users, clicks, tail)
    even = np.clip(np.broadcast_to(world.exposure, world.liked.shape), 1e-4, 1.0)
    seen = rng.random(even.shape) < even
    trained = (rng.random((4_000, len(world.exposure))) < LIKED * world.exposure).nonzero()
    train = pl.DataFrame({"user": trained[0] + users, "item": trained[1]})
    test = world.rows(world.liked & seen).drop("propensity")
    models = {"often": world.lists(rng, 1.0), "rarely": world.lists(rng, -0.5, pull)}
    return Case(test, models, "rarely", {"train": train, "share": "users", "propensity": "popularity(gamma=1)"})


def conversions(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """All that was seen, zeros included, over a population with silent users: sums by ips and dr."""
    world = Pairs.draw(rng, users, clicks, tail)
    quiet = rng.random(users) < 0.3
    seen = world.seen & ~quiet[:, None]
    p = world.propensity * 0.7  # a third of the users are never there, which the logger knows
    rows = Pairs(world.liked, seen, p, world.exposure).rows(seen, values=True)
    models = {"often": world.lists(rng, 1.0), "rarely": world.lists(rng, -0.5, pull)}
    options = {"users": world.population, "feedback": "conversions", "outcome": "means", "propensity": "known"}
    return Case(rows, models, "rarely", options)


def seldom(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """A logger that shows each user a personal half of the items, and the others hardly ever (P = .002)."""
    items = 50
    often = rng.random((users, items)) < 0.4
    p = np.where(often, min(clicks / (0.4 * items * LIKED), 0.9), 0.002)
    liked = rng.random((users, items)) < LIKED
    world = Pairs(liked, rng.random((users, items)) < p, p, np.ones(items))
    models = {"often": world.lists(rng, 0.0, banned=~often), "seldom": world.lists(rng, 0.0, pull, banned=often)}
    return Case(world.rows(liked & world.seen), models, "seldom", {"users": world.population})


def seldom_sold(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """The same for conversions: some items are shown to most, the others hardly ever; sums by ips and dr."""
    items = 40
    exposure = np.where(np.arange(items) < 12, 0.6, 0.01)
    p = np.broadcast_to(exposure, (users, items))
    liked = rng.random((users, items)) < LIKED
    world = Pairs(liked, rng.random((users, items)) < p, np.array(p), exposure)
    seldom_shown = np.broadcast_to(np.arange(items) >= 12, liked.shape)
    models = {
        "often": world.lists(rng, 0.0, banned=seldom_shown),
        "seldom": world.lists(rng, 0.0, pull, banned=~seldom_shown),
    }
    options = {
        "users": world.population, "items": pl.DataFrame({"item": np.arange(items)}), "feedback": "conversions",
        "outcome": "means", "propensity": "known",
    }  # fmt: skip
    return Case(world.rows(world.seen, values=True), models, "seldom", options)


def segments(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """Twenty segments of users."""
    world = Pairs.draw(rng, users, clicks, tail)
    people = world.population.with_columns(pl.Series("segment", np.arange(users) % 20))
    models = {"one": world.lists(rng, 0.5), "other": world.lists(rng, 0.5, pull)}
    return Case(world.rows(world.liked & world.seen), models, "other", {"users": people, "by": "segment"})


def ndcg(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """A metric that exists inside each user only."""
    case = alike(rng, users, clicks, tail, pull)
    return Case(case.test, case.models, case.best, case.options | {"metrics": [f"ndcg@{K}"]})


def ratings(rng: Random, users: int, clicks: float, tail: float, pull: float) -> Case:
    """Errors of predictions of stars that are seen the more, the better they are."""
    items = 60
    stars = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], (users, items), p=[0.3, 0.25, 0.2, 0.15, 0.1])
    p = np.clip(clicks / items * np.exp(tail * (stars - 3.0) / 2.0), 0.002, 0.9)
    test = pairs_of(rng.random(stars.shape) < p, value=stars, propensity=p)

    def predictions(noise: float) -> pl.DataFrame:
        return pairs_of(stars > 0.0, prediction=stars + noise * rng.standard_normal(stars.shape))

    models = {"one": predictions(1.0), "other": predictions(1.0 - 0.5 * min(pull, 1.0))}
    return Case(test, models, "other", {"metrics": ["mae"], "feedback": "ratings"})


KINDS: dict[str, Callable[[Random, int, float, float, float], Case]] = {
    "often against rarely shown": shown,
    "two lists alike": alike,
    "five models": five,
    "own split with its share": split,
    "popularity, if it holds": popular,
    "conversions, silent users": conversions,
    "a logger with favourites": seldom,
    "conversions, favourites": seldom_sold,
    "twenty segments": segments,
    "ndcg": ndcg,
    "ratings": ratings,
}


@dataclass(frozen=True)
class Said:
    """What one call said: whether a debiased verdict named anybody, and whether one named the best model."""

    decided: bool
    right: bool
    refused: bool = False


def judge(case: Case) -> Said:
    """Run a case, and look at the verdicts of the estimator that makes the headline, in the whole and in segments."""
    try:
        result = case.run()
    except us.InputError:
        return Said(False, False, refused=True)
    first = result.headline()
    if not first["debiased"]:  # all pairs that were seen had the same chance, which looks like a placeholder
        assert "corrects-nothing" in codes(result.warnings)
        return Said(False, False)
    cell = first["metric"], first["estimator"], first["target"]
    asked = [v for v in result.verdicts_ if (v.metric, v.estimator, v.target) == cell]
    named = [v.a if v.verdict in ("better", "ahead") else v.b for v in asked if v.verdict != "undecided"]
    return Said(bool(named), case.best in named)
