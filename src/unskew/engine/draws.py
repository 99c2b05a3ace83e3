"""Samples of the held-out rows: which rows each draw keeps, and the average of what users bring over all draws.

A draw is a mark per row; rows are not copied beyond a block of users. Every draw fills the users' columns as if its
rows were all there are, and the columns are averaged (``inference/draw_error.py`` says what else is summed, and why).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from unskew.engine.data import EvaluationData, Ranked, empty_columns
from unskew.estimators import Batch
from unskew.inference.draw_error import DrawSums
from unskew.kernels.arrays import Bools, Floats
from unskew.log.order import starts_of
from unskew.sampling.repeated_draws import DRAWN, LARGER, SMALLER

T = TypeVar("T")
Fill = Callable[[Batch, Sequence[Ranked], Floats], T]  # fills the columns of a batch of users


def averaged(
    held: EvaluationData, low: int, high: int, batch: Batch, ranked: Sequence[Ranked], width: int, fill: Fill[T]
) -> tuple[Floats, list[T], DrawSums | None]:
    """The columns of the users ``low`` … ``high − 1``, averaged over the draws, and what ``fill`` said of every draw.

    Without draws the rows are taken as they are, once.
    """
    if held.draws is None:
        x = empty_columns(batch.users, width)
        return x, [fill(batch, ranked, x)], None
    marks = held.draws.marks[:, held.indptr[low] : held.indptr[high]]
    x, own = empty_columns(batch.users, width), empty_columns(batch.users, width)
    x[:] = 0.0
    totals, change, found = np.empty((len(marks), width)), np.zeros(width), []
    for n, mark in enumerate(marks):
        found.append(fill(*_kept(batch, ranked, mark >= DRAWN), own))
        x += own
        totals[n] = own.sum(axis=0)
        for least, sign in ((LARGER, 1.0), (SMALLER, -1.0)) if held.draws.span else ():
            fill(*_kept(batch, ranked, mark >= least), own)
            change += sign * own.sum(axis=0)
    x /= len(marks)
    excess = held.draws.excess[low:high]
    sums = DrawSums(excess @ x, float(excess.sum()), change / len(marks), totals, held.draws.span, held.draws.squares)
    return x, found, sums


def _kept(batch: Batch, ranked: Sequence[Ranked], keep: Bools) -> tuple[Batch, list[Ranked]]:
    """Some of the rows of a batch, and what the models say of them."""
    part = batch.of_rows(keep, starts_of(keep)[batch.indptr])
    theirs = [
        replace(model, rank=model.rank[keep], predicted=None if model.predicted is None else model.predicted[keep])
        for model in ranked
    ]
    return part, theirs
