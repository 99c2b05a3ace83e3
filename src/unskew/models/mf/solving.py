"""What the solvers share: when to stop, how to report progress, and what they give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from unskew.models.mf.problem import MFParameters

EDGE = 0.01  # ε at which the absolute error is rounded off in the end: at most ε/2 of error per rating

Progress = Callable[[int, float], object]


@dataclass(frozen=True)
class Effort:
    """How long to try.

    Args:
        rounds: sweeps or iterations at most.
        tolerance: stop when a round changes the objective by less than this share.
        progress: called with the number of the round and the objective after it.
        threads: one per core by default; the numbers do not depend on it.
        seed: of the order in which ratings are met (``sgd``).
    """

    rounds: int
    tolerance: float = 1e-5
    progress: Progress | None = None
    threads: int | None = None
    seed: int = 0


class Solved(NamedTuple):
    """The factors, and the objective after every round."""

    factors: MFParameters
    history: list[float]
    converged: bool
