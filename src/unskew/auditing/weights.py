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

from unskew.auditing.spread import Bins, Floats
from unskew.auditing.values import QUANTILES, quantiles
from unskew.errors import InputError
from unskew.estimators import Target
from unskew.log import Log
from unskew.propensity import Popularity, part_propensity
from unskew.split import holdout

HELD_OUT, SEED = 0.3, 0
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


@dataclass(frozen=True)
class Expected:
    """What snips would have to work with on a random hold-out of 30 %."""

    propensity: str
    target: str
    rows: int
    ess: float
    ess_share: float
    largest_weight: float


def propensities(p: Floats, pairs: int, share: float = 1.0) -> Propensities:
    """Describe a column of propensities; of a whole log where this one is a part of it, so that P·share is its own."""
    low = float(p.min())
    r = low / p  # relative to the largest weight, so that nothing overflows
    return Propensities(
        minimum=low,
        maximum=float(p.max()),
        quantiles=dict(zip(QUANTILES, quantiles(p, QUANTILES.values()), strict=True)),
        below_1_percent=float(np.mean(p < 0.01)),
        below_1_per_mille=float(np.mean(p < 0.001)),
        ess=_ess(r),
        ess_share=_ess(r) / len(p),
        largest_weight=float(1.0 / r.sum()),
        implied_pairs=min(float(r.sum()) / low / share, float(np.finfo(np.float64).max)),
        pairs=pairs,
        histogram=_halving(p),
    )


class Rehearsal(NamedTuple):
    """A random hold-out, and what snips would weigh its relevant rows by.

    Args:
        held_out: a mask over all rows.
        test: the held-out rows that are relevant.
        gain: y of these rows.
        counts: relevant training rows of every item.
        weights: by propensity, y/P of these rows up to a constant.
    """

    held_out: npt.NDArray[np.bool_]
    test: npt.NDArray[np.bool_]
    gain: Floats
    counts: Floats
    weights: Mapping[str, Floats]


def rehearse(log: Log, gain: Floats) -> Rehearsal | None:
    """Hold out 30 %; ``None`` where the log is too small to be split."""
    try:
        held_out = holdout(log, HELD_OUT, seed=SEED).held_out
    except InputError:
        return None
    counted = gain > 0.0
    test, train = held_out & counted, ~held_out & counted
    if not test.any() or not train.any():
        return None
    y = gain[test]
    counts = np.bincount(log.item[train], minlength=len(log.items)).astype(np.float64)
    weights = {}
    if log.propensity is not None:
        whole = log.propensity[test] * (1.0 if log.share is None else log.share)
        p = np.maximum(part_propensity(whole, HELD_OUT, unseen=True), np.finfo(np.float64).tiny)
        weights["known"] = y * (p.min() / p)
    model = Popularity(gamma=GAMMA, items=log.items, counts=counts)
    weights[str(model)] = y / model.of_items(log.items)[log.item[test]]
    return Rehearsal(held_out, test, y, counts, weights)


def expected(log: Log, rehearsal: Rehearsal | None) -> tuple[Expected, ...]:
    """Effective sample sizes of a rehearsed hold-out."""
    if rehearsal is None:
        return ()
    user = log.user[rehearsal.test]
    return tuple(row for name, weight in rehearsal.weights.items() for row in _sizes(name, weight, user))


def _sizes(propensity: str, weight: Floats, user: npt.NDArray[np.int32]) -> list[Expected]:
    """Pooled and per-user effective sizes of some weights; rows of a user stand together."""
    starts = np.flatnonzero(np.diff(user, prepend=-1))
    sizes = np.diff(np.append(starts, len(user)))
    inside = weight / np.repeat(np.add.reduceat(weight, starts), sizes)
    rows = []
    for target, v in ((Target.PER_USER, inside), (Target.POOLED, weight / weight.max())):
        ess = _ess(v)
        rows.append(Expected(propensity, target, len(v), ess, ess / len(v), float(v.max() / v.sum())))
    return rows


def _ess(weight: Floats) -> float:
    return float(weight.sum() ** 2 / (weight @ weight))


def _halving(p: Floats) -> Bins:
    """Rows by propensity on bins (2^−k−1, 2^−k]; the last holds everything below 2^−40."""
    place = np.clip(np.floor(-np.log2(p)), 0, 40).astype(np.int64)
    number = np.bincount(place)
    k = np.flatnonzero(number)
    lowest = int(k.min())
    number = number[lowest:]
    ends = 2.0 ** -np.arange(lowest, lowest + len(number), dtype=np.float64)
    return Bins(tuple((ends / 2.0)[::-1].tolist()), tuple(ends[::-1].tolist()), tuple(number[::-1].tolist()))
