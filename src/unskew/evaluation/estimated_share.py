"""The share of popularity that comes from exposure, where a random sample tells it: shown on the path, no evidence.

Positives alone do not tell it. Where the training log holds positives only and a log seen at random was given, the
exponent a of P ∝ n^a is estimated as for ``popularity(gamma=estimate)`` (``propensity/exponent.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from unskew.errors import InputError
from unskew.estimators.exposure_path import SHARE
from unskew.log import Feedback, Log
from unskew.propensity import FitInputs
from unskew.propensity.popularity import ESTIMATE, Popularity
from unskew.result import ScenarioTable


def with_estimate(tables: Iterable[ScenarioTable], train: Log | None, side: FitInputs) -> tuple[ScenarioTable, ...]:
    """The tables of the exposure path with the estimated share, where there is one."""
    found = tuple(tables)
    if not any(_on_path(table) for table in found):
        return found
    share = _estimate(train, side)
    return tuple(replace(table, estimated=share) if _on_path(table) else table for table in found)


def _on_path(table: ScenarioTable) -> bool:
    return table.axes == (SHARE.name,)


def _estimate(train: Log | None, side: FitInputs) -> float | None:
    """a; ``None`` without a random sample, or where the sample is too small or follows no power."""
    if train is None or side.mcar is None or train.feedback is not Feedback.IMPLICIT:
        return None
    try:
        slope = Popularity(gamma=ESTIMATE).fit(train, inputs=side).slope
    except InputError:
        return None
    return None if slope is None else slope.value
