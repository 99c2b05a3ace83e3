"""What the solvers share: when to stop, whom to tell, and blocks of rows for threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from unskew.models.mf.problem import MFParameters
from unskew.threads import Threads

BLOCK = 256  # rows that one task solves: fixed, so that the number of threads changes nothing
EDGE = 0.01  # ε at which the absolute error is rounded off in the end: at most ε/2 of error per rating

Each = Callable[[int, Callable[[int, int], object]], None]
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


@dataclass(frozen=True, eq=False)
class Solved:
    """The factors, and the objective after every round."""

    factors: MFParameters
    history: list[float]
    converged: bool


@contextmanager
def workers(threads: int | None) -> Iterator[Each]:
    """``each(rows, work)`` calls ``work(first, last)`` for blocks of rows, side by side."""
    count = threads or os.cpu_count() or 1

    def bounds(rows: int) -> tuple[range, list[int]]:
        starts = range(0, rows, BLOCK)
        return starts, [min(start + BLOCK, rows) for start in starts]

    def alone(rows: int, work: Callable[[int, int], object]) -> None:
        for first, last in zip(*bounds(rows), strict=True):
            work(first, last)

    def together(rows: int, work: Callable[[int, int], object]) -> None:
        for _ in pool.map(work, *bounds(rows)):
            pass

    if count == 1:
        yield alone
    else:
        with Threads(count) as pool:
            yield together
