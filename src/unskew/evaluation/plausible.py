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

import numpy as np
import numpy.typing as npt

from unskew.engine.held import Held

Floats = npt.NDArray[np.float64]

GROSS = 2.0
ERRORS = 4.0  # standard errors beyond which a factor of 2 is no chance
LOOKED_AT = 100_000  # listed pairs of each model whose guesses are compared with the range
ROUNDING = 1e-9


def doubts(held: Held) -> list[str]:
    """What speaks against the guesses, in plain words; nothing without an outcome model or without any gain."""
    if held.q is None:
        return []
    asked = np.isfinite(held.q)
    user = np.repeat(np.arange(held.users), np.diff(held.indptr))[asked]
    y, q = held.value[asked], held.q[asked]
    if not (y > 0.0).any():
        return []
    return _outside(held, y, q) + _far_off(held, user, y, q, asked)


def _outside(held: Held, y: Floats, q: Floats) -> list[str]:
    """Guesses beyond all outcomes, of seen pairs and of the first listed ones."""
    low, high = min(0.0, float(y.min())), float(y.max())
    said = np.concatenate([q, *(_listed(held, model) for model in range(len(held.lists)))])
    out = (said < low - ROUNDING) | (said > high + ROUNDING)
    if not out.any():
        return []
    many = int(np.count_nonzero(out))
    return [
        f"{many:,} of {len(said):,} guesses of the outcome model lie outside the outcomes, which go from {low:g} to "
        f"{high:g}: the guesses go from {said.min():.3g} to {said.max():.3g}. direct believes them, and corrections of "
        "them are noisy: look at their units and their column."
    ]


def _listed(held: Held, model: int) -> Floats:
    """Guesses of a model's listed candidates, of as many users as there is room for."""
    lists, guess = held.lists[model], held.guess
    if guess is None:
        return np.empty(0)
    last = max(1, int(np.searchsorted(lists.indptr, LOOKED_AT, side="right")) - 1) if held.users else 0
    there = guess.candidates(lists, 0, last)
    q = guess.listed(lists, 0, last, there)
    return np.empty(0) if q is None else q[there > 0.0]


def _far_off(held: Held, user: npt.NDArray[np.intp], y: Floats, q: Floats, asked: npt.NDArray[np.bool_]) -> list[str]:
    """Guesses whose mean over seen pairs is not that of the outcomes, with weights or without."""
    plain = _Means.of(user, y, q, np.ones(len(y)))
    weighted = plain if held.propensity is None else _Means.of(user, y, q, 1.0 / held.propensity[asked])
    if not (plain.gross and weighted.gross):
        return []
    return [
        f"The outcome model guesses {plain.guess:.3g} on average for the seen pairs, which brought {plain.outcome:.3g}"
        + (f" (weighted by 1/P: {weighted.guess:.3g} and {weighted.outcome:.3g})" if weighted is not plain else "")
        + ". direct is off by as much, and dr is noisier than it need be: look at the guesses."
    ]


@dataclass(frozen=True)
class _Means:
    """Mean guess and mean outcome of the seen pairs, and the standard error of their difference."""

    guess: float
    outcome: float
    error: float

    @classmethod
    def of(cls, user: npt.NDArray[np.intp], y: Floats, q: Floats, weight: Floats) -> _Means:
        total = float(weight.sum())
        guess, outcome = float(weight @ q) / total, float(weight @ y) / total
        own = np.bincount(user, weight * (y - q - (outcome - guess)))
        top = float(y.max())
        least = max(guess * (top - guess), 0.0) * float(weight @ weight)
        return cls(guess, outcome, math.sqrt(max(float(own @ own), least)) / total)

    @property
    def gross(self) -> bool:
        """Whether the guesses are too high or too low by a factor, beyond sampling error."""
        far = self.guess > GROSS * self.outcome or self.guess < self.outcome / GROSS
        return far and abs(self.guess - self.outcome) > ERRORS * self.error
