"""The popularity exponent: a discrete power law, fitted by maximum likelihood to the tail of the items' counts.

    P(n) = n^−α / ζ(α, n_min)  for n ≥ n_min        Clauset, Shalizi and Newman (2009), Eqs. 3.4–3.5
    se(α) = 1 / √( items · (ln ζ)''(α) )
    zipf = 1 / (α − 1)                               the count of the r-th most popular item falls as r^−zipf

n_min is the count from which on the law lies closest to the data (Kolmogorov–Smirnov distance), among those that leave
at least 50 items and a tenth of the catalogue: of a smaller tail anything could be said. The standard error takes n_min
as given. A regression of log count on log rank would be biased and its residuals dependent; it is not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import zeta

from unskew.auditing.spread import Floats, Ints

LEAST_ITEMS, LEAST_SHARE = 50, 0.1
LEAST_COUNTS = 5
_CANDIDATES = 40
_STEEPEST = 25.0
_CRITICAL = 1.36  # Kolmogorov–Smirnov at 5 %: lenient, because α was fitted to the same counts


@dataclass(frozen=True)
class PowerLaw:
    """The tail of the items' counts as a power law.

    Args:
        alpha, se: exponent of the distribution of counts.
        zipf, zipf_se: exponent of count against rank.
        from_count: the least count that belongs to the tail.
        items, item_share, row_share: how much of the catalogue and of the rows the tail holds.
        distance: the largest gap between the distribution of the tail and the law.
        fits: whether that gap is one that chance explains.
    """

    alpha: float
    se: float
    zipf: float
    zipf_se: float
    from_count: int
    items: int
    item_share: float
    row_share: float
    distance: float
    fits: bool


def power_law(counts: Ints) -> PowerLaw | None:
    """Fit the tail; ``None`` where too few items or too few different counts are there."""
    ascending = np.sort(counts[counts > 0])
    size, different = np.unique(ascending, return_counts=True)
    starts = np.append(0, np.cumsum(different)[:-1])
    left = len(ascending) - starts
    least = max(LEAST_ITEMS, LEAST_SHARE * len(ascending))
    enough = (left >= least) & (np.arange(len(size), 0, -1) >= LEAST_COUNTS)
    if not enough.any():
        return None
    places = np.flatnonzero(enough)
    places = places[np.unique(np.geomspace(1, len(places), _CANDIDATES).round().astype(np.int64)) - 1]
    log = np.log(size)
    above = np.cumsum((different * log)[::-1])[::-1]
    alphas = _alpha(above[places] / left[places], size[places].astype(np.float64))
    gaps = [_distance(size[p:], different[p:], a) for p, a in zip(places, alphas, strict=True)]
    best = int(np.argmin(gaps))
    place, alpha, items = int(places[best]), float(alphas[best]), int(left[places[best]])
    if alpha >= _STEEPEST - 1e-3:
        return None
    se = float(1.0 / np.sqrt(items * _curvature(alpha, float(size[place]))))
    return PowerLaw(
        alpha=alpha,
        se=se,
        zipf=1.0 / (alpha - 1.0),
        zipf_se=se / (alpha - 1.0) ** 2,
        from_count=int(size[place]),
        items=items,
        item_share=items / len(ascending),
        row_share=float(ascending[starts[place] :].sum() / ascending.sum()),
        distance=gaps[best],
        fits=gaps[best] <= _CRITICAL / float(np.sqrt(items)),
    )


def _alpha(mean_log: Floats, start: Floats) -> Floats:
    """Where E_α[ln n] = mean of ln n: the likelihood's maximum, by bisection, for every start at once."""
    low, high = np.full(len(start), 1.0 + 1e-4), np.full(len(start), _STEEPEST)
    for _ in range(60):
        middle = (low + high) / 2.0
        expected = -(_log_zeta(middle + 1e-5, start) - _log_zeta(middle - 1e-5, start)) / 2e-5
        low, high = np.where(expected > mean_log, middle, low), np.where(expected > mean_log, high, middle)
    return np.asarray((low + high) / 2.0, dtype=np.float64)


def _curvature(alpha: float, start: float) -> float:
    step = 1e-3 * (alpha - 1.0)
    ends = _log_zeta(np.array([alpha - step, alpha, alpha + step]), np.full(3, start))
    return float((ends[0] - 2.0 * ends[1] + ends[2]) / step**2)


def _log_zeta(alpha: Floats, start: Floats) -> Floats:
    """The logarithm of the Hurwitz zeta function."""
    return np.asarray(np.log(zeta(alpha, start)), dtype=np.float64)


def _distance(size: Ints, different: Ints, alpha: float) -> float:
    """Kolmogorov–Smirnov distance between the counts of a tail and the law."""
    seen = np.cumsum(different) / different.sum()
    law = 1.0 - zeta(alpha, size + 1.0) / zeta(alpha, float(size[0]))
    return float(np.abs(seen - law).max())
