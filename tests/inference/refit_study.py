"""Do intervals cover when propensities were estimated from few users? ``python -m tests.inference.refit_study``

Every world draws new training users, test users (others), preferences, lists and exposure. Items are exposed unevenly
and liked alike; popular ones stand higher in the lists, so that naive estimates are too high. Where propensities depend
on the item only, an estimate is a function of sums per item, and all replicates of a world are a few matrix products:
2,000 worlds take seconds where ``evaluate`` would take hours. That both give the same intervals is tested.

Three ways to an interval of 95 %:

    taken as known     percentiles of a bootstrap of the test users, P̂ as it is
    whole draws        percentiles, P̂ fitted anew to the drawn training users
    refit              what ``evaluate(…, refit=True)`` does (``unskew.inference.steps``)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.inference.bootstrap import replicate_sums
from unskew.inference.intervals import percentile
from unskew.inference.steps import STEP, prolonged
from unskew.log import Ids

from .worlds import many

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ITEMS, PLACES = 24, 5
POPULAR = np.arange(1.0, ITEMS + 1.0) ** -0.7
WORTH = 1.0 / np.log2(np.arange(2.0, PLACES + 2.0))
TRAIN, TEST, POPULATION = 100, 1_000, 400_000
LEAST = 0.3  # P of the items that are shown least
REPLICATES, LEVEL = 400, 0.95

CELLS = (("ips", "per_user_sum"), ("snips", "pooled"))
METHODS = ("taken as known", "whole draws", "refit")


@dataclass(frozen=True, eq=False)
class Users:
    """Some users: what they like, what their list is worth at every item, and what they saw."""

    likes: Bools
    worth: Floats
    seen: Bools


def draw(rng: np.random.Generator, users: int, least: float = LEAST) -> Users:
    """New users from the population; how much a user likes differs, what is liked does not depend on exposure."""
    likes = rng.random((users, ITEMS)) < 0.2 + 0.6 * rng.random((users, 1))
    score = 0.5 * np.log(POPULAR) + 0.5 * likes + 2.0 * rng.random((users, ITEMS))
    worth = np.zeros((users, ITEMS))
    best = np.argsort(-score, axis=1)[:, :PLACES]
    np.put_along_axis(worth, best, np.broadcast_to(WORTH, best.shape), axis=1)
    return Users(likes, worth, rng.random((users, ITEMS)) < np.maximum(0.9 * POPULAR, least))


@cache
def truth() -> tuple[float, ...]:
    """The population's value in every cell; its own error is 5 % of that of a world of 1,000 users."""
    rng, gain, relevant = np.random.default_rng(10**9), 0.0, 0.0
    for _ in range(POPULATION // 10_000):
        users = draw(rng, 10_000)
        gain, relevant = gain + float((users.likes * users.worth).sum()), relevant + float(users.likes.sum())
    return gain / POPULATION, gain / relevant


def popularity(shown: Floats, liked: Floats, users: Floats) -> Floats:
    """P_i = |O| n_i / (U Σ n_i), at most 1; an item without positives counts as one with one."""
    counts = np.where(liked > 0.0, liked, 1.0)
    level = counts / counts.sum(axis=1, keepdims=True) * (shown.sum(axis=1) / users)[:, None]
    return np.asarray(np.minimum(level, 1.0))


def item_offsets(shown: Floats, liked: Floats, users: Floats) -> Floats:
    """P_i = e_i / U; an item that nobody saw counts as seen once."""
    return np.asarray(np.where(shown > 0.0, shown, 1.0) / users[:, None])


Fit = Callable[[Floats, Floats, Floats], Floats]
MODELS: dict[str, Fit] = {
    "popularity(gamma=1, level=absolute)": popularity,
    "logistic(features=none, offsets=item)": item_offsets,
}


@cache
def hashes(prefix: str, users: int) -> npt.NDArray[np.uint64]:
    return Ids(pl.Series([f"{prefix}{u}" for u in range(users)])).hashes


def sums(x: Floats, prefix: str, seed: int, replicates: int) -> Floats:
    """Column sums over users: of everybody once, then of every replicate."""
    return np.vstack([x.sum(axis=0), replicate_sums(x, hashes(prefix, len(x)), seed, replicates)])


@dataclass(frozen=True, eq=False)
class World:
    """Training users named t0, t1, … and test users named u0, u1, …, and the bootstrap's seed and size."""

    train: Users
    test: Users
    seed: int
    size: int

    @classmethod
    def draw(cls, seed: int, training: int = TRAIN, least: float = LEAST, replicates: int = REPLICATES) -> World:
        """New users."""
        rng = np.random.default_rng(seed)
        return cls(draw(rng, training, least), draw(rng, TEST, least), seed, replicates)

    @cached_property
    def _trained(self) -> tuple[Floats, Floats, Floats]:
        """Exposures and positives of every item, and the number of users."""
        x = np.column_stack([self.train.seen, self.train.seen & self.train.likes, np.ones(len(self.train.seen))])
        shown, liked, users = np.split(sums(x, "t", self.seed, self.size), [ITEMS, 2 * ITEMS], axis=1)
        return shown, liked, users[:, 0]

    @cached_property
    def _tested(self) -> tuple[Floats, Floats, Floats]:
        """Worth and number of the clicks on every item, and the number of users."""
        clicks = self.test.seen & self.test.likes
        x = np.column_stack([clicks * self.test.worth, clicks, np.ones(TEST)])
        worth, number, users = np.split(sums(x, "u", self.seed, self.size), [ITEMS, 2 * ITEMS], axis=1)
        return worth, number, users[:, 0]

    def replicates(self, model: str) -> tuple[Floats, dict[str, Floats]]:
        """The estimates, ``[cell]``, and the replicates of every method, ``[replicate, cell]``."""
        p, near = MODELS[model](*self._trained), MODELS[model](*(step(total) for total in self._trained))
        worth, clicks, users = self._tested

        def values(p: Floats, rows: slice) -> Floats:
            gain = (worth[rows] / p).sum(axis=1)
            return np.column_stack([gain / users[rows], gain / (clicks[rows] / p).sum(axis=1)])

        alike, drawn = slice(0, 1), slice(1, None)  # test users as they are, or drawn
        value, known = values(p[:1], alike)[0], values(p[:1], drawn)
        refit = prolonged(value, known, values(near[1:], drawn), values(near[1:], alike))
        return value, dict(zip(METHODS, (known, values(p[1:], drawn), refit), strict=True))


def step(total: Floats) -> Floats:
    """Sums under weights a step towards the draw: sums are linear in weights, so that they go the same step."""
    return np.asarray(total[0] + STEP * (total - total[0]))


@dataclass(frozen=True, eq=False)
class Coverage:
    """Shares of worlds whose interval holds the truth, ``[model, cell, method]``, and the estimates' bias in errors."""

    share: Floats
    bias: Floats


def study(worlds: int, training: int = TRAIN, least: float = LEAST) -> Coverage:
    """Intervals of many worlds against the truth."""
    aim = np.array(truth())

    def one(seed: int) -> tuple[Floats, Floats]:
        world = World.draw(seed, training, least)
        values, inside = [], []
        for model in MODELS:
            value, methods = world.replicates(model)
            values.append(value)
            for cell in range(len(CELLS)):
                bounds = [percentile(methods[method][:, cell], LEVEL) for method in METHODS]
                inside.append([b.low <= aim[cell] <= b.high for b in bounds])
        return np.array(values), np.array(inside, dtype=np.float64)

    found = many(one, range(worlds))
    values = np.array([v for v, _ in found])
    share = np.array([i for _, i in found]).mean(axis=0).reshape(len(MODELS), len(CELLS), len(METHODS))
    return Coverage(share, (values.mean(axis=0) - aim) / values.std(axis=0))


def main(worlds: int) -> None:
    """Print the table of docs/propensities.md."""
    print(f"{worlds:,} worlds of {TEST:,} test users, {REPLICATES} replicates, {LEVEL:.0%} intervals", file=sys.stderr)
    print(f"| training users | least P | propensity | estimate | bias, in standard errors | {' | '.join(METHODS)} |")
    print(f"|---|---|---|---|---|{'---|' * len(METHODS)}")
    for training, least in ((TRAIN, LEAST), (4 * TRAIN, LEAST), (TRAIN, 0.1), (4 * TRAIN, 0.1)):
        found = study(worlds, training, least)
        for m, model in enumerate(MODELS):
            for c, cell in enumerate(CELLS):
                shares = " | ".join(f"{share:.1%}" for share in found.share[m, c])
                print(
                    f"| {training} | {least:g} | `{model}` | {' × '.join(cell)} | {found.bias[m, c]:+.2f} | {shares} |"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
