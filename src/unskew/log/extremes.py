"""The least and the largest number of a column: all that tells whether it is the same in every row, in any parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log.log import POSITION, WEIGHT


class Extremes(NamedTuple):
    """The least and the largest number."""

    low: float
    high: float

    @classmethod
    def of(cls, numbers: npt.NDArray[np.float64] | pl.Series | None) -> Extremes | None:
        """Of a column; ``None`` where it is not there, or empty."""
        column = pl.Series([] if numbers is None else numbers, dtype=pl.Float64)
        low, high = column.min(), column.max()
        return None if low is None or high is None else cls(float(low), float(high))  # type: ignore[arg-type]

    @property
    def constant(self) -> bool:
        """Whether every row has the same number."""
        return self.low == self.high

    def merge(self, other: Extremes) -> Extremes:
        """Of both sets of rows."""
        return Extremes(min(self.low, other.low), max(self.high, other.high))


def extremes_in(rows: pl.DataFrame) -> dict[str, Extremes]:
    """Of the columns of a log by which rows may be weighed, and of the places at which items were shown."""
    names = (name for name in (WEIGHT, "propensity", POSITION) if name in rows.columns)
    found = {name: Extremes.of(rows[name].cast(pl.Float64)) for name in names}
    return {name: each for name, each in found.items() if each is not None}


def wider(a: Extremes | None, b: Extremes | None) -> Extremes | None:
    """Of the rows of both, one of which may have none."""
    return a.merge(b) if a is not None and b is not None else b if a is None else a


def merged_extremes(a: Mapping[str, Extremes], b: Mapping[str, Extremes]) -> dict[str, Extremes]:
    """Of the rows of both, by column."""
    return {name: a[name].merge(b[name]) if name in a and name in b else {**a, **b}[name] for name in {**a, **b}}
