"""Ratios of estimates that may share users, all at one simultaneous level.

Several groups (protocols, logging policies) judge the same models, which gives values V_c, c a group and a model, and
of every user e_uc, what he or she brings to V_c around its value. A ratio of values, and a ratio of
ratios, is linear in the logs, with weights w_c:

    θ = Σ_c w_c log V_c        h_u = Σ_c w_c e_uc / V_c        SE² = m/(m−1) Σ_u h_u²,  m users with h_u ≠ 0

A user who is judged by several groups has one h_u: what groups have in common through their users is in it, and groups
without common users are independent. Student's t with df = min(m, (Σh²)²/Σh⁴) − 1, as in ``contrast.py``: so many
equally heavy users would be as uncertain. Values that fewer than ten users carry say nothing, nor do values that are
not positive.

An average over folds of few users may be off by 2B (``cross_validation/averaging.py``): what is said must hold for θ
and for θ − 2 Σ_c w_c B_c / V_c.

Errors that users do not tell, such as those of models that were fitted on other rows, are further covariances of the
logs, independent of the first, each with its own degrees of freedom: SE² grows by wᵀTw, and df is Satterthwaite's,
SE⁴ / Σ (part²/df).

The level holds for all ratios together: the error probability α* of each follows from draws of max |Z| with their
correlations (single-step max-|t|, as in ``simultaneous.py``), never less than α/K.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.inference import student
from unskew.inference.contrast import FEWEST
from unskew.kernels.arrays import Bools, Floats, Ints64

DRAWS = 20_000  # the level is then right to ± 0.15 of a percentage point
BLOCK = 8192  # users whose contributions are looked at together


@dataclass(frozen=True, eq=False)
class UserErrors:
    """Values, and what every user brings to them.

    Args:
        values: (columns,).
        errors: e_uc, (users, columns); not a number where nothing tells them.
        carriers: of every column, how many users have a hit that carries it, or fewer where few count for most of it.
        leans: −2B of every column, how far a value may be off because it averages ratios of few users
            (``cross_validation/averaging.py``); without it values do not lean.
    """

    values: Floats
    errors: Floats
    carriers: Ints64
    leans: Floats | None = None

    @property
    def usable(self) -> Bools:
        """The values that ratios can be made of."""
        known = np.isfinite(self.values) & np.isfinite(self.errors).all(axis=0) & np.isfinite(self.off)
        return np.asarray(known & (self.values > 0.0) & (self.carriers >= FEWEST))

    @property
    def off(self) -> Floats:
        """How far every value may be off."""
        return np.zeros(len(self.values)) if self.leans is None else self.leans


class MoreSpread(NamedTuple):
    """A further covariance of log values, (columns, columns), with its degrees of freedom."""

    covariance: Floats
    df: float


@dataclass(frozen=True)
class LogRatio:
    """A ratio on the log scale; ``low`` and ``high`` hold for all that were asked together.

    Without an interval (NaN) nothing can be said of it. ``sign`` is 1 or −1 where 0 is excluded, else 0.
    """

    value: float
    se: float
    df: float
    low: float
    high: float
    p: float
    p_adjusted: float

    @property
    def sign(self) -> int:
        """Which side of 0 it is on, if that is decided."""
        return int(self.low > 0.0) - int(self.high < 0.0)


NOTHING = LogRatio(math.nan, math.nan, 0.0, math.nan, math.nan, 1.0, 1.0)


def log_ratios(
    found: UserErrors, weights: Sequence[Floats], level: float, more: Sequence[MoreSpread] = ()
) -> list[LogRatio]:
    """θ of every row of weights, all together at one level."""
    if not len(weights):
        return []
    w = np.asarray(weights, dtype=np.float64)
    usable = found.usable
    there = ~(w[:, ~usable] != 0.0).any(axis=1)
    values, errors = np.where(usable, found.values, 1.0), np.where(usable, found.errors, 0.0)
    scaled = np.where(usable, w / values, 0.0)
    squares, fourth, users = _sums(errors, scaled)
    there &= np.asarray((users > 1) & (squares > 0.0))
    w = np.where(usable, w, 0.0)
    total = (errors.T @ errors) / np.outer(values, values)
    for spread in more:
        total = total + spread.covariance
    tail = single_error(total, w[there], level)
    logs, alpha = np.log(values), 1.0 - level
    shifts = scaled @ np.where(usable, found.off, 0.0)
    out = []
    for k in range(len(w)):
        if not there[k]:
            out.append(NOTHING)
            continue
        theta = float(w[k] @ logs)
        variance = float(squares[k] * users[k] / (users[k] - 1.0))
        df = min(float(users[k]), float(squares[k] ** 2 / fourth[k])) - 1.0
        variance, df = _with_more(variance, df, w[k], more)
        if not df > 0.0:
            out.append(NOTHING)
            continue
        se = math.sqrt(variance)
        reach = student.critical(tail, df) * se
        moved = theta + float(shifts[k])
        p = student.two_sided(min(abs(theta), abs(moved)) / se, df) if theta * moved > 0.0 else 1.0
        ends = min(theta, moved) - reach, max(theta, moved) + reach
        out.append(LogRatio(theta, se, df, *ends, p, min(1.0, p * alpha / tail)))
    return out


def _with_more(variance: float, df: float, weights: Floats, more: Sequence[MoreSpread]) -> tuple[float, float]:
    """A variance with further parts, and the degrees of freedom of the sum."""
    parts = [(float(weights @ spread.covariance @ weights), spread.df) for spread in more]
    parts = [(part, own) for part, own in parts if part > 0.0]
    if not parts or not df > 0.0:
        return variance, df
    total = variance + sum(part for part, _ in parts)
    return total, total**2 / (variance**2 / df + sum(part**2 / own for part, own in parts))


def _sums(errors: Floats, scaled: Floats) -> tuple[Floats, Floats, Ints64]:
    """Σ h², Σ h⁴ and the users with h ≠ 0, of every contrast."""
    squares, fourth = np.zeros(len(scaled)), np.zeros(len(scaled))
    users = np.zeros(len(scaled), dtype=np.int64)
    for low in range(0, len(errors), BLOCK):
        h = errors[low : low + BLOCK] @ scaled.T
        users += np.count_nonzero(np.abs(h) > 1e-15, axis=0)
        h *= h
        squares += h.sum(axis=0)
        h *= h
        fourth += h.sum(axis=0)
    return squares, fourth, users


def single_error(covariance: Floats, weights: Floats, level: float) -> float:
    """α*: the error probability of each contrast, so that any false one has probability 1 − level at most."""
    alpha, count = 1.0 - level, len(weights)
    if count <= 1:
        return alpha
    roots, axes = np.linalg.eigh(covariance)
    factor = weights @ (axes * np.sqrt(np.maximum(roots, 0.0)))
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    random = np.random.default_rng(20_231_113)
    largest = np.zeros(DRAWS)
    for low in range(0, DRAWS, BLOCK):
        drawn = random.standard_normal((min(BLOCK, DRAWS - low), factor.shape[1])) @ factor.T
        largest[low : low + len(drawn)] = np.abs(drawn).max(axis=1)
    z = float(np.quantile(largest, level, method="higher"))
    return min(alpha, max(math.erfc(z / math.sqrt(2.0)), alpha / count))
