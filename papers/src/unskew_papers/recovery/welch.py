"""Welch's t test between estimators over draws, corrected for how many pairs are compared.

    t = (x̄_a − x̄_b) / √(s_a²/n_a + s_b²/n_b),     degrees of freedom by Welch and Satterthwaite

two-sided. With c pairs, Bonferroni multiplies every p by c; Holm multiplies the smallest by c, the next by c − 1, and
so on, and never lets a p fall below the one before. As gs23 does it, an estimator is among the *best* where it is not
significantly different from the one with the best mean; where nothing is significant, nothing is marked.

The draws of two estimators are the same, so their scores rise and fall together and a paired test would see smaller
differences. Its p stands beside (``p_paired``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_ind_from_stats, ttest_rel

from unskew_papers.arrays import Floats

ROUNDING = 1e-13  # numbers that differ by less, of the largest of them, are alike


class Compared(NamedTuple):
    """Estimator a against b by one measure; p with each correction, and of the paired test."""

    a: str
    b: str
    difference: float
    p: float
    p_bonferroni: float
    p_holm: float
    p_paired: float


def compare(values: Mapping[str, Floats]) -> list[Compared]:
    """All pairs of named lines, each with one number per draw; draws that either lacks are left out of the pair."""
    pairs = list(combinations(values, 2))
    found = [_pair(values[a], values[b]) for a, b in pairs]
    p = np.array([each[1] for each in found])
    bonferroni = np.minimum(1.0, p * len(pairs))
    adjusted = holm(p)
    return [
        Compared(a, b, difference, float(p[n]), float(bonferroni[n]), float(adjusted[n]), paired)
        for n, ((a, b), (difference, _, paired)) in enumerate(zip(pairs, found, strict=True))
    ]


def best(values: Mapping[str, Floats], compared: list[Compared], level: float, *, higher: bool) -> set[str]:
    """The best line and all that are not different from it (Bonferroni); none where nothing is significant."""
    if not any(each.p_bonferroni < level for each in compared):
        return set()
    means = {name: _mean(each) for name, each in values.items()}
    known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    top = (max if higher else min)(known, key=lambda name: known[name])
    worse = {c.a if c.b == top else c.b for c in compared if top in (c.a, c.b) and c.p_bonferroni < level}
    return set(known) - worse


def holm(p: Floats) -> Floats:
    """p by Holm's method; NaN stays."""
    out = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(p), len(p) - len(order), -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return out


def _pair(a: Floats, b: Floats) -> tuple[float, float, float]:
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < 2:
        return math.nan, math.nan, math.nan
    difference = float(a.mean() - b.mean())
    rounding = ROUNDING * max(np.abs(a).max(), np.abs(b).max())
    if np.abs(a - b).max() <= rounding:
        return difference, 1.0, 1.0
    if np.ptp(a) <= rounding and np.ptp(b) <= rounding:
        return difference, 0.0, 0.0
    sides = ((x.mean(), x.std(ddof=1), len(x)) for x in (a, b))
    welch = ttest_ind_from_stats(*next(sides), *next(sides), equal_var=False)
    paired = float(ttest_rel(a, b).pvalue) if np.ptp(a - b) > rounding else 0.0
    return difference, float(welch.pvalue), paired


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan
