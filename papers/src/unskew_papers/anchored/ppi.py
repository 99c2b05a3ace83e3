"""PPI++ (Angelopoulos, Duchi and Zrnic 2023): few labels and many predictions, power-tuned.

Of a mean, labels Y and predictions f on n rows, predictions f̃ on N others, r = n/N:

    θ̂ = mean(Y) + κ (mean(f̃) − mean(f))        κ̂ = Cov(Y, f) / ((1 + r) Var(f ∪ f̃))
    se² = Var(Y − κf)/n + κ² Var(f̃)/N

Of a ratio Σ yλ / Σ y (a value of recall over relevant pairs) the loss is y(θ − λ)²/2, whose gradient is y(θ − λ):

    θ̂ = [mean((y − κf)λ) + κ mean(f̃λ̃)] / [mean(y − κf) + κ mean(f̃)]

with κ̂ from the gradients at the ratio of the labelled rows alone. Rows count as independent, as in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unskew_papers.arrays import Floats


class Tuned(NamedTuple):
    """An estimate, its standard error, and how far predictions are trusted."""

    value: Floats
    se: Floats
    kappa: Floats


def mean(y: Floats, f: Floats, others: Floats) -> Tuned:
    """The mean of y, column by column; (n, k), (n, k) and (N, k)."""
    n, many = len(y), len(others)
    kappa = _kappa(y, f, others)
    value = y.mean(axis=0) + kappa * (others.mean(axis=0) - f.mean(axis=0))
    return Tuned(value, np.sqrt(_variance(y - kappa * f) / n + kappa**2 * _variance(others) / many), kappa)


def ratio(y: Floats, f: Floats, worth: Floats, others: Floats, other_worth: Floats) -> Tuned:
    """Σ yλ / Σ y of every model; y and f by row, worth by row and model."""
    if not y.any():
        nothing = np.full(worth.shape[1], np.nan)
        return Tuned(nothing, nothing, nothing)
    start = (y @ worth) / y.sum()
    kappa = _kappa(y[:, None] * (start - worth), f[:, None] * (start - worth), others[:, None] * (start - other_worth))
    left = y[:, None] - kappa * f[:, None]
    below = left.mean(axis=0) + kappa * others.mean()
    value = ((left * worth).mean(axis=0) + kappa * (others[:, None] * other_worth).mean(axis=0)) / below
    own = _variance(left * (value - worth)) / len(y)
    far = kappa**2 * _variance(others[:, None] * (value - other_worth)) / len(others)
    return Tuned(value, np.sqrt(own + far) / np.abs(below), kappa)


def _kappa(y: Floats, f: Floats, others: Floats) -> Floats:
    """κ̂, 0 where predictions do not vary."""
    n = len(y)
    together = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (n - 1)
    spread = (1.0 + n / len(others)) * _variance(np.concatenate([f, others]))
    return np.asarray(np.divide(together, spread, out=np.zeros_like(together), where=spread > 0.0))


def _variance(x: Floats) -> Floats:
    return np.asarray(x.var(axis=0, ddof=1))
