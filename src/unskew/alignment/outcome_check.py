"""Could these guesses be means of these outcomes? Units, a wrong column or another log are seen here, fine errors not.

A mean of outcomes lies in their range (0 … 1 for 0/1), and over the seen pairs the guesses should average to what those
pairs brought. A model that was fitted with weights 1/P owes that to the weighted mean, one without to the plain mean,
so that only both together speak against it. *Grossly* off is a factor of 2: above 2·E[y] a guess makes dr vary more
than ips (saito20 Eq. 5). Sampling error is allowed for, clustered by user, and at least that of independent outcomes
with the guessed mean: q̄(top − q̄)/n bounds their variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.core.bounds import LARGEST
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.engine.data import EvaluationData
from unskew.inference.merging import Mergeable, merged_by
from unskew.inference.prediction_range import PredictionRange
from unskew.kernels.arrays import Floats, Ints64
from unskew.log.ids import Codes
from unskew.outcome.base import Outcome, PairPredictor

GROSS = 2.0
ERRORS = 4.0  # standard errors beyond which a factor of 2 is no chance
BLOCK = 1 << 16  # users whose rows are looked at together


def range_of(outcomes: Floats) -> tuple[float, float]:
    """Between which numbers the outcomes lie; 0 is one of them."""
    return min(0.0, float(outcomes.min(initial=0.0))), float(outcomes.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class CheckedPredictions:
    """Asks an outcome model, and refuses what are no predictions: one finite number for each pair is wanted."""

    model: Outcome
    ask: PairPredictor

    def __call__(self, user: Codes, item: Codes) -> Floats:
        """The predictions for some pairs."""
        return check_predictions(self.model, self.ask(user, item), len(user))


def check_predictions(model: Outcome, q: Floats, asked: int) -> Floats:
    """The same predictions, if there is one for each pair that was asked about."""
    if not isinstance(q, np.ndarray) or q.shape != (asked,) or q.dtype.kind != "f":
        raise InputError(
            f"'{plain(model)}' must give a number for each of {asked:,} pairs, and does not.", code="bad-guesses"
        )
    if len(q) and not np.abs(q).max() <= LARGEST:
        worst = float(q[~(np.abs(q) <= LARGEST)][0])
        raise InputError(
            f"'{plain(model)}' guesses {worst:g} for a pair: guesses must be numbers within ±{LARGEST:g}.",
            code="bad-guesses",
        )
    return q


@dataclass(frozen=True)
class Outside:
    """Guesses beyond all outcomes: how many of how many, the range of the outcomes, and that of the guesses."""

    count: int
    total: int
    outcomes: tuple[float, float]
    guesses: tuple[float, float]


def outside(found: PredictionRange, outcomes: tuple[float, float]) -> Outside | None:
    """What was predicted beyond all outcomes, if anything."""
    if not found.outside:
        return None
    return Outside(found.outside, found.predictions, outcomes, (found.low, found.high))


class FarOff(NamedTuple):
    """Means of guesses and outcomes over seen pairs, plain and weighted by 1/P, that differ grossly."""

    plain: Means
    weighted: Means | None


def far_off(held: EvaluationData) -> FarOff | None:
    """Guesses whose mean over seen pairs is not that of the outcomes, if so both plainly and weighted."""
    return None if held.q is None else SeenMeans.of(held, held.q).far_off


@dataclass(frozen=True)
class SeenMeans(Mergeable):
    """Guesses and outcomes of the seen pairs of some users, plain and weighted by 1/P; those of others are added."""

    plain: GapSums
    weighted: GapSums | None

    @classmethod
    def of(cls, held: EvaluationData, q: Floats) -> SeenMeans:
        """Of rows with these guesses."""
        p = held.propensity
        weighted = None if p is None else GapSums.of(held.indptr, held.value, q, p)
        return cls(GapSums.of(held.indptr, held.value, q), weighted)

    @property
    def far_off(self) -> FarOff | None:
        """Both means, where guesses are far from outcomes; where nothing was brought they may be."""
        if not self.plain.top > 0.0:
            return None
        plainly, weighted = self.plain.means, None if self.weighted is None else self.weighted.means
        return FarOff(plainly, weighted) if plainly.gross and (weighted is None or weighted.gross) else None


@dataclass(frozen=True)
class GapSums(Mergeable):
    """What the means of guesses and outcomes and their error rest on.

    Args:
        mass, guess, outcome, squares: Σw, Σw·q, Σw·y and Σw² over rows.
        gaps, products, masses: over users Σg², Σg·m and Σm², of their g = Σw(y − q) and m = Σw.
        top: the largest outcome.
    """

    mass: float
    guess: float
    outcome: float
    squares: float
    gaps: float
    products: float
    masses: float
    top: float = merged_by(max)

    @classmethod
    def of(cls, indptr: Ints64, y: Floats, q: Floats, propensity: Floats | None = None) -> GapSums:
        """Of rows by user, weighted by 1/P where P is given; in blocks of users, so that no column is copied whole."""
        users, sums = len(indptr) - 1, np.zeros(7)
        for low in range(0, users, BLOCK):
            high = min(low + BLOCK, users)
            rows = slice(indptr[low], indptr[high])
            user = np.repeat(np.arange(high - low), np.diff(indptr[low : high + 1]))
            weight = np.ones(len(user)) if propensity is None else 1.0 / propensity[rows]
            gap = np.bincount(user, weight * (y[rows] - q[rows]), high - low)
            mass = np.bincount(user, weight, high - low)
            sums += mass.sum(), weight @ q[rows], weight @ y[rows], weight @ weight, gap @ gap, gap @ mass, mass @ mass
        return cls(*np.append(sums, y.max(initial=0.0)).tolist())

    @property
    def means(self) -> Means:
        """The means; the gaps of users around the mean gap tell its error."""
        guess, outcome = self.guess / self.mass, self.outcome / self.mass
        gap = outcome - guess
        own = self.gaps - 2.0 * gap * self.products + gap**2 * self.masses
        least = max(guess * (self.top - guess), 0.0) * self.squares
        return Means(guess, outcome, math.sqrt(max(own, least)) / self.mass)


class Means(NamedTuple):
    """Mean guess and mean outcome of the seen pairs, and the standard error of their difference."""

    guess: float
    outcome: float
    error: float

    @property
    def gross(self) -> bool:
        """Whether the guesses are too high or too low by a factor, beyond sampling error."""
        far = self.guess > GROSS * self.outcome or self.guess < self.outcome / GROSS
        return far and abs(self.guess - self.outcome) > ERRORS * self.error
