"""Sums over several samples of the rows, as everything else reads them: wider moments, and counts of one sample.

How wide, and why: ``inference/draw_error.py``. Tallies of weights and numbers of rows and hits are averages over the
samples, rounded: what one sample of this size holds.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unskew.engine.plan import Cell, EvaluationPlan
from unskew.engine.sums import Sums
from unskew.inference.draw_error import DrawSums
from unskew.inference.tally import Carried, Tally
from unskew.kernels.arrays import Floats


def over_draws(sums: Sums, plan: EvaluationPlan) -> Sums:
    """The sums of a plan whose rows are sampled; as they are where no rows are."""
    found = sums.draws
    if found is None:
        return sums
    moments = tuple(
        replace(each, more=found.spread(cell.columns, each.mean))
        for each, cell in zip(sums.moments, plan.cells, strict=True)
    )
    return replace(
        sums,
        moments=moments,
        tallies=tuple(_tally(each, found.draws) for each in sums.tallies),
        carried=tuple(_carried(each, found.draws) for each in sums.carried),
        extent=replace(sums.extent, rows=round(sums.extent.rows / found.draws)),
    )


def draw_errors(draws: DrawSums | None, cell: Cell) -> Floats | None:
    """Of each model's standard error the part that more samples would take off; ``None`` where it is not known."""
    if draws is None or draws.draws < 2:
        return None
    values = cell.form.values(draws.totals[:, cell.columns])
    return np.asarray(np.std(values, axis=0, ddof=1) / math.sqrt(draws.draws))


def _tally(whole: Tally, draws: int) -> Tally:
    bins = np.rint(whole.bins / draws).astype(np.int64)
    counts = {name: round(getattr(whole, name) / draws) for name in ("pairs", "raised", "idle")}
    return replace(whole, total=whole.total / draws, squares=whole.squares / draws, bins=bins, **counts)


def _carried(whole: Carried, draws: int) -> Carried:
    total, squares, largest, pairs = np.moveaxis(whole.sums, -1, 0)
    return Carried(np.stack([total / draws, squares / draws, largest, np.rint(pairs / draws)], axis=-1))
