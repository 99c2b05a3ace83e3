"""What a call says of each pair of models, at two levels.

Unadjusted, each pair by itself: the difference is beyond 1.96 standard errors. Over scenarios (the exposure path) it
must be so, on the same side, in every one of them; where it is so in some only, it depends. Simultaneous: the verdict
as the result words it, with one level over all pairs of models and every check that may withhold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew import Result, estimators
from unskew.result import Verdict
from unskew_papers.arrays import Floats
from unskew_papers.recovery.questions import WORDS, z_of
from unskew_papers.recovery.scores import CRITICAL

HEADLINE = "headline"  # in place of an estimator: nothing is asked for, and the headline's estimator answers


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a row says of each pair of models, and of each model.

    Args:
        z: the difference in standard errors; of scenarios the least of them, 0 where their signs differ.
        open: whether some scenarios, but not all, are beyond 1.96 on the same side.
        word: as the result words it: 1 ahead or better, −1 behind or worse, 2 where it depends, 0 otherwise.
        value, low, high: of each model with its interval, (scenarios, models); one row where there are none.
    """

    z: Floats
    open: Floats
    word: Floats
    value: Floats
    low: Floats
    high: Floats


def said(result: Result, metric: str, row: tuple[str, str], points: Sequence[str] = ()) -> Pairs:
    """The verdicts of one metric, estimator and target, pair by pair."""
    name, target = row
    estimator = str(result.headline()["estimator"]) if name == HEADLINE else str(estimators.make(name))

    def of(name: str) -> list[Verdict]:
        return [v for v in result.verdicts_ if (v.metric, v.estimator, str(v.target)) == (metric, name, target)]

    verdicts = of(estimator)
    z = np.array([[z_of(v) for v in of(point)] for point in points or (estimator,)])
    low, high = z.min(axis=0), z.max(axis=0)
    least = np.where(low > 0.0, low, np.where(high < 0.0, high, 0.0))
    beyond = (np.abs(z) > CRITICAL).any(axis=0) & (np.abs(least) <= CRITICAL)
    return Pairs(
        least,
        beyond.astype(np.float64),
        np.array([float(WORDS.get(v.verdict, 0)) for v in verdicts]),
        *_values(result, (metric, estimator, target)),
    )


def _values(result: Result, cell: tuple[str, str, str]) -> tuple[Floats, Floats, Floats]:
    """The value of every model in every scenario, with its interval."""
    for table in result.scenarios:
        if (table.metric, table.estimator, str(table.target)) == cell:
            value, low, high = (
                np.array([getattr(v, what) for v in table.values]).T for what in ("value", "low", "high")
            )
            return value, low, high
    rows = [e for e in result.estimates if (e.metric, e.estimator, str(e.target)) == cell]
    value, low, high = (np.array([[getattr(e, what) for e in rows]]) for what in ("value", "low", "high"))
    return value, low, high
