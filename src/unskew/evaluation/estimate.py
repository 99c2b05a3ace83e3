"""Values with intervals and how they vary together, and no verdicts: many models and estimators then cost little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import Refusal
from unskew.evaluation.conclude import setting_of
from unskew.evaluation.read import read
from unskew.evaluation.request import Request
from unskew.evaluation.run import settle
from unskew.judging.answer import estimates_of
from unskew.judging.measure import measure
from unskew.kernels.arrays import Floats
from unskew.result import Estimate


class Estimates(NamedTuple):
    """What an evaluation estimates.

    Args:
        rows: as ``Result.estimates`` has them.
        values, covariances: of the models, by cell (metric, estimator, target) in the order of the rows.
        refused: which cells were refused.
    """

    rows: tuple[Estimate, ...]
    values: tuple[Floats, ...]
    covariances: tuple[Floats, ...]
    refused: tuple[Refusal, ...]


def estimate(test: Any, models: Mapping[str, Any], **options: Any) -> Estimates:
    """What ``evaluate`` estimates with these options, without a verdict.

    Args:
        test: the held-out log.
        models: name → lists, as in ``evaluate``.
        options: of ``evaluate``.
    """
    request = Request.of(test, models, **options)
    inputs = read(request, _silent)
    settled = settle(request, inputs, _silent)
    engine = MemoryEngine(settled.aligned.held, request.threads)
    found = measure(engine, settled.plan, setting_of(settled.request, settled.aligned, engine, inputs.rules))
    cells = found.sums.moments
    return Estimates(
        tuple(estimates_of(found)),
        tuple(cell.values for cell in cells),
        tuple(cell.covariance for cell in cells),
        settled.refusals,
    )


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody waits long for sums alone."""
