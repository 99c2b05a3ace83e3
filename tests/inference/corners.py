"""Tipping points by brute force: every row's weight low or high, all 2ⁿ ways, the worst of them.

A ratio of sums that are linear in the weights is least (or largest) at a corner of the box that the weights may lie
in, so trying all corners is a proof and not an approximation.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.memory import MemoryEngine
from unskew.estimators import Estimator
from unskew.judging.measure import measure
from unskew.judging.tipping_points import tipping_points
from unskew.log import Recommendations
from unskew.result import Verdict

from .worlds import ITEMS, Floats, Ints64, answer, numbered, plan_of, setting

K = 5
GS = "gs(strata=2)"


def small(seed: int, *, relative: bool, users: int = 4, rows: int = 9) -> EvaluationData:
    """A few users with graded values, zeros and random lists of two models; one user has no rows."""
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, users - 1, rows))
    item = np.concatenate(
        [np.sort(rng.choice(10, n, replace=False)) for n in np.bincount(owner, minlength=users)]
    ).astype(np.int32)
    lists = []
    for _ in range(2):
        listed = np.concatenate([rng.permutation(10)[:K] for _ in range(users)]).astype(np.int32)
        starts = np.arange(users + 1, dtype=np.int64) * K
        rank = np.tile(np.arange(1, K + 1, dtype=np.int32), users)
        lists.append(Recommendations(numbered(users), numbered(ITEMS), starts, listed, rank))
    value = rng.choice([0.0, 0.5, 1.0, 2.0], rows, p=[0.15, 0.2, 0.45, 0.2])
    value[0] = 1.0
    return EvaluationData(
        hashes=numbered(users).hashes, indptr=np.searchsorted(owner, np.arange(users + 1)).astype(np.int64), item=item,
        value=value, lists=tuple(lists), propensity=rng.choice([0.1, 0.25, 0.5, 0.8, 1.0], rows),
        relevant=rng.integers(8, 20, users).astype(np.float64), candidates=np.full(users, 10.0), relative=relative,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Brute:
    """One cell of a small log, by plain loops.

    Args:
        d: of each row, how much more model a makes of it than b.
        inverse, fixed: weights lie in ``fixed + (inverse − fixed)·[1/Γ, Γ]``.
        difference: estimate of a minus estimate of b for given weights.
    """

    held: EvaluationData
    cell: tuple[str, str]
    d: Floats
    inverse: Floats
    fixed: float
    strata: Ints64

    @classmethod
    def of(cls, held: EvaluationData, cell: tuple[str, str]) -> Brute:
        assert held.propensity is not None
        estimator = cell[0]
        worth = [worths(found, held) for found in held.lists]
        inverse = 1.0 / held.propensity
        if estimator.startswith("clipped"):
            floor = plan_of(held, (cell,)).runs[0].estimator.floor  # type: ignore[attr-defined]
            inverse = np.array([1.0 / max(p, floor) for p in held.propensity])
        if estimator == "naive":
            inverse = np.ones(len(held.value))
        strata = np.zeros(len(held.value), dtype=np.int64)
        if estimator == GS:
            (edge,) = plan_of(held, (cell,)).runs[0].estimator.strata.edges  # type: ignore[attr-defined]
            strata = (held.propensity >= edge).astype(np.int64)
        fixed = 0.0 if held.relative or estimator == "naive" else 1.0
        return cls(held, cell, worth[0] - worth[1], inverse, fixed, strata)

    def rows(self, user: int) -> range:
        return range(self.held.indptr[user], self.held.indptr[user + 1])

    def bounds(self, gamma: float) -> tuple[Floats, Floats]:
        return self.fixed + (self.inverse - self.fixed) / gamma, self.fixed + (self.inverse - self.fixed) * gamma

    def used(self, weight: Floats) -> Floats:
        """The weights that multiply y·d: those of gs are means over the user's stratum, weighted by y."""
        if self.cell[0] != GS:
            return weight
        out = np.zeros_like(weight)
        for user in range(self.held.users):
            for stratum in (0, 1):
                group = [row for row in self.rows(user) if self.strata[row] == stratum]
                mass = sum(self.held.value[row] for row in group)
                if mass > 0.0:
                    mean = sum(weight[..., row] * self.held.value[row] for row in group) / mass
                    for row in group:
                        out[..., row] = mean
        return out

    def difference(self, weight: Floats) -> Floats:
        """(…, rows) weights → the difference of the two estimates."""
        y = self.held.value
        estimator, target = self.cell
        gains = self.used(weight) * y * self.d
        if target == "per_user_sum":
            total = gains.sum(axis=-1) / self.held.users
            if estimator != "snips":
                return np.asarray(total)
            assert self.held.candidates is not None
            return np.asarray(total * self.held.candidates.sum() / weight.sum(axis=-1))
        if estimator == "ips":
            assert self.held.relevant is not None
            if target == "pooled":
                return np.asarray(gains.sum(axis=-1) / self.held.relevant.sum())
            parts = [
                gains[..., list(self.rows(u))].sum(axis=-1) / self.held.relevant[u] for u in range(self.held.users)
            ]
            return np.asarray(np.mean(parts, axis=0))
        if target == "pooled":
            return np.asarray(gains.sum(axis=-1) / (weight * y).sum(axis=-1))
        parts = []
        for user in range(self.held.users):
            rows = list(self.rows(user))
            if y[rows].sum() > 0.0:
                parts.append(gains[..., rows].sum(axis=-1) / (weight * y)[..., rows].sum(axis=-1))
        return np.asarray(np.mean(parts, axis=0))

    @property
    def lead(self) -> float:
        return float(self.difference(self.inverse))

    def worst(self, gamma: float) -> float:
        """The least lead of the model that is ahead, over all corners (2ⁿ weights at once)."""
        low, high = self.bounds(gamma)
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=len(low))))
        sign = math.copysign(1.0, self.lead)
        return float((sign * self.difference(low + corners * (high - low))).min())


def worths(lists: Recommendations, held: EvaluationData) -> Floats:
    """dcg worth of every row's rank in these lists."""
    out = np.zeros(len(held.value))
    for user in range(held.users):
        entries = range(lists.indptr[user], lists.indptr[user + 1])
        ranks = {int(lists.item[e]): int(lists.rank[e]) for e in entries}
        for row in range(held.indptr[user], held.indptr[user + 1]):
            if int(held.item[row]) in ranks:
                out[row] = 1.0 / math.log2(ranks[int(held.item[row])] + 1.0)
    return out


def verdict(held: EvaluationData, cell: tuple[str | Estimator, str], metric: str = "dcg@5") -> Verdict:
    """The pair's row, with its tipping point also where so few users decide nothing."""
    plan = plan_of(held, (cell,), metric)
    (row,) = answer(held, plan, setting(2)).verdicts
    found = tipping_points(measure(MemoryEngine(held), plan, setting(2)), {(0, 0, 1)}).get((0, 0, 1))
    if found is None:
        return row
    kind = "ratio" if held.relative or cell[0] == "naive" else "odds"
    return replace(row, tipping=found.value, tipping_low=found.low, tipping_kind=kind)
