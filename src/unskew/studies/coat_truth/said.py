"""What a call says of each pair of models, at two levels.

Unadjusted, each pair by itself: the difference is beyond 1.96 standard errors. Over scenarios (the exposure path) it
must be so, on the same side, in every one of them; where it is so in some only, it depends. Simultaneous: the verdict
as the result words it, with one level over all pairs of models and every check that may withhold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew import estimators
from unskew.log.log import Floats
from unskew.result import Result, Verdict

WORDS = {"ahead": 1.0, "better": 1.0, "behind": -1.0, "worse": -1.0}
CRITICAL = 1.96


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a row says of each pair of models, and of each model.

    Args:
        z: the difference in standard errors; of a path the least of its points, 0 where their signs differ.
        open: whether some points of a path, but not all, are beyond 1.96 on the same side.
        word: 1 ahead or better, −1 behind or worse, 0 otherwise, as the result words it.
        depends: whether it says so.
        low, high: the interval of each model.
    """

    z: Floats
    open: Floats
    word: Floats
    depends: Floats
    low: Floats
    high: Floats


def said(result: Result, metric: str, row: tuple[str, str], points: Sequence[str] = ()) -> Pairs:
    """The verdicts of one metric, estimator and target, pair by pair."""
    estimator, target = str(estimators.make(row[0])), row[1]

    def of(name: str) -> list[Verdict]:
        return [v for v in result.verdicts_ if (v.metric, v.estimator, str(v.target)) == (metric, name, target)]

    verdicts = of(estimator)
    z = np.array([[_z(v) for v in of(str(estimators.make(point)))] for point in points or (row[0],)])
    low, high = z.min(axis=0), z.max(axis=0)
    least = np.where(low > 0.0, low, np.where(high < 0.0, high, 0.0))
    beyond = (np.abs(z) > CRITICAL).any(axis=0) & (np.abs(least) <= CRITICAL)
    rows = [e for e in result.estimates if (e.metric, e.estimator, str(e.target)) == (metric, estimator, target)]
    return Pairs(
        least,
        beyond.astype(np.float64),
        np.array([WORDS.get(v.verdict, 0.0) for v in verdicts]),
        np.array([float(v.verdict == "depends") for v in verdicts]),
        np.array([e.low for e in rows]),
        np.array([e.high for e in rows]),
    )


def _z(verdict: Verdict) -> float:
    return verdict.difference / verdict.se if verdict.se > 0.0 else 0.0
