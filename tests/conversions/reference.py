"""Sums per user, written down as slowly and obviously as possible: loops over rows and lists, nothing of the library.

An estimate is a sum over *terms*; a term is a product of *factors* Σ_u a / Σ_u b. Its standard error follows by the
delta method from the users' (a, b).

    seen   = Σ over the user's rows  w·(y, or y − q)·λ(rank)          listed = Σ over listed candidates  q·λ(rank)
    total  = Σ over the user's rows  w·(y, or y − q)  +  Σ over all candidates  q
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

User = str
Item = str
Factor = list[tuple[float, float]]
Term = list[Factor]

PLAIN = "per_user_sum"
POOLED = "per_user_sum(normalised=pooled)"
PER_USER = "per_user_sum(normalised=per_user)"
CORRECTING = ("dr", "sndr", "switch")
GUESSING = ("direct", *CORRECTING)


@dataclass(frozen=True)
class Row:
    """One seen pair."""

    user: User
    item: Item
    value: float
    propensity: float


@dataclass(frozen=True)
class World:
    """What was seen, what training held, one model's lists as user → item → rank, and a guess for every pair."""

    users: Sequence[User]
    rows: Sequence[Row]
    train: Sequence[tuple[User, Item]]
    lists: Mapping[User, Mapping[Item, int]]
    q: Mapping[tuple[User, Item], float] = field(default_factory=dict)
    unseen: bool = True
    named: Sequence[Item] | None = None

    @property
    def catalogue(self) -> set[Item]:
        """Items of both logs, and those that were named."""
        return {row.item for row in self.rows} | {item for _, item in self.train} | set(self.named or ())

    def judged(self, user: User) -> list[Row]:
        """The user's rows, less those that repeat training where only unseen items are candidates."""
        mine = [row for row in self.rows if row.user == user]
        return [row for row in mine if not (self.unseen and (user, row.item) in self.train)]

    def candidates(self, user: User) -> list[Item]:
        """What could be recommended to the user."""
        return [item for item in sorted(self.catalogue) if not (self.unseen and (user, item) in self.train)]

    def listable(self, user: User) -> list[Item]:
        """What a list may hold: if the catalogue was not named, also what no log shows."""
        beyond = set() if self.named is not None else set(self.lists.get(user, {})) - self.catalogue
        return [*self.candidates(user), *sorted(beyond)]

    def rank(self, user: User, item: Item) -> int | None:
        """Where the model lists the item."""
        return self.lists.get(user, {}).get(item)

    def without_training_items(self) -> World:
        """Lists whose training items are gone and whose ranks are closed up to 1, 2, 3, …"""
        closed: dict[User, dict[Item, int]] = {}
        for user, ranks in self.lists.items():
            left = [item for item in sorted(ranks, key=lambda i: ranks[i]) if (user, item) not in self.train]
            closed[user] = {item: place for place, item in enumerate(left, 1)}
        return replace(self, lists=closed)


@dataclass(frozen=True)
class Metric:
    """What a rank is worth."""

    name: str
    k: int | None = None
    p: float = 0.8

    def worth(self, rank: int | None) -> float:
        """λ of a rank."""
        if rank is None or (self.k is not None and rank > self.k):
            return 0.0
        if self.name == "recall":
            return 1.0
        if self.name in ("precision", "cg"):
            assert self.k is not None
            return 1.0 / self.k
        if self.name == "dcg":
            return 1.0 / math.log2(rank + 1)
        if self.name == "rbp":
            return (1.0 - self.p) * self.p ** (rank - 1)
        assert self.name == "arhr"
        return 1.0 / rank


@dataclass(frozen=True)
class Rule:
    """An estimator: its kind, the floor of a clip, the threshold of switch."""

    kind: str
    floor: float = 0.0
    tau: float = math.inf

    def weight(self, row: Row) -> float:
        """What a seen pair weighs, without y."""
        if self.kind == "naive":
            return 1.0
        inverse = 1.0 / max(row.propensity, self.floor)
        if self.kind == "switch" and inverse > self.tau:
            return 0.0
        return inverse

    def counted(self, world: World, row: Row) -> float:
        """y, or y − q where a guess is corrected."""
        return row.value - world.q[row.user, row.item] if self.kind in CORRECTING else row.value


def seen(world: World, metric: Metric, rule: Rule, user: User) -> float:
    """Σ over the user's rows."""
    if rule.kind == "direct":
        return 0.0
    total = 0.0
    for row in world.judged(user):
        total += rule.weight(row) * rule.counted(world, row) * metric.worth(world.rank(user, row.item))
    return total


def listed(world: World, metric: Metric, rule: Rule, user: User, *, normalised: bool = False) -> float:
    """Σ q over listed candidates; normalised ones are those that the total holds."""
    total = 0.0
    for item in world.candidates(user) if normalised else world.listable(user):
        if rule.kind in GUESSING:
            total += world.q[user, item] * metric.worth(world.rank(user, item))
    return total


def total(world: World, rule: Rule, user: User) -> float:
    """What the user's candidates are estimated to yield together."""
    found = 0.0
    if rule.kind != "direct":
        for row in world.judged(user):
            found += rule.weight(row) * rule.counted(world, row)
    if rule.kind in GUESSING:
        for item in world.candidates(user):
            found += world.q[user, item]
    return found


def terms(world: World, metric: Metric, rule: Rule, target: str) -> list[Term]:
    """The terms of an estimate: (a, b) of every user of the population, factor by factor."""
    users = world.users
    guessed = [listed(world, metric, rule, u, normalised=target != PLAIN) for u in users]
    whole = [seen(world, metric, rule, u) + guess for u, guess in zip(users, guessed, strict=True)]
    if target == POOLED:
        return [[[(s, total(world, rule, u)) for s, u in zip(whole, users, strict=True)]]]
    if target == PER_USER:
        own: Factor = []
        for s, u in zip(whole, users, strict=True):
            below = total(world, rule, u)
            own.append((min(max(s / below, 0.0), 1.0) if below > 0.0 else 0.0, 1.0))
        return [[own]]
    assert target == PLAIN
    sizes: Factor = [(float(len(world.candidates(u))), 1.0) for u in users]
    weights = [sum(rule.weight(row) for row in world.judged(u)) for u in users]
    if rule.kind == "snips":
        return [[list(zip(whole, weights, strict=True)), sizes]]
    if rule.kind == "sndr":
        corrections = [seen(world, metric, rule, u) for u in users]
        guesses: Factor = [(guess, 1.0) for guess in guessed]
        return [[guesses], [list(zip(corrections, weights, strict=True)), sizes]]
    if rule.kind == "snips over list":
        inside: Factor = []
        lengths: Factor = []
        for s, u in zip(whole, users, strict=True):
            inside.append((s, sum(rule.weight(r) * metric.worth(world.rank(u, r.item)) for r in world.judged(u))))
            lengths.append((sum(metric.worth(world.rank(u, item)) for item in world.listable(u)), 1.0))
        return [[inside, lengths]]
    return [[[(s, 1.0) for s in whole]]]


def value(parts: Sequence[Term], weights: Sequence[float] | None = None) -> float:
    """Σ over terms Π Σ a / Σ b, each user counted so many times; NaN where nothing is below."""
    times = weights if weights is not None else [1.0] * len(parts[0][0])
    out = 0.0
    for term in parts:
        product = 1.0
        for factor in term:
            above = math.fsum(w * a for w, (a, _) in zip(times, factor, strict=True))
            below = math.fsum(w * b for w, (_, b) in zip(times, factor, strict=True))
            product *= above / below if below > 0.0 else math.nan
        out += product
    return out


def influences(parts: Sequence[Term]) -> list[float]:
    """e_u = gradient · (x_u − mean x) of every user."""
    users = len(parts[0][0])
    out = [0.0] * users
    for term in parts:
        means = [(sum(a for a, _ in f) / users, sum(b for _, b in f) / users) for f in term]
        for f, factor in enumerate(term):
            mean_a, mean_b = means[f]
            others = 1.0
            for g, (a, b) in enumerate(means):
                if g != f:
                    others *= a / b
            for u, (a, b) in enumerate(factor):
                out[u] += others * ((a - mean_a) / mean_b - mean_a / mean_b**2 * (b - mean_b))
    return out


def active(models: Sequence[Sequence[Term]]) -> int:
    """Users with any number ≠ 0, of all models that are compared."""
    factors = [factor for parts in models for term in parts for factor in term]
    return len([u for u in range(len(factors[0])) if any(x != 0.0 for factor in factors for x in factor[u])])


def error(own: Sequence[float], count: int) -> float:
    """SE² = m/(m−1) · Σ e_u² / n²."""
    if count < 2:
        return math.nan
    return math.sqrt(count / (count - 1) * sum(e * e for e in own)) / len(own)


def shares(world: World, metric: Metric, rule: Rule) -> list[float]:
    """|v| of the seen pairs that carry a value: weight times y (y − q where a guess is corrected) times worth."""
    found = []
    for user in world.users:
        for row in world.judged(user):
            v = rule.weight(row) * rule.counted(world, row) * metric.worth(world.rank(user, row.item))
            found += [abs(v)] if v != 0.0 else []
    return found


def clipped_share(world: World, rule: Rule) -> float:
    """Of the pairs that count, the share that a clip raised, or whose correction switch left out."""
    rows = [row for u in world.users for row in world.judged(u)]
    there = [row for row in rows if rule.counted(world, row) != 0.0]
    limited = [row for row in there if row.propensity < rule.floor or rule.weight(row) == 0.0]
    return len(limited) / len(there) if there else 0.0
