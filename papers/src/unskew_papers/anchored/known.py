"""Candidate pairs whose relevance is completely known, and the closed formulas of MATHS §16 on them.

    N_u = Σ_L yλ + Σ_{C∖L} qλ + Σ_S (y − q)λ/π        D_u the same with λ = 1        R = ΣN / ΣD

Everything is an array over the pairs, so that thousands of draws cost little. ``papers/tests/test_anchored.py`` holds
these sums, their tests and their intervals against ``unskew.evaluate(answers=…)``, to 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from unskew.outcome import FEWEST, level_and_slope
from unskew_papers.arrays import Bools, Floats, Ints64

FOLDS = 5


class Sums(NamedTuple):
    """N_u by user and model, and D_u by user."""

    own: Floats
    total: Floats

    @property
    def values(self) -> Floats:
        """R of every model."""
        return np.asarray(self.own.sum(axis=0) / self.total.sum())


@dataclass(frozen=True, eq=False)
class LogRows:
    """All held-out rows of the skewed log, also those that are no candidates here.

    Args:
        kind: what a row was rated, as a code; ``liked`` whether that counts as relevant.
    """

    user: Ints64
    kind: Ints64
    liked: Bools
    worth: Floats


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """The candidates, ascending by user.

    Args:
        user, item: codes; users are 0 … ``users`` − 1.
        kind: what a pair is rated, as a code of ``LogRows.kind``.
        y: whether it is relevant.
        worth: λ by pair and model.
        logged: which pairs the held-out log holds.
        score: the logit of what a model of the log says of each.
        fold: for cross-fitting.
    """

    users: int
    user: Ints64
    item: Ints64
    kind: Ints64
    y: Floats
    worth: Floats
    logged: Bools
    score: Floats
    fold: Ints64
    log: LogRows

    @property
    def models(self) -> int:
        """How many there are."""
        return int(self.worth.shape[1])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of models."""
        return list(combinations(range(self.models), 2))

    @cached_property
    def sides(self) -> tuple[Ints64, Ints64]:
        """Both models of all pairs."""
        first, second = zip(*self.pairs, strict=True)
        return np.array(first), np.array(second)

    @cached_property
    def unseen(self) -> Ints64:
        """Candidates that the log does not hold."""
        return np.flatnonzero(~self.logged)

    @cached_property
    def by_user(self) -> Any:
        """Adds up over the pairs of every user."""
        return sparse.csr_matrix(
            (np.ones(len(self.user)), (self.user, np.arange(len(self.user)))), shape=(self.users, len(self.user))
        )

    @cached_property
    def truth(self) -> Sums:
        """If all were known."""
        return self.summed(self.y)

    @cached_property
    def lead(self) -> Floats:
        """T of every pair of models, on the scale of sums."""
        total = self.truth.own.sum(axis=0)
        return np.asarray(total[self.sides[0]] - total[self.sides[1]])

    def summed(self, mass: Floats) -> Sums:
        """Σ mass·λ and Σ mass by user."""
        return Sums(self.by_user @ (mass[:, None] * self.worth), self.by_user @ mass)

    def anchored(self, rows: Ints64, p: Floats, q: Floats) -> Sums:
        """Of answers about some pairs, drawn with probability p, and a guess q of every pair."""
        mass = np.where(self.logged, self.y, q)
        mass[rows] += (self.y[rows] - q[rows]) / p
        return self.summed(mass)

    def rows_alone(self, rows: Ints64, p: Floats) -> Sums:
        """Of the answers and nothing else."""
        mass = np.zeros(len(self.y))
        mass[rows] = self.y[rows] / p
        return self.summed(mass)

    def guesses(self, rows: Ints64, p: Floats) -> Floats:
        """q of every pair: the score in the level of the answers, cross-fitted (``outcome/recalibrated.py``)."""
        out, fold, weight = np.empty(len(self.y)), self.fold[rows], 1.0 / p
        for k in range(FOLDS):
            rest, mine = fold != k, self.fold == k
            y, w, score = self.y[rows][rest], weight[rest], self.score[rows][rest]
            if min(y.sum(), len(y) - y.sum()) < FEWEST:
                out[mine] = w @ y / w.sum()
            else:
                a, b = level_and_slope(score, y, w)
                out[mine] = 1.0 / (1.0 + np.exp(-(a + b * self.score[mine])))
        return out

    def weighted_log(self, rows: Ints64) -> Sums:
        """Of the log's likes, weighted by propensities that random rows give: P(seen | rating) by Bayes' rule.

            weight of a like with rating s = (share of s among the random rows) / (rows with s in the log)

        ips and snips are the same here: the weights of all likes add up to their share among the random rows.
        """
        log = self.log
        kinds = int(max(log.kind.max(), self.kind.max())) + 1
        share = np.bincount(self.kind[rows], minlength=kinds) / len(rows)
        weight = np.where(log.liked, (share / np.maximum(np.bincount(log.kind, minlength=kinds), 1))[log.kind], 0.0)
        own = [np.bincount(log.user, weight * log.worth[:, m], self.users) for m in range(self.models)]
        return Sums(
            np.stack(own, axis=1).astype(np.float64), np.bincount(log.user, weight, self.users).astype(np.float64)
        )
