"""Tail bounds of schnabel16 for averages over pairs: what can be said without any normal approximation.

    Lemma 5.1   bias of ips with wrong P̂          (1/UI) Σ δ (1 − P/P̂)                                  = R − E[R̂]
    Prop. 3.1   |R̂ − R| ≤ (1/UI) √( log(2/η)/2 · Σ ρ² )                    ρ = δ/P where P < 1, else 0
    Thm. 4.2    R ≤ R̂ + (Δ/UI) √( log(2|H|/η)/2 · Σ 1/P² )                 for the best of |H| predictors alike
    Thm. 5.2    R ≤ R̂ + (Δ/UI) Σ |1 − P/P̂| + (Δ/UI) √( log(2|H|/η)/2 · Σ 1/P̂² )

Each holds with probability 1 − η over which pairs are seen, if pairs are seen independently of each other and

* Prop. 3.1: P is the true propensity and δ was fixed before anything was seen (a model fitted on the same pairs is
  not). The sum runs over *all* pairs, so P is needed everywhere, and δ everywhere or a bound Δ ≥ δ.
* Thm. 4.2: 0 ≤ δ ≤ Δ for every predictor of the finite class, which was fixed in advance; P is the true propensity.
* Thm. 5.2: the same, with P̂ fixed in advance (estimated from other data); the first sum needs the unknown true P.

They are far wider than intervals: use them to see what would be certain, not to compare models.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError

Floats = npt.NDArray[np.float64]


def lemma_bias(cost: npt.ArrayLike, propensity: npt.ArrayLike, assumed: npt.ArrayLike) -> float:
    """R − E[R̂] of ips when pairs are weighed by the assumed instead of the true propensity (Lemma 5.1)."""
    true, guess = _both(propensity, assumed)
    return float(np.mean(_costs(cost, true) * (1.0 - true / guess)))


def hoeffding(propensity: npt.ArrayLike, cost: npt.ArrayLike | float, *, level: float = 0.95) -> float:
    """How far ips may lie from the truth (Prop. 3.1).

    Args:
        propensity: P of *all* pairs, seen or not.
        cost: δ of all pairs, or one number that no δ exceeds.
        level: 1 − η.
    """
    p = _propensities(propensity)
    rho = np.where(p < 1.0, _costs(cost, p) / p, 0.0)
    return math.sqrt(math.log(2.0 / _risk(level)) / 2.0 * float(np.sum(rho**2))) / p.size


def learning(propensity: npt.ArrayLike, largest: float, predictors: int, *, level: float = 0.95) -> float:
    """How much worse than its ips estimate any of so many predictors may be (Thm. 4.2).

    Args:
        propensity: P of all pairs.
        largest: Δ, which no δ of any predictor exceeds.
        predictors: |H|, how many predictors were to choose from.
        level: 1 − η.
    """
    if predictors < 1 or largest < 0.0:
        raise InputError("the bound needs at least one predictor, and a largest cost that is not negative.")
    p = _propensities(propensity)
    reach = math.log(2.0 * predictors / _risk(level)) / 2.0 * float(np.sum(1.0 / p**2))
    return largest / p.size * math.sqrt(reach)


def learning_estimated(
    propensity: npt.ArrayLike, assumed: npt.ArrayLike, largest: float, predictors: int, *, level: float = 0.95
) -> float:
    """The same when pairs are weighed by assumed propensities (Thm. 5.2); needs the true ones, so it serves studies."""
    true, guess = _both(propensity, assumed)
    bias = largest / true.size * float(np.sum(np.abs(1.0 - true / guess)))
    return bias + learning(guess, largest, predictors, level=level)


def _propensities(numbers: npt.ArrayLike) -> Floats:
    p = np.asarray(numbers, dtype=np.float64)
    if p.size == 0 or not ((p > 0.0) & (p <= 1.0)).all():
        raise InputError("bounds need propensities in (0, 1] for all pairs, seen or not.")
    return p


def _both(propensity: npt.ArrayLike, assumed: npt.ArrayLike) -> tuple[Floats, Floats]:
    true, guess = _propensities(propensity), _propensities(assumed)
    if true.shape != guess.shape:
        raise InputError(f"propensities must come one per pair: {true.size:,} true ones, {guess.size:,} assumed ones.")
    return true, guess


def _costs(cost: npt.ArrayLike | float, p: Floats) -> Floats:
    """δ of every pair; one number stands for all of them."""
    delta = np.asarray(cost, dtype=np.float64)
    if delta.ndim and delta.shape != p.shape:
        raise InputError(f"costs must come one per pair, like propensities: {delta.size:,} for {p.size:,} pairs.")
    if not np.isfinite(delta).all():
        raise InputError("bounds need finite costs of all pairs, or one number that no cost exceeds.")
    return np.broadcast_to(delta, p.shape)


def _risk(level: float) -> float:
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.")
    return 1.0 - level
