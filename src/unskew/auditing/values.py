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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.auditing.looks import AuditPart, Look
from unskew.auditing.order import at_places
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Floats, present

Codes = npt.NDArray[np.int32]

MOST_LEVELS = 20
_FIRST = 100_000
ENDS = (0.005, 0.995)  # between which most values lie
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
    def bins(cls, low: float, high: float) -> ValueLevels:
        """At most 20 bins, geometric where values are far apart."""
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


def _distinct(a: Floats | None, b: Floats | None) -> Floats | None:
    """Both sets of values together, as long as they are few."""
    if a is None or b is None:
        return None
    both = np.union1d(a, b)
    return both if len(both) <= MOST_LEVELS else None


@dataclass(frozen=True, eq=False)
class ValueSums:
    """Moments of some values; those of other rows are merged in by Chan's formula.

    Args:
        squares: Σ (y − mean)².
        distinct: the different values, ``None`` where there are more than 20.
    """

    rows: int
    mean: float
    squares: float
    low: float
    high: float
    zeros: int
    distinct: Floats | None

    @classmethod
    def of(cls, values: Floats) -> ValueSums:
        """Of some rows."""
        if not len(values):
            return cls(0, 0.0, 0.0, np.inf, -np.inf, 0, np.empty(0))
        mean, few = float(values.mean()), pl.Series(values[:_FIRST]).n_unique() <= MOST_LEVELS
        distinct = np.sort(pl.Series(values).unique().to_numpy()) if few else None
        squares = float(np.square(values - mean).sum())
        some = distinct if distinct is not None and len(distinct) <= MOST_LEVELS else None
        zeros = int(np.count_nonzero(values == 0.0))
        return cls(len(values), mean, squares, float(values.min()), float(values.max()), zeros, some)

    def merge(self, other: ValueSums) -> ValueSums:
        """Of both sets of rows."""
        rows = self.rows + other.rows
        step, share = other.mean - self.mean, other.rows / max(rows, 1)
        return ValueSums(
            rows,
            self.mean + step * share,
            self.squares + other.squares + step * step * self.rows * share,
            min(self.low, other.low),
            max(self.high, other.high),
            self.zeros + other.zeros,
            _distinct(self.distinct, other.distinct),
        )


@dataclass(frozen=True, eq=False)
class SumValues(Mergeable):
    """The values of the log, and of the log drawn at random where it is compared."""

    log: ValueSums
    mcar: ValueSums | None


@dataclass(frozen=True)
class AskValues:
    """Asks for the moments of the values."""

    compared: bool

    def __call__(self, part: AuditPart) -> SumValues:
        """Of one part."""
        other = ValueSums.of(present(present(part.mcar).value)) if self.compared else None
        return SumValues(ValueSums.of(present(part.log.value)), other)


@dataclass(frozen=True, eq=False)
class LevelRows(Mergeable):
    """Rows on each level."""

    rows: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AskLevels:
    """Asks for the rows on each level."""

    grid: ValueLevels

    def __call__(self, part: AuditPart) -> LevelRows:
        """Of one part."""
        return LevelRows(np.bincount(self.grid.place(present(part.log.value)), minlength=len(self.grid)))


class SeenValues(NamedTuple):
    """The values of a log, with the levels and moments that a comparison goes on from."""

    values: Values
    grid: ValueLevels
    sums: SumValues


def values(compared: bool) -> Look[SeenValues]:
    """Look at the values; with those of the log drawn at random, where it is compared, on common levels."""
    sums: SumValues = yield AskValues(compared)
    both = {"value": sums.log} | ({} if sums.mcar is None else {"mcar": sums.mcar})
    distinct = sums.log.distinct if sums.mcar is None else _distinct(sums.log.distinct, sums.mcar.distinct)
    if distinct is not None:
        grid, at = ValueLevels(True, distinct), []
    else:
        places = {name: places_of(ENDS, each.rows) for name, each in both.items()}
        places["value"] += places_of(QUANTILES.values(), sums.log.rows)
        found = yield from at_places(places)
        at = found["value"][len(ENDS) :]
        low, high = (choose(each[end] for each in found.values()) for end, choose in ((0, min), (1, max)))
        if not low < high:  # nearly all rows have one value
            low, high = min(each.low for each in both.values()), max(each.high for each in both.values())
        grid = ValueLevels.bins(low, high)
    levels: LevelRows = yield AskLevels(grid)
    return SeenValues(_described(sums.log, grid, levels.rows, at), grid, sums)


def _described(sums: ValueSums, grid: ValueLevels, placed: npt.NDArray[np.int64], at: list[float]) -> Values:
    """Mean, spread, quantiles and the rows on each level."""
    number: list[int] = placed.tolist()
    constant = sums.low == sums.high
    return Values(
        mean=sums.low if constant else sums.mean,
        sd=0.0 if constant else math.sqrt(sums.squares / sums.rows),
        minimum=sums.low,
        maximum=sums.high,
        quantiles=dict(zip(QUANTILES, _of_levels(grid.edges, placed) if grid.single else at, strict=True)),
        distinct=sum(n > 0 for n in number) if grid.single else None,
        zeros=sums.zeros / sums.rows,
        levels=tuple(Level(*ends, n) for ends, n in zip(grid.bounds(), number, strict=True)),
    )


@dataclass(frozen=True, eq=False)
class SideSums(Mergeable):
    """Rows and Σ y of some rows."""

    rows: int
    total: float

    @classmethod
    def of(cls, values: Floats) -> SideSums:
        """Of some rows."""
        return cls(len(values), float(values.sum()))

    @property
    def mean(self) -> float:
        """The mean value."""
        return self.total / self.rows


@dataclass(frozen=True, eq=False)
class ClusteredError(Mergeable):
    """Σ e_u² over some users, and how many of them have rows."""

    squares: float
    users: int

    @classmethod
    def of(cls, e: Floats, present: npt.NDArray[np.bool_]) -> ClusteredError:
        """From what every user adds."""
        return cls(float(e @ e), int(np.count_nonzero(present)))

    @property
    def se(self) -> float | None:
        """The standard error; ``None`` with fewer than two users."""
        return math.sqrt(self.users / (self.users - 1) * self.squares) if self.users > 1 else None


def influence(values: Floats, side: SideSums, user: Codes, users: int) -> Floats:
    """What every user adds to the error of the mean of a side, some of whose rows these are."""
    return np.bincount(user, weights=values - side.mean, minlength=users) / side.rows


def _of_levels(levels: Floats, number: npt.NDArray[np.int64]) -> list[float]:
    """The same quantiles from the rows on single values."""
    below, rows = np.cumsum(number), int(number.sum())
    return [float(levels[np.searchsorted(below, max(math.ceil(q * rows), 1))]) for q in QUANTILES.values()]


def places_of(at: Iterable[float], rows: int) -> list[int]:
    """The places, in ascending order, of the least values below or at which these shares of the rows lie."""
    return [max(math.ceil(q * rows) - 1, 0) for q in at]
