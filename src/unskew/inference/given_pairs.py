"""What tail bounds and design variances are given: one number for each pair, checked once, in one way."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError
from unskew.kernels.arrays import Floats


def propensities(numbers: npt.ArrayLike) -> Floats:
    """P of all pairs, seen or not."""
    p = np.asarray(numbers, dtype=np.float64)
    if p.size == 0 or not ((p > 0.0) & (p <= 1.0)).all():
        raise InputError("bounds and design variances need propensities in (0, 1] for all pairs, seen or not.")
    return p


def per_pair(numbers: npt.ArrayLike, p: Floats, what: str) -> Floats:
    """Finite numbers, one for each pair; one number stands for all of them."""
    found = np.asarray(numbers, dtype=np.float64)
    if found.ndim and found.shape != p.shape:
        raise InputError(f"{what} must come one per pair, like propensities: {found.size:,} for {p.size:,} pairs.")
    if not np.isfinite(found).all():
        raise InputError(f"{what} must be finite numbers, one for each pair or one for all of them.")
    return np.broadcast_to(found, p.shape)


def hoeffding_reach(reach: Floats, level: float, choices: int = 1) -> float:
    """√( log(2·choices/η)/2 · Σ reach² ), η = 1 − level: how far a sum of independent terms may lie from its mean."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.")
    return math.sqrt(math.log(2.0 * choices / (1.0 - level)) / 2.0 * float(np.sum(reach**2)))
