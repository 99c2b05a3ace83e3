"""Could a list have shown its worth? Places that the log could never show, and hits too rare to come (MATHS §13).

    u_m = Σ_u Σ_listed λ(rank)·1{never shown} / Σ_u Σ_listed λ(rank)

the worth of a model's places on items outside both logs, without a propensity, or no candidates. And for two lists,
over the places in which they differ (d the difference of worth, κ the common rate of relevance),

    expected ess = κ (Σ d)² / Σ (d²/P)

so many equally heavy hits a list could be expected to have: below ten, that it has none says nothing. κ/P has no unit,
so relative propensities will do.

A list with many light places and a few heavy ones passes that, and its heavy hits mostly do not come. What its hits
bring is then skewed: with a the one of the two lists whose hits are the more skewed, and b the other,

    skewness = κ (Σ_a d³/P² − Σ_b d³/P²) / (κ Σ_a d²/P + κ Σ_b d²/P)^1.5

Alike lists are skewed alike, and their difference is not (unless heavy hits are so rare that each list alone is skewed
beyond measure: whose they would have been is then chance). Where P is known for seen pairs only, an item's seen rows
tell what weights of its pairs to expect: with w = y/P, Σ w²/Σ w in the place of 1/P and Σ w³/Σ w in that of 1/P².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.walk import walk
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Floats, Ints32, Ints64, present
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


class ItemWeights(NamedTuple):
    """What is expected of 1/P and 1/P² of the pairs of every item; NaN where nothing is known."""

    weight: Floats
    square: Floats

    @classmethod
    def of_propensity(cls, propensity: Floats) -> ItemWeights:
        """Of a propensity per item."""
        weight = np.divide(1.0, propensity, out=np.full(len(propensity), np.nan), where=propensity > 0.0)
        return cls(weight, weight * weight)

    def of_codes(self, items: int) -> ItemWeights:
        """For so many items at least."""
        more = (0, max(items - len(self.weight), 0))
        return ItemWeights(*(np.pad(numbers, more, constant_values=np.nan) for numbers in self))


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Σ w, Σ w² and Σ w³ over the seen relevant pairs of every item, w = y/P, by [power, item]; they merge."""

    sums: Floats

    def merge(self, other: WeightSums) -> WeightSums:
        """The sums of both sets of users."""
        out = np.zeros((3, max(self.sums.shape[1], other.sums.shape[1])))
        for one in (self.sums, other.sums):
            out[:, : one.shape[1]] += one
        return WeightSums(out)

    @property
    def expected(self) -> ItemWeights:
        """What to expect of pairs, seen or not: a seen pair stands for 1/P of them."""
        first = self.sums[0]
        seen = first > 0.0
        weight, square = (np.divide(s, first, out=np.full(len(s), np.nan), where=seen) for s in self.sums[1:])
        return ItemWeights(weight, square)


def weight_sums(held: EvaluationData) -> WeightSums:
    """The sums of every item."""
    relevant = held.value > 0.0
    item, w = held.item[relevant], held.value[relevant] / present(held.propensity)[relevant]
    return WeightSums(np.stack([np.bincount(item, w**power) for power in (1, 2, 3)]).astype(np.float64))


@dataclass(frozen=True, eq=False)
class DifferingWorth(Mergeable):
    """Over the places to which one of two lists gives more worth: Σ d, Σ d²/P, Σ worth of the whole list, Σ d³/P².

    Args:
        sums: by [list, kind].
        users: how many users were looked at; of many a sample will do.
    """

    sums: Floats
    users: int

    def expected_ess(self, weighed: float) -> tuple[float, float]:
        """The expected effective number of hits of each list.

        Args:
            weighed: weighted hits of both lists, of all users; per unit of listed worth that is κ.
        """
        times = self._hits(weighed)
        first, second = (times * s * s / q if q > 0.0 else 0.0 for s, q in self.sums[:, :2])
        return first, second

    def skewness(self, weighed: float) -> tuple[float, float]:
        """Of the sum of what hits bring: what the hits of each list contribute, those of the second one as losses."""
        times, spread = self._hits(weighed), float(self.sums[:, 1].sum())
        scale = math.sqrt(times * spread**3) if times > 0.0 and spread > 0.0 else math.inf
        return float(self.sums[0, 3]) / scale, float(self.sums[1, 3]) / scale

    def heavy(self, own: int) -> float:
        """The weight of the hits of one list that make it skewed."""
        _, squares, _, cubes = self.sums[own]
        return float(cubes / squares) if squares > 0.0 else 0.0

    def _hits(self, weighed: float) -> float:
        """κ, times as many users as one who was looked at stands for."""
        listed = float(self.sums[:, 2].sum())
        return weighed / listed if listed > 0.0 else 0.0


def differing_worth(
    held: EvaluationData, a: int, b: int, weights: ItemWeights, worth: Floats, limit: np.uint64 | None
) -> DifferingWorth:
    """Where the lists of two models differ.

    Args:
        a, b: the models.
        weights: of each item; NaN where there are none (such places say nothing either way).
        worth: by rank.
        limit: of the users' hashes (``sample_limit``).
    """
    users = np.arange(held.users, dtype=np.int64)
    if limit is not None:
        users = users[held.hashes < limit]
    weights = weights.of_codes(max(len(held.lists[model].items) for model in (a, b)))
    return differing_lists(held.lists[a], held.lists[b], users, weights, worth)


def lists_apart(held: EvaluationData, a: int, b: int, worth: Floats) -> float:
    """Σ |difference of worth| over all places of two models' lists: 0 where nothing that is relevant tells them apart.

    Args:
        worth: by rank.
    """
    even = np.ones(max(len(held.lists[model].items) for model in (a, b)))
    users = np.arange(held.users, dtype=np.int64)
    found = differing_lists(held.lists[a], held.lists[b], users, ItemWeights(even, even), worth)
    return float(found.sums[:, 0].sum())


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


def differing_lists(a: Lists, b: Lists, users: Ints64, weights: ItemWeights, worth: Floats) -> DifferingWorth:
    """Where the lists of some users differ; there is a weight for every item's code."""
    out, sides = np.zeros((2, 4)), [(lists.indptr, lists.item, lists.rank) for lists in (a, b)]
    worth = worth[: int(np.flatnonzero(worth).max(initial=0)) + 1]  # nothing below is looked at
    for own, other, sums_of_own in zip(sides, reversed(sides), out, strict=True):
        differing(*own, *other, *weights, worth, users, sums_of_own)
    return DifferingWorth(out, len(users))
