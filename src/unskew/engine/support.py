"""Could a list have shown its worth? Places that the log could never show, and hits too rare to come (MATHS §13).

    u_m = Σ_u Σ_listed λ(rank)·1{never shown} / Σ_u Σ_listed λ(rank)

the worth of a model's places on items outside both logs, without a propensity, or no candidates. And for two lists,
over the places in which they differ (d the difference of worth, κ the common rate of relevance),

    expected ess = κ (Σ d)² / Σ (d²/P)

so many equally heavy hits a list could be expected to have: below ten, that it has none says nothing. κ/P has no unit,
so relative propensities will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.walk import walk
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.ranks import count_ranks, differing


@dataclass(frozen=True, eq=False)
class ListedWorth(Mergeable):
    """Σ worth of listed places that could never be shown, and of all, by [metric, model]; they merge."""

    never: Floats
    every: Floats

    @property
    def unsupported(self) -> Floats:
        """u_m by [metric, model]."""
        shares = np.divide(self.never, self.every, out=np.zeros_like(self.never), where=self.every > 0.0)
        return np.asarray(shares, dtype=np.float64)


def listed_worth(held: EvaluationData, table: Floats, threads: int | None = None) -> ListedWorth | None:
    """The worth of all lists; ``table`` is worth by [rank, metric]. ``None`` where the log could show all of it."""
    shown = held.shown
    if shown is None or not held.lists:
        return None
    nothing = np.zeros((2, len(held.lists), len(table)), dtype=np.int64)

    def one(low: int, high: int) -> Ints64:
        """How often every rank occurs, of pairs that could never be shown and of all, by model."""
        counts = np.zeros_like(nothing)
        for j, lists in enumerate(held.lists):
            first, last = lists.indptr[low], lists.indptr[high]
            count_ranks(lists.rank[first:last], shown.candidates(lists, low, high), *counts[:, j])
        return counts

    never, every = sum(walk(held.users, one, threads), nothing) @ table
    return ListedWorth(never.T, every.T)


@dataclass(frozen=True, eq=False)
class DifferingWorth(Mergeable):
    """Over the places to which one of two lists gives more worth, by d: Σ d, Σ d²/P, and Σ worth of the whole list.

    Args:
        sums: by [list, kind].
        users: how many users were looked at; of many a sample will do.
    """

    sums: Floats
    users: int

    def expected_ess(self, users: int, weighed: float) -> tuple[float, float]:
        """The expected effective number of hits of each list.

        Args:
            users: how many there are.
            weighed: weighted hits of both lists; per unit of listed worth that is κ.
        """
        times = users / max(self.users, 1)
        listed = times * float(self.sums[:, 2].sum())
        rate = weighed / listed if listed > 0.0 else 0.0
        first, second = (times * rate * s * s / q if q > 0.0 else 0.0 for s, q, _ in self.sums)
        return first, second


def differing_worth(
    held: EvaluationData, a: int, b: int, propensity: Floats, worth: Floats, limit: np.uint64 | None
) -> DifferingWorth:
    """Where the lists of two models differ.

    Args:
        a, b: the models.
        propensity: P of each item; NaN where there is none (such places say nothing either way).
        worth: by rank.
        limit: of the users' hashes (``sample_limit``).
    """
    users = np.arange(held.users, dtype=np.int64)
    if limit is not None:
        users = users[held.hashes < limit]
    return differing_lists(held.lists[a], held.lists[b], users, propensity, worth)


class Lists(Protocol):
    """The lists of one model: those of user u stand at ``indptr[u] ≤ e < indptr[u + 1]``."""

    @property
    def indptr(self) -> Ints64:
        """Where lists begin."""

    @property
    def item(self) -> Ints32:
        """Item codes of the entries."""

    @property
    def rank(self) -> Ints32:
        """Their ranks."""


def differing_lists(a: Lists, b: Lists, users: Ints64, propensity: Floats, worth: Floats) -> DifferingWorth:
    """Where the lists of some users differ."""
    out, sides = np.zeros((2, 3)), [(lists.indptr, lists.item, lists.rank) for lists in (a, b)]
    worth = worth[: int(np.flatnonzero(worth).max(initial=0)) + 1]  # nothing below is looked at
    for own, other, sums_of_own in zip(sides, reversed(sides), out, strict=True):
        differing(*own, *other, propensity, worth, users, sums_of_own)
    return DifferingWorth(out, len(users))
