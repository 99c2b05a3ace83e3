"""What can Σ 1/P see? Its sums in the worlds with zeros, by numpy alone: ``python -m tests.inference.column_sums``.

Over any pairs that are chosen without looking at whether they were seen, E[Σ_seen 1/P] is their number. Measured is
the ratio ρ of the two over all pairs, for tenths of the users by activity and of the items by popularity, and for the
pairs that one list holds and the other does not. Activity is counted on one half of the items and ρ measured on the
other, popularity likewise on halves of the users: tenths made by the rows that are judged would be off by chance. And
unless they are named, only users with rows on the other half count, and items with rows in the other half of the users,
since nobody knows who was never there; the *plain* level takes all users and items that have a row.

    SE² = max(Σ_u (t_u − ρ c_u)², Σ_seen (1 − P)/P²) / (Σ_u c_u)²

Printed are medians over worlds: ρ, by how many standard errors it is off, and in how many worlds a test trips. The
test of tenths is 4 standard errors and 20 % (that of the level 10 %); it *rises* where the busiest tenth trips upwards
or the idlest downwards, as it is where a column does not know how active users are: pages of a fixed length do the
opposite. *Even* holds tenths of the items against ρ of all pairs in place of 1. *Active* is the share of worlds in
which an id has more rows than Σ_i P̄_i + 5 √(Σ_i P̄_i) + 5, P̄_i the harmonic mean of the item's rows.

``--sparse`` prints how often tenths trip in honest logs of few rows, by the effective weights that a tenth must have,
and *with room* for rows that did not come: S worth of pairs, all of weight h, have no row with probability e^(−S/h), so
a sum may fall short by 10 h more, h = Σ w³ / Σ w² of the log.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .broken_columns import BROKEN
from .column_study import Task
from .column_worlds import Bools, World, draw, mark
from .honest_columns import HONEST, compare
from .verdict_worlds import Floats, Ints, Random

ERRORS, OFF, LEVEL_OFF, TENTHS = 4.0, 0.2, 0.1, 10
LEAST = (0.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True)
class Ratios:
    """ρ of some groups of pairs, its standard errors, the effective number of weights, rows, and 10 h as part of ρ."""

    value: Floats
    error: Floats
    ess: Floats
    rows: Floats
    room: Floats

    @property
    def errors(self) -> Floats:
        """By how many standard errors each is off, with its sign; groups without a row are off by 99."""
        return np.where(self.rows > 0, (self.value - 1.0) / np.maximum(self.error, 1e-12), -99.0)

    def worst(self) -> tuple[float, float]:
        """ρ of the group that is off by most standard errors, and these."""
        worst = int(np.argmax(np.abs(self.errors)))
        return float(self.value[worst]), float(self.errors[worst])

    def wrong(self, off: float = OFF, least: float = 0.0, *, room: bool = False) -> Bools:
        """Which groups with so many effective weights are off by so much, with room for rows that did not come."""
        excess = self.value - 1.0
        beyond = (excess > ERRORS * self.error) | (-excess > ERRORS * self.error + (self.room if room else 0.0))
        return beyond & (np.abs(excess) > off) & (self.ess >= least)

    def against(self, level: float) -> Ratios:
        """The same as multiples of a level."""
        return Ratios(self.value / level, self.error / level, self.ess, self.rows, self.room / level)

    @property
    def rises(self) -> bool:
        """Whether the last group has clearly more than it should, or the first clearly less."""
        wrong = self.wrong()
        return bool((wrong[-1] and self.value[-1] > 1.0) or (wrong[0] and self.value[0] < 1.0))


@dataclass(frozen=True)
class Pairs:
    """Candidate pairs of the users and items that a default call knows, and which were seen, with what P."""

    seen: Bools
    there: Bools
    p: Floats
    a: Bools
    b: Bools
    users_named: bool
    items_named: bool

    @classmethod
    def of(cls, world: World) -> Pairs:
        """Users and items with rows, or all where they are named; pairs outside training."""
        train = np.zeros_like(world.seen) if world.train is None else world.seen & world.train
        users, items = world.seen.any(axis=1) | world.population, world.seen.any(axis=0) | world.catalogue
        p = np.where(world.seen, world.written, 1.0)
        if world.divided is not None:
            p = 0.3 * p / (1.0 - 0.7 * p)
        lists = (mark(found, world.seen.shape[1]) for found in (world.a, world.b))
        seen, there, a, b = (matrix[users][:, items] for matrix in (world.seen & ~train, ~train, *lists))
        return cls(seen, there, p[users][:, items], a, b, world.population, world.catalogue)

    def ratios(self, groups: Ints, chosen: Bools | None = None) -> Ratios:
        """ρ of groups of pairs: a matrix of group numbers, users × items; pairs outside ``chosen`` belong to none."""
        there = self.there if chosen is None else self.there & chosen
        seen = there & self.seen
        group = np.broadcast_to(groups, self.seen.shape)
        many, users = int(group[there].max()) + 1, len(self.seen)
        cell = np.arange(users)[:, None] * many + group
        inverse = 1.0 / self.p[seen]
        t = np.bincount(cell[seen], weights=inverse, minlength=users * many).reshape(users, many)
        c = np.bincount(cell[there], minlength=users * many).reshape(users, many)
        mine = group[seen]
        square, alone, rows = (
            np.bincount(mine, weights=w, minlength=many)
            for w in (inverse**2, inverse**2 - inverse, np.ones_like(inverse))
        )
        total, wanted = t.sum(axis=0), np.maximum(c.sum(axis=0), 1)
        value = total / wanted
        error = np.sqrt(np.maximum(((t - value * c) ** 2).sum(axis=0), alone)) / wanted
        room = 10.0 * (inverse**3).sum() / (inverse**2).sum() / wanted
        return Ratios(value, error, total**2 / np.maximum(square, 1e-12), np.asarray(rows, dtype=np.float64), room)


def tenths(counts: Ints, every: bool) -> Ints:
    """Tenths by size, ties divided by their order: of all, or of those that have any, and the others get −1."""
    found, chosen = np.full(len(counts), -1), np.flatnonzero(np.ones_like(counts) if every else counts)
    found[chosen[np.argsort(counts[chosen], kind="stable")]] = np.arange(len(chosen)) * TENTHS // max(len(chosen), 1)
    return found


@dataclass(frozen=True)
class Elsewhere:
    """For every pair, the tenth of its user by rows on the other half of the items, and of its item likewise."""

    users: Ints
    items: Ints

    @classmethod
    def of(cls, pairs: Pairs, rng: Random) -> Elsewhere:
        """Halves drawn at random."""
        item, user = rng.random(pairs.seen.shape[1]) < 0.5, rng.random((len(pairs.seen), 1)) < 0.5
        users = (tenths(pairs.seen[:, side].sum(axis=1), pairs.users_named)[:, None] for side in (~item, item))
        items = (tenths((pairs.seen & side).sum(axis=0), pairs.items_named) for side in (~user, user))
        return cls(np.where(item, *users), np.where(user, *items))

    @property
    def known(self) -> Bools:
        """Pairs of users and items that are named, or have rows elsewhere."""
        return (self.users >= 0) & (self.items >= 0)


def by_list(pairs: Pairs) -> Ratios:
    """What list a alone holds, and what list b alone holds."""
    return pairs.ratios(pairs.b.astype(np.int64), pairs.a != pairs.b)


def over_active(pairs: Pairs) -> bool:
    """Whether an id has more rows than the column allows."""
    inverse = np.where(pairs.seen, 1.0 / pairs.p, 0.0).sum(axis=0)
    average = np.minimum(pairs.seen.sum(axis=0) / np.maximum(inverse, 1e-12), 1.0)
    expected = pairs.there @ average
    return bool((pairs.seen.sum(axis=1) > expected + 5.0 * np.sqrt(expected) + 5.0).any())


def sums_of(world: World, rng: Random) -> list[float]:
    """All that is measured in one world."""
    pairs = Pairs.of(world)
    plain, elsewhere = np.zeros((1, 1), dtype=np.int64), Elsewhere.of(pairs, rng)
    naive, level = pairs.ratios(plain), pairs.ratios(plain, elsewhere.known)
    users = pairs.ratios(elsewhere.users, elsewhere.known)
    items, lists = pairs.ratios(elsewhere.items, elsewhere.known), by_list(pairs)
    apart = float((lists.value[0] - lists.value[1]) / np.hypot(*lists.error))
    return [
        *(naive.value[0], naive.wrong(LEVEL_OFF).any(), *level.worst(), level.wrong(LEVEL_OFF).any()),
        *(users.value[0], users.value[-1], users.worst()[1], users.wrong().any(), users.rises),
        *(*items.worst(), items.wrong().any(), items.against(float(level.value[0])).wrong().any()),
        *(*lists.value, apart, abs(apart) > 3.0),
        over_active(pairs),
    ]


def measure(kind: str, worlds: int) -> str:
    """One line for the worlds of a kind."""
    made = (Task(kind, world).draw() for world in range(worlds))
    rows = [sums_of(world, np.random.default_rng(n)) for n, world in enumerate(made) if isinstance(world, World)]
    m, s = np.median(rows, axis=0), np.mean(np.array(rows, dtype=np.float64), axis=0)
    level = f"{m[0]:5.2f} {s[1]:4.0%} | {m[2]:5.2f} {m[3]:+5.0f} {s[4]:4.0%}"
    users = f"{m[5]:5.2f} {m[6]:5.2f} {m[7]:+4.0f} {s[8]:4.0%} {s[9]:4.0%}"
    items = f"{m[10]:5.2f} {m[11]:+5.0f} {s[12]:4.0%} {s[13]:4.0%}"
    lists = f"{m[14]:5.2f} {m[15]:5.2f} {m[16]:+6.1f} {s[17]:4.0%}"
    return f"{kind:24} | {level} | {users} | {items} | {lists} | {s[18]:4.0%}"


HEAD = (
    f"{'':24} | plain      | level: ρ, SEs    | users: idlest, busiest, SEs, trips, rises | items: worst, SEs, even | "
    "lists: a, b, SEs apart, > 3 | active"
)


def sparse(rng: Random, users: int, items: int, rows: float, spread: float) -> World:
    """An honest log of so many rows per user on average, whose exposure is log-normal by item and pair."""
    score = spread * rng.standard_normal(items) + 0.3 * rng.standard_normal((users, items))
    p = np.exp(score)
    p = np.clip(p * rows / items / p.mean(), 1e-4, 0.95)
    return compare(rng, 1.0, draw(rng, p), p, score)


def false_alarms(worlds: int) -> Iterator[str]:
    """How often tests trip in honest logs."""
    yield f"users items rows spread | plain, level | users: least ess {LEAST}, with room | items: the same"
    for users, items, rows, spread in _shapes():
        levels, sides = np.zeros(2), np.zeros((2, len(LEAST) + 1))
        for world in range(worlds):
            rng = np.random.default_rng([users, items, round(10 * rows), round(10 * spread), world])
            pairs = Pairs.of(sparse(rng, users, items, rows, spread))
            elsewhere, plain = Elsewhere.of(pairs, rng), np.zeros((1, 1), dtype=np.int64)
            levels += [pairs.ratios(plain, chosen).wrong(LEVEL_OFF, 50.0).any() for chosen in (None, elsewhere.known)]
            sides += [_trips(pairs.ratios(group, elsewhere.known)) for group in (elsewhere.users, elsewhere.items)]
        told = (" ".join(f"{share:6.1%}" for share in test / worlds) for test in (levels, *sides))
        yield f"{users:5} {items:5} {rows:4g} {spread:6g} | {' | '.join(told)}"


def _trips(side: Ratios) -> list[bool]:
    return [*(bool(side.wrong(least=n).any()) for n in LEAST), bool(side.wrong(room=True).any())]


def _shapes() -> list[tuple[int, int, float, float]]:
    sizes = ((100, 50), (300, 100), (1_000, 100), (3_000, 200))
    return [(*size, rows, spread) for size in sizes for rows in (1.0, 5.0, 20.0) for spread in (0.5, 1.5)]


def main() -> None:
    """Print the sums of all kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--kind", default="", help="only kinds that contain this text")
    parser.add_argument("--sparse", action="store_true", help="false alarms in honest logs of few rows")
    arguments = parser.parse_args()
    if arguments.sparse:
        for line in false_alarms(arguments.worlds):
            print(line, flush=True)
        return
    print(HEAD)
    kinds: tuple[dict[str, Callable[..., object]], ...] = (dict(BROKEN), {k: make for k, (make, _) in HONEST.items()})
    for kind in (kind for every in kinds for kind in every if arguments.kind in kind):
        if kind != "train and test swapped":
            print(measure(kind, arguments.worlds), flush=True)


if __name__ == "__main__":
    main()
