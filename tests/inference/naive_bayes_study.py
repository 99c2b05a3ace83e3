"""Do intervals of naive Bayes cover when few rows were seen at random? ``python -m tests.inference.naive_bayes_study``

Every world draws new users with their stars, lists, exposure (by the value alone, as naive Bayes assumes), a split in
halves, and ``random`` rows of random users and items whose values are told. P̂ depends on the value only, so that an
estimate is a function of sums per value, and all replicates of a world are a few matrix products. That ``evaluate``
gives the same intervals is tested.

    taken as known     percentiles of a bootstrap of the users, P̂ as it is
    fixed sample       refitted, the random rows held fixed
    refit              what ``evaluate(…, refit=True)`` does: the random rows are drawn with their users
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.inference.bootstrap import replicate_sums
from unskew.inference.intervals import percentile
from unskew.inference.steps import STEP, prolonged
from unskew.log import Ids
from unskew.propensity.naive_bayes import FEWEST, FEWEST_ROWS

from .worlds import many

Floats = npt.NDArray[np.float64]

USERS, ITEMS, PLACES, STARS = 1_000, 40, 5, 5
SEEN = np.array([0.03, 0.05, 0.1, 0.2, 0.6])  # P of a pair in the whole log, by its stars
RELEVANT = 4  # stars
REPLICATES, LEVEL = 400, 0.95
CELLS = (("ips", "per_user_sum"), ("snips", "pooled"))
METHODS = ("taken as known", "fixed sample", "refit")


@dataclass(frozen=True, eq=False)
class World:
    """Stars, which pairs are in the lists, in training, in the test part, and how often each pair is in the sample."""

    stars: npt.NDArray[np.int64]
    listed: npt.NDArray[np.bool_]
    train: npt.NDArray[np.bool_]
    test: npt.NDArray[np.bool_]
    sample: npt.NDArray[np.bool_]

    @classmethod
    def draw(cls, seed: int, random: int, users: int = USERS) -> World:
        """New users; lists prefer fives to fours, and so does what was shown."""
        rng = np.random.default_rng(seed)
        mood = rng.normal(0.0, 0.5, (users, 1)) + np.linspace(0.6, -0.6, ITEMS)
        stars = np.clip(np.round(3.2 + mood + rng.normal(size=(users, ITEMS))), 1, STARS).astype(np.int64)
        order = np.argsort(-(0.8 * stars + 1.5 * rng.gumbel(size=stars.shape)), axis=1)[:, :PLACES]
        listed = np.zeros(stars.shape, dtype=bool)
        np.put_along_axis(listed, order, True, axis=1)
        seen, half = rng.random(stars.shape) < SEEN[stars - 1], rng.random(stars.shape) < 0.5
        sample = np.zeros(stars.size, dtype=bool)
        sample[rng.choice(stars.size, random, replace=False)] = True
        return cls(stars, listed, seen & ~half, seen & half, sample.reshape(stars.shape))

    @property
    def least(self) -> int:
        """Random rows of the relevant value that has fewest."""
        return int(min((self.sample & (self.stars == value)).sum() for value in range(RELEVANT, STARS + 1)))

    def sums(self, seed: int, replicates: int) -> dict[str, Floats]:
        """Sums over users of everybody once, then of every replicate: per value, the last one of users."""
        found = {}
        hits = self.test & self.listed
        for name, rows in (("train", self.train), ("sample", self.sample), ("test", self.test), ("hits", hits)):
            by_value = [(rows & (self.stars == value)).sum(axis=1) for value in range(1, STARS + 1)]
            x = np.column_stack([*by_value, np.ones(len(rows))]).astype(np.float64)
            found[name] = np.vstack([x.sum(axis=0), replicate_sums(x, hashes(len(rows)), seed, replicates)])
        return found


@cache
def hashes(users: int) -> npt.NDArray[np.uint64]:
    return Ids(pl.Series([str(u) for u in range(users)])).hashes


@cache
def truth() -> tuple[float, ...]:
    """The population's value in every cell."""
    gain, relevant, users = 0.0, 0.0, 0
    for seed in range(40):
        world = World.draw(10**6 + seed, 1, 10_000)
        likes = world.stars >= RELEVANT
        gain, relevant = gain + float((likes & world.listed).sum()), relevant + float(likes.sum())
        users += len(likes)
    return gain / users, gain / relevant


def propensities(train: Floats, sample: Floats) -> Floats:
    """Eq. 18, a = 1, per replicate and value, in the test part (half of the log, like the training part)."""
    n, m = train[:, :STARS], sample[:, :STARS]
    total = n.sum(axis=1, keepdims=True)
    given = (n + 1.0) / (total + STARS)
    everywhere = (m + 1.0) / (m.sum(axis=1, keepdims=True) + STARS)
    return np.asarray(np.minimum(given / everywhere * total / (train[:, STARS:] * ITEMS), 0.5))


def replicates(world: World, seed: int, size: int = REPLICATES) -> tuple[Floats, dict[str, Floats]]:
    """The estimates, ``[cell]``, and the replicates of every method, ``[replicate, cell]``."""
    sums = world.sums(seed, size)
    step = {name: total[0] + STEP * (total - total[0]) for name, total in sums.items()}
    fixed = np.broadcast_to(sums["sample"][:1], sums["sample"].shape)

    def values(p: Floats, rows: slice) -> Floats:
        inverse = (1.0 / p)[:, RELEVANT - 1 :]
        gain = (sums["hits"][rows, RELEVANT - 1 : STARS] * inverse).sum(axis=1)
        clicks = (sums["test"][rows, RELEVANT - 1 : STARS] * inverse).sum(axis=1)
        return np.column_stack([gain / sums["test"][rows, STARS], gain / clicks])

    alike, drawn = slice(0, 1), slice(1, None)
    p = propensities(sums["train"][:1], sums["sample"][:1])
    value, known = values(p, alike)[0], values(p, drawn)
    found = {METHODS[0]: known}
    for method, sample in ((METHODS[1], fixed), (METHODS[2], step["sample"])):
        near = propensities(step["train"], sample)[1:]
        found[method] = prolonged(value, known, values(near, drawn), values(near, alike))
    return value, found


def coverage(worlds: int, random: int) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Whether each world's interval holds the truth, ``[world, cell, method]``; estimates; whether rows suffice."""
    aim = truth()

    def one(seed: int) -> tuple[list[float], list[list[bool]], bool]:
        world = World.draw(seed, random)
        value, methods = replicates(world, seed)
        bounds = [[percentile(methods[m][:, c], LEVEL) for m in METHODS] for c in range(len(CELLS))]
        inside = [[b.low <= aim[c] <= b.high for b in row] for c, row in enumerate(bounds)]
        return list(value), inside, world.least >= FEWEST and random >= FEWEST_ROWS

    found = many(one, range(worlds))
    return np.array([i for _, i, _ in found]), np.array([v for v, _, _ in found]), np.array([e for _, _, e in found])


def main(worlds: int) -> None:
    """Print the table of docs/propensities.md."""
    print(f"{worlds:,} worlds of {USERS:,} users, {REPLICATES} replicates, {LEVEL:.0%} intervals", file=sys.stderr)
    print(f"| random rows | estimate | bias, in standard errors | {' | '.join(METHODS)} | accepted | refit, of these |")
    print(f"|---|---|---|{'---|' * len(METHODS)}---|---|")
    for random in (20, 50, 100, 200, 500):
        inside, values, enough = coverage(worlds, random)
        for c, cell in enumerate(CELLS):
            shares = " | ".join(f"{share:.1%}" for share in inside[:, c].mean(axis=0))
            bias = (values[:, c].mean() - truth()[c]) / values[:, c].std()
            kept = f"{inside[enough, c, 2].mean():.1%}" if enough.any() else "–"
            print(f"| {random} | {' × '.join(cell)} | {bias:+.2f} | {shares} | {enough.mean():.0%} | {kept} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
