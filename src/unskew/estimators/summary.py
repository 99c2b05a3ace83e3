"""A first pass over the propensities, small and mergeable: strata edges and clips come from here in every engine.

Propensities are counted on fixed logarithmic bins (256 to the octave, so a quantile is right to 0.3 %), because
such counts merge over any partition of the rows, while exact quantiles do not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from unskew.kernels.arrays import Floats, Ints32, Ints64, present

_PER_OCTAVE = 256
_OCTAVES = 64
_PIECE = 1 << 16  # numbers that are counted together: what is made of them on the way stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of propensities on fixed bins, with their range."""

    counts: Ints64
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Floats) -> Histogram:
        """Count these propensities."""
        last = _PER_OCTAVE * _OCTAVES
        counts = np.zeros(last + 1, dtype=np.int64)
        for start in range(0, len(numbers), _PIECE):
            place = np.floor(np.log2(numbers[start : start + _PIECE]) * _PER_OCTAVE).astype(np.int64) + last
            counts += np.bincount(np.clip(place, 0, last), minlength=last + 1)
        return cls(counts, float(numbers.min(initial=1.0)), float(numbers.max(initial=0.0)))

    def merge(self, other: Histogram) -> Histogram:
        """The counts of both."""
        return Histogram(self.counts + other.counts, min(self.low, other.low), max(self.high, other.high))

    @property
    def bins(self) -> int:
        """How many bins hold any: at least so many different numbers there are."""
        return int(np.count_nonzero(self.counts))

    def quantiles(self, probabilities: Floats) -> Floats:
        """The lower edges of the bins in which these quantiles fall (below them lies at most that share)."""
        below = np.cumsum(self.counts)
        place = np.searchsorted(below, probabilities * below[-1], side="right")
        return np.asarray(2.0 ** ((place - _PER_OCTAVE * _OCTAVES) / _PER_OCTAVE), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Summary:
    """What an estimator may know before the first batch.

    Args:
        pairs: propensities of the relevant held-out pairs; ``None`` without propensities.
        seen: propensities of all held-out pairs, for averages over pairs.
        levels: per label column, its distinct values as text, in the order of their codes.
        training: the training rows, for shares measured on them.
        counts: how often items were seen in training: each number once, in the order of its code.
    """

    pairs: Histogram | None = None
    levels: Mapping[str, tuple[str, ...]] | None = None
    training: TrainingStrata | None = None
    seen: Histogram | None = None
    counts: Floats | None = None

    @property
    def of_pairs(self) -> Summary:
        """The summary for estimators to which every seen pair counts, relevant or not."""
        return replace(self, pairs=self.seen or self.pairs)


class TrainingStrata(Protocol):
    """The training rows, for shares measured on them, wherever they are."""

    @property
    def weighed(self) -> bool:
        """Whether they have propensities."""

    @property
    def columns(self) -> Collection[str]:
        """The label columns that they have."""

    def by_propensity(self, edges: Floats) -> Ints64:
        """How many rows lie in each stratum between these edges."""

    def by_label(self, column: str, count: int) -> Ints64:
        """How many rows have each of so many labels."""


class TrainingRows(NamedTuple):
    """Training rows in memory: a propensity per row, and codes of label columns."""

    propensity: Floats | None
    labels: Mapping[str, Ints32]

    @property
    def weighed(self) -> bool:
        """Whether they have propensities."""
        return self.propensity is not None

    @property
    def columns(self) -> Collection[str]:
        """The label columns that they have."""
        return self.labels

    def by_propensity(self, edges: Floats) -> Ints64:
        """How many rows lie in each stratum between these edges."""
        place = np.searchsorted(edges, present(self.propensity), side="right")
        return np.bincount(place, minlength=len(edges) + 1)

    def by_label(self, column: str, count: int) -> Ints64:
        """How many rows have each of so many labels."""
        return np.bincount(self.labels[column], minlength=count)
