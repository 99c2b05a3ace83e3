"""How many answers decide between two models? The planning formula of MATHS §16.

    SE² = Σ v d² / π − V + B,  power = Φ(T / SE − c)        n = N V / (T² / (c + z)² − B + V)  if π = n/N

T is the difference to detect, v = q (1 − q), N the pairs that are drawn from (all candidates, or those with d ≠ 0), c
the critical value of the verdict, z that of the power (.84 for 80 %). −V is the finite-population factor: for users
who are a sample it is left out, and B is the variance between them; for fixed users B = 0. If T² ≤ (c + z)² B no number
of rows is enough: more users are needed.

A verdict also rests on at least 20 answers, 10 of them positive, where the lists differ: with few expected positives
the power is less, by the chance that they come (Poisson).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from unskew.kernels.arrays import Floats

ANSWERS, POSITIVES = 20, 10
NORMAL = NormalDist()


@dataclass(frozen=True)
class Question:
    """One pair of models: what is to be told apart, and by what.

    Args:
        detect: T.
        variance: V.
        between: B; 0 for fixed users.
        hits: Σ q over the pairs with d ≠ 0.
        differing: how many pairs these are.
        critical: c.
        fixed: users are all there are.
    """

    detect: float
    variance: float
    between: float
    hits: float
    differing: float
    critical: float
    fixed: bool

    def power(self, spread: float, positives: float) -> float:
        """The chance of the right verdict, from Σ v d² / π and the expected positive answers."""
        if not self.detect > 0.0:
            return 0.0
        noise = spread - self.variance if self.fixed else spread + self.between
        sure = 1.0 if noise <= 0.0 else NORMAL.cdf(self.detect / math.sqrt(noise) - self.critical)
        return sure * at_least(POSITIVES, positives)

    def even(self, pairs: float) -> Callable[[float], float]:
        """Power by rows, if all of ``pairs`` have the same chance."""
        return lambda rows: self.power(self.variance * pairs / rows, self.hits * rows / pairs)

    def needs_users(self, power: float) -> bool:
        """Whether no number of rows is enough, since users differ too much."""
        return self.detect**2 <= (self.critical + NORMAL.inv_cdf(power)) ** 2 * self.between

    def times_users(self, power: float) -> float:
        """How many times as many users are needed, if all their differing pairs were asked about."""
        noise = self.between + (0.0 if self.fixed else self.variance)
        return (self.critical + NORMAL.inv_cdf(power)) ** 2 * noise / self.detect**2 if self.detect else math.inf


def rows_by_formula(question: Question, pairs: float, power: float) -> float | None:
    """n of the formula alone; ``None`` where more users are needed."""
    room = question.detect**2 / (question.critical + NORMAL.inv_cdf(power)) ** 2 - question.between
    room += question.variance if question.fixed else 0.0
    return pairs * question.variance / room if room > 0.0 else None


def least_rows(power_at: Callable[[float], float], most: float, power: float) -> int | None:
    """The least number of rows with this power; ``None`` where even ``most`` of them are too few."""
    if most < ANSWERS or power_at(most) < power:
        return None
    low, high = float(ANSWERS), float(most)
    if power_at(low) >= power:
        return ANSWERS
    while high - low > 0.5:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if power_at(middle) < power else (low, middle)
        if high / low < 1.0 + 1e-12:
            break
    return min(math.ceil(high), math.floor(most))


def at_least(count: int, mean: float) -> float:
    """P(X ≥ count) for a Poisson variable."""
    if mean > 50.0 * count:
        return 1.0
    term, below = math.exp(-mean), 0.0
    for k in range(count):
        below += term
        term *= mean / (k + 1)
    return max(0.0, 1.0 - below)


@dataclass(frozen=True, eq=False)
class Curve:
    """How Σ v d² / π falls and expected positives grow with the rows that are asked for.

    Between the points both are taken for powers of n, which they are as long as no limit is met.

    Args:
        rows: ascending.
        spread, positives: by [point, model, model].
    """

    rows: Floats
    spread: Floats
    positives: Floats

    def at(self, rows: float, a: int, b: int) -> tuple[float, float]:
        """Both for a pair of models; below the first point by proportion."""
        n = max(rows, float(self.rows[0]))
        found = [
            math.exp(float(np.interp(math.log(n), np.log(self.rows), np.log(np.maximum(each[:, a, b], 1e-300)))))
            for each in (self.spread, self.positives)
        ]
        return found[0] * n / rows, found[1] * rows / n
