"""The estimates, written down as slowly and obviously as possible: loops over rows, nothing of the library.

Notation: r = 1/P, y the value of a row, λ the worth of a rank, n_u the number of a user's relevant items. A user's sum
is Σ w·y·λ; every estimate is a product of *factors* Σ_u a_u / Σ_u b_u, and its standard error follows by the delta
method from the users' (a, b).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

User = str
Item = str
Factor = list[tuple[float, float]]  # (a, b) of every user of the population


@dataclass(frozen=True)
class Row:
    """One held-out interaction."""

    user: User
    item: Item
    value: float = 1.0
    propensity: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class World:
    """A population, what was seen of it, and one model's lists as user → item → rank."""

    users: Sequence[User]
    rows: Sequence[Row]
    ranks: Mapping[User, Mapping[Item, int]]
    relevant: Mapping[User, float] = field(default_factory=dict)
    candidates: Mapping[User, float] = field(default_factory=dict)

    def of(self, user: User) -> list[Row]:
        """The rows of a user."""
        return [row for row in self.rows if row.user == user]

    def rank(self, row: Row) -> int | None:
        """At which rank the model lists the row's item for its user."""
        return self.ranks.get(row.user, {}).get(row.item)


@dataclass(frozen=True)
class Rule:
    """An estimator.

    Args:
        kind: naive, ips, snips, gs or stratified.
        stratum: which stratum a row lies in (gs, stratified).
        shares: P(v) by stratum (stratified).
        mode: eq3 or renormalised (stratified).
        floor: propensities below are raised to it (a clip).
    """

    kind: str
    stratum: Callable[[Row], object] = lambda row: None
    shares: Mapping[object, float] = field(default_factory=dict)
    mode: str = "renormalised"
    floor: float = 0.0

    def inverse(self, row: Row) -> float:
        """1/P after the clip."""
        return 1.0 / max(row.propensity, self.floor)

    def weight(self, row: Row, mine: Sequence[Row]) -> float:
        """The weight of a row, without y; ``mine`` are all rows of its user."""
        if self.kind == "naive":
            return 1.0
        if self.kind in ("ips", "snips"):
            return self.inverse(row)
        stratum = [other for other in mine if self.stratum(other) == self.stratum(row)]
        gains = sum(other.value for other in stratum)
        if gains == 0.0:
            return 0.0
        if self.kind == "gs":
            return sum(self.inverse(other) * other.value for other in stratum) / gains
        return self.shares[self.stratum(row)] / gains

    def divisor_weight(self, row: Row) -> float:
        """What a row adds to the divisor of a self-normalised estimator, without y."""
        return 1.0 if self.kind == "naive" else self.inverse(row)

    def divisor(self, world: World, user: User) -> float:
        """What a user's sum is divided by under per_user, and what is summed up under pooled; 0: does not count."""
        mine = world.of(user)
        if self.kind == "ips":
            return world.relevant[user]
        if self.kind == "stratified":
            present = {self.stratum(row) for row in mine if row.value > 0.0}
            if self.mode == "eq3":
                return 1.0 if present else 0.0
            return sum(self.shares[stratum] for stratum in present)
        return sum(self.divisor_weight(row) * row.value for row in mine)


@dataclass(frozen=True)
class Metric:
    """A metric: its name, its cut-off and its options."""

    name: str
    k: int | None = None
    p: float = 0.8
    discount: str = "log2"
    ideal: str = "positives"
    divide: str = "positives"

    @property
    def additive(self) -> bool:
        """Whether it is a sum over items."""
        return self.name in ("recall", "precision", "dcg", "rbp", "arhr")

    def worth(self, rank: int | None) -> float:
        """λ of a rank."""
        if rank is None or (self.k is not None and rank > self.k):
            return 0.0
        if self.name == "precision":
            assert self.k is not None
            return 1.0 / self.k
        if self.name == "rbp":
            return (1.0 - self.p) * self.p ** (rank - 1)
        if self.name in ("arhr", "mrr"):
            return 1.0 / rank
        if self.name in ("dcg", "ndcg"):
            return 1.0 / math.log2(rank + 1) if self.discount == "log2" else 1.0 / max(math.log2(rank), 1.0)
        return 1.0  # recall, hit


def ratio(world: World, metric: Metric, rule: Rule, user: User) -> tuple[float, float]:
    """(a, b) of a user under per_user: the user's own value and 1, or (0, 0) if the user does not count."""
    mine = world.of(user)
    divisor = rule.divisor(world, user)
    positives = [row for row in mine if row.value > 0.0]
    weights = {row: rule.weight(row, mine) * row.value for row in mine}
    total = sum(weights[row] * metric.worth(world.rank(row)) for row in mine)
    if metric.name == "ndcg":
        if sum(weights.values()) <= 0.0:
            return 0.0, 0.0
        if metric.ideal == "full":
            assert metric.k is not None
            return total / sum(metric.worth(j) for j in range(1, metric.k + 1)), 1.0
        best = sorted((weights[row] for row in positives), reverse=True)
        return total / sum(w * metric.worth(j) for j, w in enumerate(best, 1)), 1.0
    if divisor <= 0.0:
        return 0.0, 0.0
    ranks = sorted(rank for row in positives if (rank := world.rank(row)) is not None)
    if metric.name in ("mrr", "hit"):
        return (metric.worth(ranks[0]) if ranks else 0.0), 1.0
    if metric.name == "r_precision":
        return len([rank for rank in ranks if rank <= len(positives)]) / len(positives), 1.0
    if metric.name == "map":
        total = 0.0
        for row in positives:
            rank = world.rank(row)
            if rank is not None and (metric.k is None or rank <= metric.k):
                hits = len([other for other in ranks if other <= rank])
                total += weights[row] * hits / rank
        if metric.divide == "min":
            assert metric.k is not None
            divisor = sum(sorted((rule.divisor_weight(row) * row.value for row in mine), reverse=True)[: metric.k])
    return total / divisor, 1.0


def factors(world: World, metric: Metric, rule: Rule, target: str) -> list[Factor]:
    """The factors of an estimate: (a, b) of every user of the population."""
    if target == "per_user":
        return [[ratio(world, metric, rule, user) for user in world.users]]
    sums: list[float] = []
    for user in world.users:
        mine = world.of(user)
        sums.append(sum(rule.weight(row, mine) * row.value * metric.worth(world.rank(row)) for row in mine))
    if target == "pooled":
        return [[(s, rule.divisor(world, user)) for s, user in zip(sums, world.users, strict=True)]]
    if rule.kind == "snips":
        seen = [sum(rule.inverse(row) for row in world.of(user)) for user in world.users]
        return [list(zip(sums, seen, strict=True)), [(world.candidates[user], 1.0) for user in world.users]]
    return [[(s, 1.0) for s in sums]]


def value(parts: Sequence[Factor]) -> float:
    """Π Σ a / Σ b; NaN where nobody counts."""
    out = 1.0
    for factor in parts:
        below = math.fsum(b for _, b in factor)
        out *= math.fsum(a for a, _ in factor) / below if below > 0.0 else math.nan
    return out


def influences(parts: Sequence[Factor]) -> list[float]:
    """e_u = gradient · (x_u − mean x) of every user."""
    users = len(parts[0])
    means = [(sum(a for a, _ in factor) / users, sum(b for _, b in factor) / users) for factor in parts]
    if any(b == 0.0 for _, b in means):
        return [math.nan] * users
    out = []
    for u in range(users):
        e = 0.0
        for f, factor in enumerate(parts):
            others = math.prod(a / b for g, (a, b) in enumerate(means) if g != f)
            (mean_a, mean_b), (a, b) = means[f], factor[u]
            e += others / mean_b * (a - mean_a) - others * mean_a / mean_b**2 * (b - mean_b)
        out.append(e)
    return out


def active(*models: Sequence[Factor]) -> int:
    """Users with a column ≠ 0, of all models that are compared."""
    columns = [factor for parts in models for factor in parts]
    return len([u for u in range(len(columns[0])) if any(x != 0.0 for factor in columns for x in factor[u])])


def error(own: Sequence[float], users: int, count: int) -> float:
    """SE² = m/(m−1) · Σ e_u² / n²."""
    if count < 2:
        return math.nan
    return math.sqrt(count / (count - 1) * sum(e * e for e in own)) / users


def shares_of_weight(world: World, rule: Rule, target: str, metric: Metric) -> list[float]:
    """|v| of every pair that carries a value: weight · y · worth(rank), over the user's divisor under per_user."""
    out = []
    for user in world.users:
        mine = world.of(user)
        divisor = rule.divisor(world, user) if target == "per_user" else 1.0
        if divisor > 0.0:
            worths = [metric.worth(world.rank(row)) for row in mine]
            out += [rule.weight(row, mine) * row.value * w / divisor for row, w in zip(mine, worths, strict=True)]
    return out


def ess(v: Sequence[float]) -> float:
    """(Σ|v|)² / Σv²."""
    return sum(v) ** 2 / sum(x * x for x in v) if any(v) else 0.0


def max_weight_share(v: Sequence[float]) -> float:
    """max|v| / Σ|v|."""
    return max(v) / sum(v) if any(v) else 0.0


def bin_of(propensity: float) -> int:
    """Edges of strata and quantile clips lie on fixed bins, 256 to the octave."""
    return math.floor(math.log2(propensity) * 256)


def quantile(propensities: Sequence[float], probability: float) -> float:
    """The lower edge of the bin in which more than this share of the propensities is reached."""
    places = sorted(bin_of(p) for p in propensities)
    for place in places:
        if len([other for other in places if other <= place]) > probability * len(places):
            return math.pow(2.0, place / 256)
    raise AssertionError("a probability below 1 is always reached")


def quantile_edges(propensities: Sequence[float], count: int) -> list[float]:
    """The inner edges of ``count`` quantile bins."""
    return [quantile(propensities, j / count) for j in range(1, count)]


def equal_width_edges(propensities: Sequence[float], count: int) -> list[float]:
    """The inner edges of ``count`` bins of the same width."""
    low, high = min(propensities), max(propensities)
    return [low + j / count * (high - low) for j in range(1, count)]


def place(edges: Sequence[float]) -> Callable[[Row], int]:
    """How many edges a row's propensity reaches: its stratum."""
    return lambda row: len([edge for edge in edges if edge <= row.propensity])
