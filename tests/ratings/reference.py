"""Averages over pairs, as slowly and obviously as possible: loops over dictionaries, nothing of the library.

A pair (u, i) costs δ: the error of its prediction, or |C_u| · y · worth(rank). With r = 1/P and O the judged pairs

    naive              Σ_O δ / |O|
    ips                Σ_O r δ / Σ_u |C_u|
    snips              Σ_O r δ / Σ_O r
    snips(over=user)   mean over users with a pair of  Σ r δ / Σ r  of the user's pairs
    snips(over=item)   the same over items

and rmse is the root of mse's estimate. Errors: users are the sample, ratios by the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.reference import ess, max_weight_share

Pair = tuple[str, str]


@dataclass(frozen=True)
class Seen:
    """One seen pair: its value and its propensity."""

    user: str
    item: str
    value: float
    propensity: float

    @property
    def pair(self) -> Pair:
        return self.user, self.item


@dataclass(frozen=True)
class Model:
    """What one model says: predicted values, and ranks where it has them."""

    predicted: Mapping[Pair, float]
    rank: Mapping[Pair, int]


@dataclass(frozen=True)
class Rule:
    """An estimator: ``kind`` is naive, ips or snips, ``over`` is pairs, user or item, P is raised to ``floor``."""

    kind: str
    over: str = "pairs"
    floor: float = 0.0

    def weight(self, row: Seen) -> float:
        return 1.0 if self.kind == "naive" else 1.0 / max(row.propensity, self.floor)


@dataclass(frozen=True)
class Judged:
    """Everything an estimate is made of.

    Args:
        users: the population, also those without rows.
        candidates: |C_u| of each of them.
        rows: the pairs that are judged.
        threshold: ranks see y = 1 from here on and 0 below; ``None``: they see the value.
    """

    users: Sequence[str]
    candidates: Mapping[str, float]
    rows: Sequence[Seen]
    threshold: float | None = None

    def cost(self, metric: str, row: Seen, model: Model) -> float:
        """δ of a pair."""
        name, _, k = metric.partition("@")
        if name in ("cg", "dcg", "precision"):
            rank = model.rank.get(row.pair)
            if rank is None or rank > int(k):
                return 0.0
            gain = row.value if self.threshold is None else float(row.value >= self.threshold)
            worth = 1.0 / math.log2(rank + 1.0) if name == "dcg" else 1.0 / int(k)
            return self.candidates[row.user] * gain * worth
        error = abs(model.predicted[row.pair] - row.value)
        if name == "mae":
            return error
        if name == "accuracy":
            return 1.0 if error < 0.5 else 0.0
        return error * error

    def columns(self, metric: str, rule: Rule, model: Model) -> list[tuple[float, float]]:
        """(a, b) of every user, so that the estimate is Σ a / Σ b."""
        out = []
        for user in self.users:
            above = below = 0.0
            for row in self.rows:
                if row.user == user:
                    above += rule.weight(row) * self.cost(metric, row, model)
                    below += rule.weight(row)
            if rule.over == "user":
                out.append((above / below, 1.0) if below > 0.0 else (0.0, 0.0))
            else:
                out.append((above, self.candidates[user] if rule.kind == "ips" else below))
        return out

    def value(self, metric: str, rule: Rule, model: Model) -> float:
        """The estimate; NaN where nothing was seen."""
        if rule.over == "item":
            ratios = []
            for item in sorted({row.item for row in self.rows}):
                mine = [row for row in self.rows if row.item == item]
                below = sum(rule.weight(row) for row in mine)
                ratios.append(sum(rule.weight(row) * self.cost(metric, row, model) for row in mine) / below)
            found = sum(ratios) / len(ratios) if ratios else math.nan
        else:
            columns = self.columns(metric, rule, model)
            below = math.fsum(b for _, b in columns)
            found = math.fsum(a for a, _ in columns) / below if below > 0.0 else math.nan
        return math.sqrt(found) if metric == "rmse" else found

    def influence(self, metric: str, rule: Rule, model: Model) -> list[float]:
        """What each user moves the estimate by, times the number of users: (a − R b) / mean b, less its mean of 0."""
        columns = self.columns(metric, rule, model)
        n = len(columns)
        mean_a, mean_b = sum(a for a, _ in columns) / n, sum(b for _, b in columns) / n
        ratio = mean_a / mean_b
        moves = [(a - mean_a) / mean_b - ratio * (b - mean_b) / mean_b for a, b in columns]
        if metric == "rmse":
            return [move / (2.0 * math.sqrt(ratio)) if ratio > 0.0 else 0.0 for move in moves]
        return moves

    def error(self, metric: str, rule: Rule, models: Sequence[Model], first: int, second: int | None = None) -> float:
        """Standard error of a model's estimate, or of the difference of two; m counts users with anything at all."""
        columns = [self.columns(metric, rule, model) for model in models]
        m = len([u for u in range(len(self.users)) if any(c[u] != (0.0, 0.0) for c in columns)])
        if m < 2:
            return math.nan
        moves = self.influence(metric, rule, models[first])
        if second is not None:
            moves = [x - y for x, y in zip(moves, self.influence(metric, rule, models[second]), strict=True)]
        return math.sqrt(m / (m - 1) * sum(move * move for move in moves)) / len(self.users)

    def shares(self, metric: str, rule: Rule, model: Model) -> list[float]:
        """What the pairs that carry a value weigh: their weight, over their user's (item's) where ratios are averaged.

        Errors are carried by every pair; gains by the pairs that bring one, times that gain. Averages over items look
        at weights only.
        """
        gains = metric.partition("@")[0] in ("cg", "dcg", "precision") and rule.over != "item"
        out = []
        for row in self.rows:
            cost = self.cost(metric, row, model) if gains else 1.0
            if cost == 0.0:
                continue
            below = 1.0
            if rule.over == "user":
                below = sum(rule.weight(other) for other in self.rows if other.user == row.user)
            if rule.over == "item":
                below = sum(rule.weight(other) for other in self.rows if other.item == row.item)
            out.append(rule.weight(row) * cost / below)
        return out

    def ess(self, metric: str, rule: Rule, model: Model) -> float:
        """(Σ v)² / Σ v²."""
        return ess(self.shares(metric, rule, model))

    def max_weight_share(self, metric: str, rule: Rule, model: Model) -> float:
        """max v / Σ v."""
        return max_weight_share(self.shares(metric, rule, model))

    def clipped_share(self, rule: Rule) -> float:
        """Share of the judged pairs whose propensity lies below the floor."""
        return len([row for row in self.rows if row.propensity < rule.floor]) / len(self.rows)
