"""Variances and tail bounds over which pairs are seen, for sums per user with known propensities (saito20 §3–4).

    Thm 3.3   V[ips] = Σ (E[y²]/P − m²) c² / |U|²                       for 0/1 outcomes: Σ (1/P − m) m c² / |U|²
    Thm 4.3   V[dr]  = V[ips] + Σ (1/P − 1) q (q − 2m) c² / |U|²        below V[ips] where 0 ≤ q ≤ 2m (Eq. 5)
    Prop 3.4  |ips − E| ≤ √( log(2/η)/2 · Σ (c/P)² ) / |U|              0/1 outcomes
    Prop 4.4  the same for dr with max(q, 1 − q)·c/P:                   *only conditionally on the outcomes*

m = E[y], c what the pair's rank is worth. All need m or P of *every* pair, so they serve worlds whose truth is known,
not logs. Pairs must be seen independently of each other. Prop 4.4 bounds how far dr lies from Σ y c / |U| with the
drawn y, not from Σ m c / |U|: with P = 1 and q = m = ½ dr is Σ y c / |U|, and a 95 % bound holds Σ m c / |U| only 82 %
of the time.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError

Floats = npt.NDArray[np.float64]


def ips_variance(
    propensity: npt.ArrayLike,
    mean: npt.ArrayLike,
    worth: npt.ArrayLike,
    users: int,
    square: npt.ArrayLike | None = None,
) -> float:
    """Variance of ips under per_user_sum (Thm 3.3); ``square`` is E[y²], equal to the mean for 0/1 outcomes."""
    p, m, c = _arrays(propensity, mean, worth)
    second = m if square is None else np.asarray(square, dtype=np.float64)
    return float(np.sum((second / p - m**2) * c**2)) / users**2


def dr_variance(
    propensity: npt.ArrayLike,
    mean: npt.ArrayLike,
    worth: npt.ArrayLike,
    users: int,
    q: npt.ArrayLike,
    square: npt.ArrayLike | None = None,
) -> float:
    """Variance of dr with fixed guesses q (Thm 4.3, for graded outcomes too)."""
    p, m, c = _arrays(propensity, mean, worth)
    guess = np.asarray(q, dtype=np.float64)
    saved = float(np.sum((1.0 / p - 1.0) * guess * (guess - 2.0 * m) * c**2)) / users**2
    return ips_variance(p, m, c, users, square) + saved


def share_within(q: npt.ArrayLike, mean: npt.ArrayLike) -> float:
    """Share of the pairs whose guess lies in 0 … 2m, where dr varies no more than ips (saito20 Eq. 5)."""
    guess, m = np.asarray(q, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    return float(np.mean((guess >= 0.0) & (guess <= 2.0 * m)))


def ips_bound(propensity: npt.ArrayLike, worth: npt.ArrayLike, users: int, *, level: float = 0.95) -> float:
    """How far ips may lie from its mean, for outcomes in [0, 1] (Prop 3.4): each pair moves by at most c/P."""
    p, _, c = _arrays(propensity, 0.0, worth)
    return _tail(np.asarray(c / p), users, level)


def dr_bound(
    propensity: npt.ArrayLike, worth: npt.ArrayLike, users: int, q: npt.ArrayLike, *, level: float = 0.95
) -> float:
    """How far dr may lie from Σ y c / |U| *given the 0/1 outcomes y of all pairs* (Prop 4.4), not from Σ m c / |U|."""
    p, guess, c = _arrays(propensity, q, worth)
    return _tail(np.asarray(np.maximum(guess, 1.0 - guess) * c / p), users, level)


def _tail(reach: Floats, users: int, level: float) -> float:
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.")
    return math.sqrt(math.log(2.0 / (1.0 - level)) / 2.0 * float(np.sum(reach**2))) / users


def _arrays(propensity: npt.ArrayLike, mean: npt.ArrayLike, worth: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    p = np.asarray(propensity, dtype=np.float64)
    if p.size == 0 or not ((p > 0.0) & (p <= 1.0)).all():
        raise InputError("design variances need propensities in (0, 1] for all pairs, seen or not.")
    return p, np.asarray(mean, dtype=np.float64), np.asarray(worth, dtype=np.float64)
