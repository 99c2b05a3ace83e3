"""All that may happen to a handful of pairs: seen or not, and with which outcome; each with its probability.

Every possibility becomes a user of one log, so that a single evaluation gives the estimate in each of them: sums per
user are then the estimates of worlds with one user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us
from unskew.outcome import Given

Floats = npt.NDArray[np.float64]
K = 3


@dataclass(frozen=True)
class Pair:
    """A pair: how likely it is to be seen, and which outcomes it has, with their probabilities."""

    propensity: float
    outcomes: tuple[tuple[float, float], ...]

    @property
    def mean(self) -> float:
        return sum(y * chance for y, chance in self.outcomes)

    @property
    def square(self) -> float:
        return sum(y * y * chance for y, chance in self.outcomes)


def binary(propensity: float, mean: float) -> Pair:
    """A pair that converts or not."""
    return Pair(propensity, ((0.0, 1.0 - mean), (1.0, mean)))


@dataclass(frozen=True, eq=False)
class Space:
    """Every possibility with its probability, and what was seen in it (``None`` where a pair was not)."""

    pairs: tuple[Pair, ...]
    seen: list[tuple[float | None, ...]]
    chance: Floats

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Space:
        states = [[(None, 1.0 - p.propensity), *((y, p.propensity * c) for y, c in p.outcomes)] for p in pairs]
        every = list(product(*states))
        return cls(tuple(pairs), [tuple(y for y, _ in one) for one in every], np.array([_chance(one) for one in every]))

    def estimates(self, estimator: str, q: Sequence[float], propensity: Sequence[float] | None = None) -> Floats:
        """The library's estimate of dcg@3 in every possibility, for a list of the first three items."""
        given = propensity or [p.propensity for p in self.pairs]
        rows = [
            (state, item, y, given[item])
            for state, outcomes in enumerate(self.seen)
            for item, y in enumerate(outcomes)
            if y is not None
        ]
        states = range(len(self.seen))
        lists = pl.DataFrame({"user": [s for s in states for _ in range(K)], "item": [*range(K)] * len(self.seen)})
        lists = lists.with_columns(rank=pl.col("item") + 1)
        guesses = pl.DataFrame(
            {
                "user": [s for s in states for _ in q],
                "item": [*range(len(q))] * len(self.seen),
                "prediction": [*q] * len(self.seen),
            }
        )
        result = us.evaluate(
            pl.DataFrame(rows, schema=["user", "item", "value", "propensity"], orient="row"), {"m": lists},
            metrics=["dcg@3"], estimators=[estimator], propensity="known",
            outcome=Given(guesses.cast({"prediction": pl.Float64})), feedback="conversions",
            users=pl.DataFrame({"user": list(states)}), per_user=True, threads=1,
        )  # fmt: skip
        rows_of_users: Any = result.per_user()
        found = rows_of_users.sort("user")
        assert found["divisor"].to_list() == [1.0] * len(self.seen)
        return np.asarray(found["numerator"].to_numpy())

    def mean(self, values: Floats) -> float:
        return float(self.chance @ values)

    def variance(self, values: Floats) -> float:
        return float(self.chance @ (values - self.mean(values)) ** 2)


def _chance(one: Sequence[tuple[float | None, float]]) -> float:
    return float(np.prod([chance for _, chance in one]))


WORTH = [1.0, 1.0 / np.log2(3.0), 0.5]


def worth(pairs: Sequence[Pair]) -> list[float]:
    """λ of every pair of a list that holds the first three items in their order."""
    return [WORTH[i] if i < K else 0.0 for i in range(len(pairs))]


def truth(pairs: Sequence[Pair]) -> float:
    """Σ m λ."""
    return float(sum(p.mean * c for p, c in zip(pairs, worth(pairs), strict=True)))
