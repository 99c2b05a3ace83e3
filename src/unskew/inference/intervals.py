"""Percentiles of bootstrap replicates, and what the normal distribution says of a difference and its error."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from unskew.kernels.arrays import Floats

_NORMAL = NormalDist()
NO_SPREAD = 1e-7  # a standard error below this share of the difference is rounding, not spread


class Interval(NamedTuple):
    """A standard error and two bounds."""

    se: float
    low: float
    high: float


def percentile(replicates: Floats, level: float) -> Interval:
    """The middle ``level`` of the replicates that exist, and their standard deviation."""
    known = replicates[np.isfinite(replicates)]
    if len(known) < 2:
        return Interval(np.nan, np.nan, np.nan)
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(np.std(known, ddof=1)), float(low), float(high))


def critical(level: float) -> float:
    """The z with probability ``level`` between −z and z."""
    return _NORMAL.inv_cdf((1.0 + level) / 2.0)


def two_sided_p(difference: float, se: float) -> float:
    """P(a difference at least this large) if there were none; 1 where the users show no spread to judge it by."""
    if not np.isfinite(difference) or not np.isfinite(se) or se <= NO_SPREAD * abs(difference):
        return 1.0
    return math.erfc(abs(difference) / se / math.sqrt(2.0))
