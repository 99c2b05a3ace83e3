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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from unskew.auditing.looks import AuditPart, Look
from unskew.auditing.spread import Floats, Ints, Spread, spread
from unskew.auditing.tally import Tally
from unskew.auditing.values import ClusteredError, SeenValues, SideSums, ValueLevels, influence
from unskew.inference.merging import Mergeable
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


@dataclass(frozen=True, eq=False)
class CompareRows(Mergeable):
    """What both logs hold of some users.

    Args:
        ours, theirs: rows on each level, of the log and of the MCAR log.
        users: of either log; ``active`` those who have a row in one of them.
        overlap: pairs in both.
        mcar_users: how many users have how many rows in the MCAR log; ``mcar_items`` its rows of each item.
    """

    ours: Ints
    theirs: Ints
    users: int
    active: int
    overlap: int
    mcar_users: Tally
    mcar_items: Ints


@dataclass(frozen=True, eq=False)
class AskCompared:
    """Asks what both logs hold."""

    grid: ValueLevels

    def __call__(self, part: AuditPart) -> CompareRows:
        """Of one part."""
        both = _Both.of(part)
        ours, theirs = (_by_user(log, self.grid) for log in both)
        log, mcar = both
        return CompareRows(
            ours.sum(0),
            theirs.sum(0),
            len(log.users),
            int(np.count_nonzero(ours.any(1) | theirs.any(1))),
            _overlap(log, mcar),
            Tally.of(np.diff(mcar.indptr)),
            np.bincount(mcar.item, minlength=len(mcar.items)),
        )


@dataclass(frozen=True, eq=False)
class CompareErrors(Mergeable):
    """Sums over users of what they add to errors.

    Args:
        difference: of the difference of both means.
        covariance: of the differences of shares, up to a factor.
        relative: of the logarithms of ratios, where a level has rows in both logs.
    """

    difference: ClusteredError
    covariance: Floats
    relative: Floats


@dataclass(frozen=True, eq=False)
class AskErrors:
    """Asks for the sums of squares, once shares and means are known."""

    grid: ValueLevels
    sides: tuple[SideSums, SideSums]
    shares: tuple[Floats, Floats]
    smooth: Floats
    both: npt.NDArray[np.bool_]

    def __call__(self, part: AuditPart) -> CompareErrors:
        """Of one part."""
        logs = _Both.of(part)
        users = len(logs.log.users)
        e, e_mcar = (
            (rows - np.outer(rows.sum(1), shares)) / side.rows
            for rows, shares, side in zip(
                (_by_user(log, self.grid) for log in logs), self.shares, self.sides, strict=True
            )
        )
        of_log, of_mcar = (
            influence(present(log.value), side, log.user, users) for log, side in zip(logs, self.sides, strict=True)
        )
        there = (np.diff(logs.log.indptr) + np.diff(logs.mcar.indptr)) > 0
        relative = e[:, self.both] / self.shares[0][self.both] - e_mcar[:, self.both] / self.smooth[self.both]
        gap = e - e_mcar
        return CompareErrors(ClusteredError.of(of_log - of_mcar, there), gap.T @ gap, np.square(relative).sum(0))


class _Both(NamedTuple):
    """Both logs over the users of either, and all items of both."""

    log: Log
    mcar: Log

    @classmethod
    def of(cls, part: AuditPart) -> _Both:
        log, mcar = part.log, present(part.mcar)
        users = Ids.of(log.users.values, mcar.users.values)
        items = Ids.of(log.items.values, mcar.items.values)
        return cls(log.recode(users, items), mcar.recode(users, items))


def contrast(seen: SeenValues, source: str) -> Look[Contrast]:
    """Compare the values of a log with those of the MCAR log called ``source``, on common levels."""
    grid, sums = seen.grid, seen.sums
    log, mcar = sums.log, present(sums.mcar)
    found: CompareRows = yield AskCompared(grid)
    shares, shares_mcar = found.ours / log.rows, found.theirs / mcar.rows
    smooth = (found.theirs + 1.0) / (mcar.rows + len(grid))
    both = (shares > 0.0) & (found.theirs > 0)
    sides = SideSums(log.rows, log.mean * log.rows), SideSums(mcar.rows, mcar.mean * mcar.rows)
    errors: CompareErrors = yield AskErrors(grid, sides, (shares, shares_mcar), smooth, both)
    m, items = found.active, len(found.mcar_items)
    inflate = m / (m - 1) if m > 1 else math.nan
    statistic, degrees, p = _wald(shares - shares_mcar, inflate * errors.covariance, m)
    ratio = shares / smooth
    spread_of_log = np.full(len(shares), np.inf)  # of ln(ratio), by the delta method
    if math.isfinite(inflate):
        spread_of_log[both] = np.sqrt(inflate * errors.relative)
    seen_at = ratio * log.rows / (found.users * items)
    values = []
    for k, (low, high) in enumerate(grid.bounds()):
        error = float(spread_of_log[k])
        known = math.isfinite(error)
        values.append(
            Seen(
                low=low,
                high=high,
                rows=int(found.ours[k]),
                rows_mcar=int(found.theirs[k]),
                share=float(shares[k]),
                share_mcar=float(shares_mcar[k]),
                ratio=float(ratio[k]),
                ratio_low=float(ratio[k]) * math.exp(-Z * error) if known else None,
                ratio_high=float(ratio[k]) * math.exp(Z * error) if known else None,
                seen=min(float(seen_at[k]), 1.0),
            )
        )
    return Contrast(
        source=source,
        rows=mcar.rows,
        overlap=found.overlap,
        mean=log.mean,
        mean_mcar=mcar.mean,
        difference=log.mean - mcar.mean,
        se=errors.difference.se,
        distance=float(np.abs(shares - shares_mcar).sum() / 2.0),
        statistic=statistic,
        degrees=degrees,
        p=p,
        values=tuple(values),
        users=spread(found.mcar_users, items),
        items=spread(Tally.of(found.mcar_items), found.users),
        capped=int(np.count_nonzero(seen_at > 1.0)),
    )


def _by_user(log: Log, grid: ValueLevels) -> Ints:
    """Rows by user and level."""
    cell = log.user.astype(np.int64) * len(grid) + grid.place(present(log.value))
    return np.bincount(cell, minlength=len(log.users) * len(grid)).reshape(len(log.users), len(grid))


def _wald(gap: Floats, covariance: Floats, users: int) -> tuple[float | None, int | None, float | None]:
    """The test of equal shares; ``None`` with fewer than ten users per level."""
    if users < _USERS_PER_LEVEL * len(gap) or len(gap) < 2:
        return None, None, None
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True, rtol=1e-10))
    if not degrees:
        return None, None, None
    statistic = float(gap @ np.linalg.pinv(covariance, hermitian=True, rtol=1e-10) @ gap)
    return statistic, degrees, float(chdtrc(degrees, statistic))


def _overlap(log: Log, mcar: Log) -> int:
    """Pairs in both; rows of either log are distinct pairs over one vocabulary."""
    small, large = sorted((each.user.astype(np.int64) * len(each.items) + each.item for each in (log, mcar)), key=len)
    if not len(small):
        return 0
    place = np.searchsorted(large, small)
    return int(np.count_nonzero(large[np.minimum(place, len(large) - 1)] == small))
