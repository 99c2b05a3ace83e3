"""Tail bounds of schnabel16 and gs23 for averages over pairs: what can be said without any normal approximation.

    Lemma 5.1   bias of ips with wrong P̂          (1/UI) Σ δ (1 − P/P̂)                                  = R − E[R̂]
    Prop. 3.1   |R̂ − R| ≤ (1/UI) √( log(2/η)/2 · Σ ρ² )                    ρ = δ/P where P < 1, else 0
    Thm. 4.2    R ≤ R̂ + (Δ/UI) √( log(2|H|/η)/2 · Σ 1/P² )                 for the best of |H| predictors alike
    Thm. 5.2    R ≤ R̂ + (Δ/UI) Σ |1 − P/P̂| + (Δ/UI) √( log(2|H|/η)/2 · Σ 1/P̂² )

Each holds with probability 1 − η over which pairs are seen, if pairs are seen independently of each other and

* Prop. 3.1: P is the true propensity and δ was fixed before anything was seen (a model fitted on the same pairs is
  not). The sum runs over *all* pairs, so P is needed everywhere, and δ everywhere or a bound Δ ≥ δ.
* Thm. 4.2: 0 ≤ δ ≤ Δ for every predictor of the finite class, which was fixed in advance; P is the true propensity.
* Thm. 5.2: the same, with P̂ fixed in advance (estimated from other data); the first sum needs the unknown true P.

gs23 bounds the value of one user, R̂_u = (1/n) Σ_{S*} w λ (its Eq. 7), of whose n relevant items S some were seen, S*:

    Prop. 4.2   |E R̂_u − R_u| ≤ (1/n) Σ_S |w P − 1|                                              ``weights_bias``
    Thm. 4.1    |R̂_u − E R̂_u| ≤ √( 2 log(2/δ) Σ_{S*} w² / (n (n − 1)) ) + max_S w · 7 log(2/δ) / (3 (n − 1))
                                                            with probability 1 − 2δ, ``weights_concentration``

if weights were fixed before anything was seen. Those of gs are not, so for gs they are no guarantees.

All are far wider than intervals: use them to see what would be certain, not to compare models.
What they are given, one number for each pair, is checked in one way, here and for design variances.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unskew import InputError
from unskew_papers.arrays import Floats


def propensities(numbers: npt.ArrayLike) -> Floats:
    """P of all pairs, seen or not."""
    p = np.asarray(numbers, dtype=np.float64)
    if p.size == 0 or not ((p > 0.0) & (p <= 1.0)).all():
        raise InputError(
            "bounds and design variances need propensities in (0, 1] for all pairs, seen or not.", code="out-of-range"
        )
    return p


def per_pair(numbers: npt.ArrayLike, p: Floats, what: str) -> Floats:
    """Finite numbers, one for each pair; one number stands for all of them."""
    found = np.asarray(numbers, dtype=np.float64)
    if found.ndim and found.shape != p.shape:
        raise InputError(
            f"{what} must come one per pair, like propensities: {found.size:,} for {p.size:,} pairs.",
            code="wrong-shape",
            argument=what,
        )
    if not np.isfinite(found).all():
        raise InputError(
            f"{what} must be finite numbers, one for each pair or one for all of them.",
            code="not-a-number",
            argument=what,
        )
    return np.broadcast_to(found, p.shape)


def hoeffding_reach(reach: Floats, level: float, choices: int = 1) -> float:
    """√( log(2·choices/η)/2 · Σ reach² ), η = 1 − level: how far a sum of independent terms may lie from its mean."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.", code="out-of-range", argument="level")
    return math.sqrt(math.log(2.0 * choices / (1.0 - level)) / 2.0 * float(np.sum(reach**2)))


def lemma_bias(cost: npt.ArrayLike, propensity: npt.ArrayLike, assumed: npt.ArrayLike) -> float:
    """R − E[R̂] of ips when pairs are weighed by the assumed instead of the true propensity (Lemma 5.1)."""
    true, guess = _both(propensity, assumed)
    return float(np.mean(per_pair(cost, true, "costs") * (1.0 - true / guess)))


def hoeffding(propensity: npt.ArrayLike, cost: npt.ArrayLike | float, *, level: float = 0.95) -> float:
    """How far ips may lie from the truth (Prop. 3.1).

    Args:
        propensity: P of *all* pairs, seen or not.
        cost: δ of all pairs, or one number that no δ exceeds.
        level: 1 − η.
    """
    p = propensities(propensity)
    rho = np.where(p < 1.0, per_pair(cost, p, "costs") / p, 0.0)
    return hoeffding_reach(rho, level) / p.size


def learning(propensity: npt.ArrayLike, largest: float, predictors: int, *, level: float = 0.95) -> float:
    """How much worse than its ips estimate any of so many predictors may be (Thm. 4.2).

    Args:
        propensity: P of all pairs.
        largest: Δ, which no δ of any predictor exceeds.
        predictors: |H|, how many predictors were to choose from.
        level: 1 − η.
    """
    if predictors < 1 or not 0.0 <= largest < np.inf:
        raise InputError(
            "the bound needs at least one predictor, and a largest cost that is finite and not negative.",
            code="out-of-range",
        )
    p = propensities(propensity)
    return largest / p.size * hoeffding_reach(np.asarray(1.0 / p), level, predictors)


def learning_estimated(
    propensity: npt.ArrayLike, assumed: npt.ArrayLike, largest: float, predictors: int, *, level: float = 0.95
) -> float:
    """The same when pairs are weighed by assumed propensities (Thm. 5.2); needs the true ones, so it serves studies."""
    true, guess = _both(propensity, assumed)
    bias = largest / true.size * float(np.sum(np.abs(1.0 - true / guess)))
    return bias + learning(guess, largest, predictors, level=level)


def _both(propensity: npt.ArrayLike, assumed: npt.ArrayLike) -> tuple[Floats, Floats]:
    true, guess = propensities(propensity), propensities(assumed)
    if true.shape != guess.shape:
        raise InputError(
            f"propensities must come one per pair: {true.size:,} true ones, {guess.size:,} assumed ones.",
            code="wrong-shape",
        )
    return true, guess


def weights_bias(weight: npt.ArrayLike, propensity: npt.ArrayLike, user: npt.ArrayLike) -> Floats:
    """By how much weights may mislead on average, for every user (gs23, Prop. 4.2).

    Args:
        weight, propensity: w and P of all relevant pairs, seen or not.
        user: whose they are, 0, 1, 2, …
    """
    p, owner = propensities(propensity), np.asarray(user)
    return np.bincount(owner, np.abs(per_pair(weight, p, "weights") * p - 1.0)) / np.bincount(owner)


def weights_concentration(
    weight: npt.ArrayLike, seen: npt.ArrayLike, user: npt.ArrayLike, *, level: float = 0.95
) -> Floats:
    """How far the value of every user may lie from its mean over what is seen (gs23, Thm. 4.1).

    Args:
        weight: w of all relevant pairs, seen or not.
        seen: which of them were seen.
        user: whose they are, 0, 1, 2, …, each with two of them at least.
        level: 1 − 2δ.
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.", code="out-of-range", argument="level")
    owner, shown = np.asarray(user), np.asarray(seen, dtype=np.bool_)
    weights = per_pair(weight, np.ones(shown.shape), "weights")
    n = np.bincount(owner).astype(np.float64)
    if not (n > 1.0).all():
        raise InputError("the bound needs two relevant items of every user.", code="out-of-range", argument="user")
    largest = np.zeros(len(n))
    np.maximum.at(largest, owner, weights)
    log = math.log(4.0 / (1.0 - level))
    spread = np.sqrt(2.0 * log * np.bincount(owner, np.where(shown, weights, 0.0) ** 2) / (n * (n - 1.0)))
    return np.asarray(spread + largest * 7.0 * log / (3.0 * (n - 1.0)))
