"""The difference of two models, and one model alone, judged in score form (MATHS §13, "Few hits").

    d_u = what user u says for model a against model b              Δ̂ = Σ d_u / Σ D_u
    test    T = Σ d_u / √( m/(m−1) Σ d_u² )    m users with d_u ≠ 0, Student's t with
            df = min(m, (Σd²)² / Σd⁴) − 1      so many equally heavy users would be as uncertain
    interval: all Δ with |Σ d_u − Δ D_u| ≤ c √( m/(m−1) Σ (d_u − Δ D_u)² )          (Fieller: it agrees with the test)

The usual t with an error around Δ̂ is sure of itself where a few heavy wins stand against many light ones, and
subtracting Δ̂ D_u hides heavy users; the score form does neither. For estimates that are not one ratio of sums, d_u is
the linearised contribution around no difference: the mean of a user's share of Δ̂ is Δ̂, and everybody's D_u is 1.

The sums needed are quadratic in the columns of a cell, so they come from its moments; nothing is walked twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unskew.inference import student
from unskew.inference.moments import Moments
from unskew.kernels.arrays import Floats

FEWEST = 10  # users with d ≠ 0: fewer decide nothing


@dataclass(frozen=True)
class Contrast:
    """A difference and the sums that its test and its intervals are made of.

    Args:
        value: Δ̂.
        users: m, the users with d ≠ 0.
        df: degrees of freedom of the t distribution.
        s00, s01, s11: m/(m−1) times Σ d², Σ d D and Σ D², with d and D scaled so that the sums over users are Δ̂ and 1.
        error: the standard error around Δ̂ (delta method), for show.
    """

    value: float
    users: int
    df: float
    s00: float
    s01: float
    s11: float
    error: float

    @property
    def exists(self) -> bool:
        """Whether there is anything to judge."""
        return self.users > 0 and math.isfinite(self.value) and self.s00 > 0.0

    @property
    def p(self) -> float:
        """P(a difference at least this large) if there were none; 1 where users show nothing to judge it by."""
        if not self.exists or self.df <= 0.0:
            return 1.0
        return student.two_sided(self.value / math.sqrt(self.s00), self.df)

    def interval(self, tail: float) -> tuple[float, float]:
        """The differences that a test with this error probability (two-sided) would not reject."""
        if not self.exists:
            return math.nan, math.nan
        c2 = student.critical(tail, self.df) ** 2
        a = 1.0 - c2 * self.s11
        half = self.value - c2 * self.s01
        c = self.value**2 - c2 * self.s00
        if not a > 0.0:
            return -math.inf, math.inf
        reach = math.sqrt(max(half * half - a * c, 0.0))
        return (half - reach) / a, (half + reach) / a

    def with_hits(self, hits: int, size: float) -> Contrast:
        """The same with so many more users, each of whom moves the difference by ``size`` (signed)."""
        return replace(self, value=self.value + hits * size, s00=self.s00 + hits * size * size)


@dataclass(frozen=True)
class Widest(Contrast):
    """A difference that is judged in two ways: what is said of it holds by both.

    Args:
        other: the same difference with other sums.
    """

    other: Contrast

    @property
    def p(self) -> float:
        """The larger one."""
        return max(super().p, self.other.p)

    def interval(self, tail: float) -> tuple[float, float]:
        """All that either test would not reject."""
        (low, high), (lower, higher) = super().interval(tail), self.other.interval(tail)
        return min(low, lower), max(high, higher)

    def with_hits(self, hits: int, size: float) -> Contrast:
        """The same with so many more users, by both."""
        value, s00 = self.value + hits * size, self.s00 + hits * size * size
        return replace(self, value=value, s00=s00, other=self.other.with_hits(hits, size))


def contrast(moments: Moments, a: int, b: int, lift_a: float = 1.0, lift_b: float = 1.0) -> Contrast:
    """Model a against model b, each times a factor (``lift``) where their lists could not all have been seen."""
    gradient = moments.gradients
    direction = lift_a * gradient[a] - lift_b * gradient[b]
    score = None
    if moments.form.linear:
        score = lift_a * _score(moments, gradient, a, b) - lift_b * _score(moments, gradient, b, a)
    value = float(lift_a * moments.values[a] - lift_b * moments.values[b])
    sums = moments.wins[1, a, b] + moments.wins[1, b, a], moments.wins[2, a, b]
    found = _judged(moments, value, direction, score, int(moments.differ[a, b]), *sums)
    lifts = np.zeros(moments.models)
    lifts[a], lifts[b] = lift_a, -lift_b
    return _with_around(moments, found, lifts)


def alone(moments: Moments, model: int) -> Contrast:
    """One model against nothing: its value, with the users whose pairs carry it."""
    gradient = moments.gradients
    score = _score(moments, gradient, model, model) if moments.form.linear else None
    sums = moments.wins[1, model, model], moments.wins[2, model, model]
    users = int(moments.differ[model, model])
    found = _judged(moments, float(moments.values[model]), gradient[model], score, users, *sums)
    return _with_around(moments, found, np.eye(moments.models)[model])


def _with_around(moments: Moments, found: Contrast, lifts: Floats) -> Contrast:
    """A difference with the errors that its users are known to bring, where the columns do not tell them.

    Everybody's D_u is then 1/n, and d_u = Δ̂/n + e_u.
    """
    if moments.around is None or not found.exists:
        return found
    n, users, active = moments.users, found.users, moments.active
    error = math.sqrt(max(float(lifts @ moments.around @ lifts), 0.0))
    small = users / (users - 1.0) if users > 1 else 2.0
    sums = (error**2 + found.value**2 / n) * small, found.value / n * small, small / n
    shown = error * math.sqrt(active / (active - 1.0)) if active > 1 else math.nan
    other = Contrast(found.value, users, found.df, *sums, shown)
    return Widest(found.value, users, found.df, found.s00, found.s01, found.s11, shown, other)


def _score(moments: Moments, gradient: Floats, model: int, other: int) -> Floats:
    """The weights of columns that make a model's d_u, scaled so that their sum over users is its value.

    A root (rmse) is judged as the square below it: v_a − v_b = (v_a² − v_b²) / (v_a + v_b).
    """
    out = np.zeros(len(moments.mean))
    place = moments.form.places[0][0][0][model]
    if not moments.form.root:
        out[place] = gradient[model, place]
        return out
    values = moments.values
    both = values[model] + values[other] if other != model else values[model]
    out[place] = gradient[model, place] * 2.0 * values[model] / both if both > 0.0 else 0.0
    return out


def _judged(
    moments: Moments, value: float, direction: Floats, score: Floats | None, users: int, squares: float, fourth: float
) -> Contrast:
    n, mean = moments.users, moments.mean
    if users == 0 or n == 0 or not np.isfinite(direction).all() or not math.isfinite(value):
        return Contrast(value, users, 0.0, 0.0, 0.0, 0.0, math.nan)  # nobody tells them apart: there is no error
    more = np.zeros_like(moments.cross) if moments.more is None else moments.more
    second = moments.cross + more + n * np.outer(mean, mean)  # Σ x xᵀ
    around = float(direction @ moments.spread @ direction)  # Σ e², Σ e = 0
    if score is None:  # every user counts once: d = Δ̂ + e
        s00, s01, s11 = around + n * value**2, n * value, float(n)
    else:
        scales = np.abs(score[score != 0.0])
        even = len(scales) > 0 and scales.max() == scales.min()  # no lift: Σ d² was summed as it stands
        s00 = float(scales[0] ** 2 * squares + score @ more @ score) if even else float(score @ second @ score)
        base = _divisor(moments, value, direction, score)
        s01, s11 = float(score @ second @ base), float(base @ second @ base)
    small = users / (users - 1.0) / n**2 if users > 1 else 2.0 / n**2
    df = min(float(users), squares**2 / fourth if fourth > 0.0 else 0.0) - 1.0
    active = moments.active
    error = math.sqrt(max(around, 0.0) * active / (active - 1.0)) / n if active > 1 else math.nan
    return Contrast(value, users, df, s00 * small, s01 * small, s11 * small, error)


def _divisor(moments: Moments, value: float, direction: Floats, score: Floats) -> Floats:
    """The weights of columns that make D_u, so that d − Δ̂ D is the linearised contribution around Δ̂."""
    below = moments.form.places[0][0][1][0]
    plain = np.zeros(len(moments.mean))
    plain[below] = 1.0 / moments.mean[below]
    if len(moments.form.terms[0]) == 1 and not moments.form.root:
        return plain
    return np.asarray((score - direction) / value) if abs(value) > 1e-12 else plain
