"""Passes of the engine in memory, by one call."""

from __future__ import annotations

from typing import Any

from unskew.engine.data import EvaluationData
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sums import Sums


def first_pass(
    held: EvaluationData, plan: EvaluationPlan, *, threads: int | None = None, block: int | None = None, **how: Any
) -> Sums:
    """The first pass, with so many threads and users at once."""
    return MemoryEngine(held, threads, block=block).first_pass(plan, **how)
