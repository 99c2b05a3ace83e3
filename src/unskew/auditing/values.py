"""The values of a log: their distribution on few levels, and means with standard errors clustered by user.

    se² = m/(m−1) · Σ_u e_u²,  e_u = Σ over the user's rows of (y − ȳ)/n        m = users with a row
    a difference of two means: e_u is the difference of both, over the users of either side

Rows of a user resemble each other, so rows are not counted as independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.auditing.spread import Floats

Codes = npt.NDArray[np.int32]

MOST_LEVELS = 20
_FIRST = 100_000
QUANTILES = {"5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95}


@dataclass(frozen=True)
class Level:
    """One value (``low`` = ``high``) or a bin [low, high), and its rows; the outer bins hold what lies beyond too."""

    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class Values:
    """The values of a log; ``distinct`` is ``None`` where there are more than 20."""

    mean: float
    sd: float
    minimum: float
    maximum: float
    quantiles: Mapping[str, float]
    distinct: int | None
    zeros: float
    levels: tuple[Level, ...]

    @property
    def constant(self) -> bool:
        """Whether all rows have the same value."""
        return self.minimum == self.maximum


@dataclass(frozen=True, eq=False)
class ValueLevels:
    """Levels that several logs share: single values, or edges of bins of which the first and last take the rest."""

    single: bool
    edges: Floats

    @classmethod
    def of(cls, *columns: Floats) -> ValueLevels:
        """Single values if there are at most 20, else at most 20 bins, geometric where values are far apart."""
        if all(pl.Series(column[:_FIRST]).n_unique() <= MOST_LEVELS for column in columns):
            found = np.unique(np.concatenate([pl.Series(column).unique().to_numpy() for column in columns]))
            if len(found) <= MOST_LEVELS:
                return cls(True, found)
        ends = [quantiles(column, (0.005, 0.995)) for column in columns]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        if not low < high:  # nearly all rows have one value
            low, high = min(float(c.min()) for c in columns), max(float(c.max()) for c in columns)
        steps = MOST_LEVELS + 1
        geometric = low > 0.0 and high / low > 100.0
        return cls(False, np.geomspace(low, high, steps) if geometric else np.linspace(low, high, steps))

    def place(self, values: Floats) -> Codes:
        """The level of every value."""
        if self.single:
            return np.searchsorted(self.edges, values).astype(np.int32)
        return np.searchsorted(self.edges[1:-1], values, side="right").astype(np.int32)

    def __len__(self) -> int:
        return len(self.edges) if self.single else len(self.edges) - 1

    def bounds(self) -> list[tuple[float, float]]:
        """Low and high end of every level."""
        edges = self.edges.tolist()
        return [(e, e) for e in edges] if self.single else list(pairwise(edges))


def describe(values: Floats, grid: ValueLevels) -> Values:
    """Mean, spread, quantiles and the rows on each level."""
    placed = np.bincount(grid.place(values), minlength=len(grid))
    number: list[int] = placed.tolist()
    at = _of_levels(grid.edges, placed) if grid.single else quantiles(values, QUANTILES.values())
    low, high = float(values.min()), float(values.max())
    return Values(
        mean=low if low == high else float(values.mean()),
        sd=0.0 if low == high else float(values.std()),
        minimum=low,
        maximum=high,
        quantiles=dict(zip(QUANTILES, at, strict=True)),
        distinct=sum(n > 0 for n in number) if grid.single else None,
        zeros=float(np.mean(values == 0.0)),
        levels=tuple(Level(*ends, n) for ends, n in zip(grid.bounds(), number, strict=True)),
    )


def mean_with_error(values: Floats, user: Codes, users: int) -> tuple[float, float | None]:
    """The mean, and its standard error clustered by user (``None`` with fewer than two users)."""
    mean = float(values.mean())
    return mean, _error(_influence(values, mean, user, users), np.bincount(user, minlength=users) > 0)


def difference(
    a: Floats, user_a: Codes, b: Floats, user_b: Codes, users: int
) -> tuple[float, float, float, float | None]:
    """Both means, their difference a − b, and its standard error over the users of either side."""
    mean_a, mean_b = float(a.mean()), float(b.mean())
    e = _influence(a, mean_a, user_a, users) - _influence(b, mean_b, user_b, users)
    there = (np.bincount(user_a, minlength=users) + np.bincount(user_b, minlength=users)) > 0
    return mean_a, mean_b, mean_a - mean_b, _error(e, there)


def _influence(values: Floats, mean: float, user: Codes, users: int) -> Floats:
    return np.bincount(user, weights=values - mean, minlength=users) / len(values)


def _error(e: Floats, there: npt.NDArray[np.bool_]) -> float | None:
    m = int(np.count_nonzero(there))
    return math.sqrt(m / (m - 1) * float(e @ e)) if m > 1 else None


def _of_levels(levels: Floats, number: npt.NDArray[np.int64]) -> list[float]:
    """The same quantiles from the rows on single values."""
    below, rows = np.cumsum(number), int(number.sum())
    return [float(levels[np.searchsorted(below, max(math.ceil(q * rows), 1))]) for q in QUANTILES.values()]


def quantiles(values: Floats, at: Iterable[float]) -> list[float]:
    """The least values below or at which these shares of the rows lie."""
    places = [max(math.ceil(q * len(values)) - 1, 0) for q in at]
    return [float(x) for x in np.partition(values, sorted(set(places)))[places]]
