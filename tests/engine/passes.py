"""Passes of the engine in memory, by one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unskew.engine.data import EvaluationData
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import Sums, TippingSums


def first_pass(
    held: EvaluationData, plan: EvaluationPlan, *, threads: int | None = None, block: int | None = None, **how: Any
) -> Sums:
    """The first pass, with so many threads and users at once."""
    return MemoryEngine(held, threads, block=block).first_pass(plan, **how)


def second_pass(
    held: EvaluationData,
    pairs: Sequence[ModelPair],
    *,
    threads: int | None = None,
    block: int | None = None,
    **how: Any,
) -> TippingSums:
    """The second pass."""
    return MemoryEngine(held, threads, block=block).second_pass(pairs, **how)
