"""Propensities and what they cost: the log's own column, and the effective sample size to expect.

    ess = (Σ r)² / Σ r²,  r = y/P over the rows that count       as many equally weighted rows would be as noisy

The expectation is a rehearsal, not a formula: the log is split at random (30 % held out, seed 0, by ``split.holdout``),
popularity is counted on the training part, and the weights of snips on the held-out part are summed up, exactly as an
evaluation would. Under ``per_user`` each user's weights are divided by their sum first. What these weights do to
intervals depends on the lists that are judged: ``widths`` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.auditing.looks import HELD_OUT, AuditPart, Look
from unskew.auditing.order import at_places
from unskew.auditing.spread import Bins, Floats
from unskew.auditing.values import QUANTILES, places_of
from unskew.estimators import Target
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Bools, Ints64, present
from unskew.log import Log
from unskew.propensity import Popularity, part_propensity

GAMMA = 1.0  # popularity is exposure, all of it: counts are proportional to P


@dataclass(frozen=True)
class Propensities:
    """The log's own propensities.

    Args:
        minimum, maximum, quantiles: their range.
        below_1_percent, below_1_per_mille: shares of the rows.
        ess, ess_share, largest_weight: of 1/P over all rows: the effective number, as a share of the rows, and the
            share of the largest weight in their sum.
        implied_pairs: Σ 1/P, which estimates the number of pairs that could have been seen; Σ 1/(P·share) in a random
            part of a split log.
        pairs: users × items of the log.
        histogram: rows by propensity, on bins that double.
        estimated_by: who estimated them, where they were not logged when pairs were shown.
    """

    minimum: float
    maximum: float
    quantiles: Mapping[str, float]
    below_1_percent: float
    below_1_per_mille: float
    ess: float
    ess_share: float
    largest_weight: float
    implied_pairs: float
    pairs: int
    histogram: Bins
    estimated_by: str = ""

    @property
    def constant(self) -> bool:
        """Whether they are the same in every row, and correct nothing."""
        return self.minimum == self.maximum


@dataclass(frozen=True)
class Expected:
    """What snips would have to work with on a random hold-out of 30 %."""

    propensity: str
    target: str
    rows: int
    ess: float
    ess_share: float
    largest_weight: float


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Some weights, relative to the largest of them, so that nothing overflows."""

    rows: int
    largest: float
    total: float
    squares: float

    @classmethod
    def of(cls, weight: Floats) -> WeightSums:
        """Of some rows."""
        largest = float(weight.max(initial=0.0))
        r = weight / largest if largest else weight
        return cls(len(weight), largest, float(r.sum()), float(r @ r))

    def merge(self, other: WeightSums) -> WeightSums:
        """Of both sets of rows."""
        large, small = (self, other) if self.largest >= other.largest else (other, self)
        step = small.largest / large.largest if large.largest else 0.0
        rows, total = large.rows + small.rows, large.total + step * small.total
        return WeightSums(rows, large.largest, total, large.squares + step * step * small.squares)

    @property
    def ess(self) -> float:
        """The effective number of rows."""
        return self.total**2 / self.squares


def _added_bins(a: Ints64, b: Ints64) -> Ints64:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    return long + np.pad(short, (0, len(long) - len(short)))


@dataclass(frozen=True, eq=False)
class PropensitySums(Mergeable):
    """A column of propensities: of 1/P, rows below 1 % and 1 ‰, and rows on bins (2^−k−1, 2^−k], k = 0, 1, …"""

    weights: WeightSums
    below: tuple[int, int]
    bins: Ints64 = merged_by(_added_bins)
    least: float = merged_by(min)
    largest: float = merged_by(max)

    @classmethod
    def of(cls, part: AuditPart) -> PropensitySums:
        """Of one part."""
        p = present(part.log.propensity)
        below = int(np.count_nonzero(p < 0.01)), int(np.count_nonzero(p < 0.001))
        bins = np.bincount(np.clip(np.floor(-np.log2(p)), 0, 40).astype(np.int64))
        return cls(WeightSums.of(1.0 / p), below, bins, float(p.min(initial=np.inf)), float(p.max(initial=0.0)))


def propensities() -> Look[tuple[PropensitySums, list[float]]]:
    """Look at the column of propensities: sums and quantiles."""
    sums: PropensitySums = yield PropensitySums.of
    found = yield from at_places({"propensity": places_of(QUANTILES.values(), sums.weights.rows)})
    return sums, found["propensity"]


def describe(sums: PropensitySums, quantiles: list[float], pairs: int, log: Log) -> Propensities:
    """Describe them; they are those of a whole log where this one is a share of it, so that P·share is its own."""
    weights, rows, share = sums.weights, sums.weights.rows, log.share or 1.0
    return Propensities(
        minimum=sums.least,
        maximum=sums.largest,
        quantiles=dict(zip(QUANTILES, quantiles, strict=True)),
        below_1_percent=sums.below[0] / rows,
        below_1_per_mille=sums.below[1] / rows,
        ess=weights.ess,
        ess_share=weights.ess / rows,
        largest_weight=1.0 / weights.total,
        implied_pairs=min(weights.total / sums.least / share, float(np.finfo(np.float64).max)),
        pairs=pairs,
        histogram=_halving(sums.bins),
        estimated_by=log.estimated_by,
    )


class Rehearsal(NamedTuple):
    """Some rows of a random hold-out, and what snips would weigh its relevant rows by.

    Args:
        test: the held-out rows that are relevant.
        gain: y of these rows.
        weights: by propensity, y/P of these rows up to a constant.
    """

    test: Bools
    gain: Floats
    weights: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class HeldOutRows(Mergeable):
    """A random hold-out.

    Args:
        test, train: rows of both parts; ``relevant_test`` and ``relevant_train`` those that are relevant.
        counts: relevant training rows of every item.
        least: the least known propensity of a held-out relevant row.
    """

    test: int
    train: int
    relevant_test: int
    relevant_train: int
    counts: Ints64
    least: float = merged_by(min)

    @classmethod
    def of(cls, part: AuditPart) -> HeldOutRows:
        """Of one part."""
        log, held_out, counted = part.log, part.held_out, part.gain > 0.0
        test, train = held_out & counted, ~held_out & counted
        counts = np.bincount(log.item[train], minlength=len(log.items))
        least = np.inf if log.propensity is None else float(_part_propensity(log, test).min(initial=np.inf))
        held = int(np.count_nonzero(held_out))
        return cls(held, len(log) - held, int(np.count_nonzero(test)), int(counts.sum()), counts, least)

    @property
    def usable(self) -> bool:
        """Whether there is something to learn from and something to judge by."""
        return bool(self.test and self.train and self.relevant_test and self.relevant_train)


def _part_propensity(log: Log, test: Bools) -> Floats:
    whole = present(log.propensity)[test] * (1.0 if log.share is None else log.share)
    return np.maximum(part_propensity(whole, HELD_OUT, unseen=True), np.finfo(np.float64).tiny)


def rehearse(part: AuditPart, counted: HeldOutRows) -> Rehearsal:
    """The held-out rows of some users with their weights, popularity counted on all training rows."""
    log, test = part.log, part.held_out & (part.gain > 0.0)
    y, weights = part.gain[test], {}
    if log.propensity is not None:
        weights["known"] = y * (counted.least / _part_propensity(log, test))
    model = Popularity(gamma=GAMMA, items=log.items, counts=counted.counts.astype(np.float64))
    weights[str(model)] = y / model.of_items(log.items)[log.item[test]]
    return Rehearsal(test, y, weights)


def effective(rehearsal: Rehearsal, user: npt.NDArray[np.int32]) -> dict[tuple[str, Target], WeightSums]:
    """Weights of the held-out rows of some users, per user and pooled; rows of a user stand together."""
    starts = np.flatnonzero(np.diff(user, prepend=-1))
    sizes, found = np.diff(np.append(starts, len(user))), {}
    for name, weight in rehearsal.weights.items():
        inside = weight / np.repeat(np.add.reduceat(weight, starts), sizes) if len(user) else weight
        found[name, Target.PER_USER] = WeightSums.of(inside)
        found[name, Target.POOLED] = WeightSums.of(weight)
    return found


def expected(found: Mapping[tuple[str, Target], WeightSums]) -> tuple[Expected, ...]:
    """Effective sample sizes of a rehearsed hold-out."""
    return tuple(
        Expected(propensity, target, sums.rows, sums.ess, sums.ess / sums.rows, 1.0 / sums.total)
        for (propensity, target), sums in found.items()
    )


def _halving(number: Ints64) -> Bins:
    """Rows by propensity on bins (2^−k−1, 2^−k]; the last holds everything below 2^−40."""
    lowest = int(np.flatnonzero(number).min())
    number = number[lowest:]
    ends = 2.0 ** -np.arange(lowest, lowest + len(number), dtype=np.float64)
    return Bins(tuple((ends / 2.0)[::-1].tolist()), tuple(ends[::-1].tolist()), tuple(number[::-1].tolist()))
