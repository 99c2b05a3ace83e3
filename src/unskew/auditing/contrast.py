"""A skewed log against one whose pairs were drawn at random (MCAR): what do values have to do with being seen?

    P(seen | y) = P(y | seen) P(seen) / P(y)         schnabel16 Eq. 18; P(y) from the MCAR log, Laplace-smoothed
    ratio(y)    = P(y | seen) / P(y)                  1 where values have nothing to do with being seen
    distance    = ½ Σ_y |P(y | seen) − P(y)|          total variation
    W = dᵀ S⁺ d ~ χ²                                  d the differences of the shares, S their covariance

All errors are clustered by user: a user's rows (in both logs) resemble each other. P(seen) is the density of the log
over the users and items of either log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from unskew.auditing.spread import Floats, Ints, Spread, spread
from unskew.auditing.values import ValueLevels, difference
from unskew.kernels.arrays import present
from unskew.log import Ids, Log

Z = 1.959963984540054  # two-sided 95 %
_USERS_PER_LEVEL = 10


@dataclass(frozen=True)
class Seen:
    """One value: its share in both logs, how over-represented it is, and P(seen | value).

    ``ratio_low`` and ``ratio_high`` are a 95 % interval, ``None`` where a log lacks the value or there is one user.
    """

    low: float
    high: float
    rows: int
    rows_mcar: int
    share: float
    share_mcar: float
    ratio: float
    ratio_low: float | None
    ratio_high: float | None
    seen: float


@dataclass(frozen=True)
class Contrast:
    """How a log differs from an MCAR log.

    Args:
        source, rows: of the MCAR log.
        overlap: pairs that stand in both logs.
        mean, mean_mcar, difference, se: mean values, log minus MCAR.
        distance: total variation distance between the distributions of values.
        statistic, degrees, p: test of equal distributions; ``None`` with too few users for it.
        values: value by value.
        users, items: how evenly the MCAR log itself is spread: it should be as even as chance allows.
        capped: values whose P(seen | value) came out above 1 and was set to 1.
    """

    source: str
    rows: int
    overlap: int
    mean: float
    mean_mcar: float
    difference: float
    se: float | None
    distance: float
    statistic: float | None
    degrees: int | None
    p: float | None
    values: tuple[Seen, ...]
    users: Spread
    items: Spread
    capped: int


def contrast(log: Log, mcar: Log, grid: ValueLevels) -> Contrast:
    """Compare the values of two logs; both must have values."""
    users = Ids.of(log.users.values, mcar.users.values)
    items = Ids.of(log.items.values, mcar.items.values)
    log, mcar = log.recode(users, items), mcar.recode(users, items)
    value, value_mcar = present(log.value), present(mcar.value)
    mean, mean_mcar, gap, se = difference(value, log.user, value_mcar, mcar.user, len(users))
    ours, theirs = _by_user(log, value, grid), _by_user(mcar, value_mcar, grid)
    shares, shares_mcar = ours.sum(0) / len(log), theirs.sum(0) / len(mcar)
    smooth = (theirs.sum(0) + 1.0) / (len(mcar) + len(grid))
    m = int(np.count_nonzero(ours.any(1) | theirs.any(1)))
    inflate = m / (m - 1) if m > 1 else math.nan
    e, e_mcar = _influence(ours, shares), _influence(theirs, shares_mcar)
    statistic, degrees, p = _wald(shares - shares_mcar, e - e_mcar, inflate, m)
    ratio = shares / smooth
    spread_of_log = _relative_error(e, shares, e_mcar, smooth, theirs.sum(0), inflate)
    seen = ratio * len(log) / (len(users) * len(items))
    values = []
    for k, (low, high) in enumerate(grid.bounds()):
        error = float(spread_of_log[k])
        known = math.isfinite(error)
        values.append(
            Seen(
                low=low,
                high=high,
                rows=int(ours[:, k].sum()),
                rows_mcar=int(theirs[:, k].sum()),
                share=float(shares[k]),
                share_mcar=float(shares_mcar[k]),
                ratio=float(ratio[k]),
                ratio_low=float(ratio[k]) * math.exp(-Z * error) if known else None,
                ratio_high=float(ratio[k]) * math.exp(Z * error) if known else None,
                seen=min(float(seen[k]), 1.0),
            )
        )
    return Contrast(
        source=mcar.account.source,
        rows=len(mcar),
        overlap=_overlap(log, mcar),
        mean=mean,
        mean_mcar=mean_mcar,
        difference=gap,
        se=se,
        distance=float(np.abs(shares - shares_mcar).sum() / 2.0),
        statistic=statistic,
        degrees=degrees,
        p=p,
        values=tuple(values),
        users=spread(np.bincount(mcar.user, minlength=len(users)), len(items)),
        items=spread(np.bincount(mcar.item, minlength=len(items)), len(users)),
        capped=int(np.count_nonzero(seen > 1.0)),
    )


def _by_user(log: Log, values: Floats, grid: ValueLevels) -> Ints:
    """Rows by user and level."""
    cell = log.user.astype(np.int64) * len(grid) + grid.place(values)
    return np.bincount(cell, minlength=len(log.users) * len(grid)).reshape(len(log.users), len(grid))


def _influence(rows: Ints, shares: Floats) -> Floats:
    """What each user adds to the error of each share."""
    return np.asarray((rows - np.outer(rows.sum(1), shares)) / rows.sum(), dtype=np.float64)


def _wald(gap: Floats, e: Floats, inflate: float, users: int) -> tuple[float | None, int | None, float | None]:
    """The test of equal shares; ``None`` with fewer than ten users per level."""
    if users < _USERS_PER_LEVEL * len(gap) or len(gap) < 2:
        return None, None, None
    covariance = inflate * e.T @ e
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True, rtol=1e-10))
    if not degrees:
        return None, None, None
    statistic = float(gap @ np.linalg.pinv(covariance, hermitian=True, rtol=1e-10) @ gap)
    return statistic, degrees, float(chdtrc(degrees, statistic))


def _relative_error(e: Floats, shares: Floats, e_mcar: Floats, smooth: Floats, rows: Ints, inflate: float) -> Floats:
    """Standard error of ln(ratio) by the delta method; infinite where a log lacks the value or there is one user."""
    out = np.full(len(shares), np.inf)
    both = (shares > 0.0) & (rows > 0)
    if both.any() and math.isfinite(inflate):
        relative = e[:, both] / shares[both] - e_mcar[:, both] / smooth[both]
        out[both] = np.sqrt(inflate * (relative**2).sum(0))
    return out


def _overlap(log: Log, mcar: Log) -> int:
    """Pairs in both; rows of either log are distinct pairs over one vocabulary."""
    small, large = sorted((each.user.astype(np.int64) * len(each.items) + each.item for each in (log, mcar)), key=len)
    place = np.searchsorted(large, small)
    return int(np.count_nonzero(large[np.minimum(place, len(large) - 1)] == small))
