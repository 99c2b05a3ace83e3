"""Variances and tail bounds of sums per user with known propensities (saito20 §3–4).

Over which pairs are seen and, but for Prop 4.4, over what they yield:

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

import numpy as np
import numpy.typing as npt

from unskew import InputError
from unskew_papers.arrays import Floats
from unskew_papers.bounds import hoeffding_reach, per_pair, propensities


def ips_variance(
    propensity: npt.ArrayLike,
    mean: npt.ArrayLike,
    worth: npt.ArrayLike,
    users: int,
    square: npt.ArrayLike | None = None,
) -> float:
    """Variance of ips under per_user_sum (Thm 3.3); ``square`` is E[y²], equal to the mean for 0/1 outcomes."""
    p = propensities(propensity)
    c = per_pair(worth, p, "worths")
    m, second = _moments(p, mean, square)
    return float(np.sum((second / p - m**2) * c**2)) / _counted(users) ** 2


def dr_variance(
    propensity: npt.ArrayLike,
    mean: npt.ArrayLike,
    worth: npt.ArrayLike,
    users: int,
    q: npt.ArrayLike,
    square: npt.ArrayLike | None = None,
) -> float:
    """Variance of dr with fixed guesses q (Thm 4.3, for graded outcomes too)."""
    p = propensities(propensity)
    c = per_pair(worth, p, "worths")
    m, guess = _moments(p, mean, square)[0], per_pair(q, p, "guesses")
    saved = float(np.sum((1.0 / p - 1.0) * guess * (guess - 2.0 * m) * c**2)) / _counted(users) ** 2
    return ips_variance(p, m, c, users, square) + saved


def share_within(q: npt.ArrayLike, mean: npt.ArrayLike) -> float:
    """Share of the pairs whose guess lies in 0 … 2m, where dr varies no more than ips (saito20 Eq. 5)."""
    m = np.asarray(mean, dtype=np.float64)
    if m.size == 0:
        raise InputError("a share of pairs needs at least one pair.", code="too-few-rows")
    m, guess = per_pair(m, m, "means"), per_pair(q, m, "guesses")
    return float(np.mean((guess >= 0.0) & (guess <= 2.0 * m)))


def ips_bound(propensity: npt.ArrayLike, worth: npt.ArrayLike, users: int, *, level: float = 0.95) -> float:
    """How far ips may lie from its mean, for outcomes in [0, 1] (Prop 3.4): each pair moves by at most c/P."""
    p = propensities(propensity)
    return hoeffding_reach(per_pair(worth, p, "worths") / p, level) / _counted(users)


def dr_bound(
    propensity: npt.ArrayLike, worth: npt.ArrayLike, users: int, q: npt.ArrayLike, *, level: float = 0.95
) -> float:
    """How far dr may lie from Σ y c / |U| *given the 0/1 outcomes y of all pairs* (Prop 4.4), not from Σ m c / |U|."""
    p = propensities(propensity)
    guess = per_pair(q, p, "guesses")
    return hoeffding_reach(np.maximum(guess, 1.0 - guess) * per_pair(worth, p, "worths") / p, level) / _counted(users)


def _counted(users: int) -> int:
    if users < 1:
        raise InputError(f"sums are averaged over at least 1 user, not {users}.", code="out-of-range", argument="users")
    return users


def _moments(p: Floats, mean: npt.ArrayLike, square: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """E[y] and E[y²] of every pair, if there are outcomes that have them."""
    m = per_pair(mean, p, "means")
    if square is None:
        if not ((m >= 0.0) & (m <= 1.0)).all():
            raise InputError(
                "means of 0/1 outcomes lie in [0, 1]; for graded ones give square=, E[y²] of each pair.",
                code="out-of-range",
                argument="outcomes",
            )
        return m, m
    second = per_pair(square, p, "squares")
    if (second < m**2 * (1.0 - 1e-12)).any():
        raise InputError(
            "square= is E[y²] of each pair, which is never below E[y]².", code="out-of-range", argument="square"
        )
    return m, second
