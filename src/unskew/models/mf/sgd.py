"""Stochastic gradient descent: one rating at a time (``kernels/descent.py``); an epoch costs n·d, not n·d².

    r_u = κ_t · q / Σ weights of the row's ratings,      κ_t = κ / (1 + t/h) after t epochs

is the step size of a row: rated often or seldom, lightly or heavily, it can go as far in an epoch as any other. q is 1
for the squared error and the mean of |y − c| for the absolute one, whose slope does not grow with the error.

After an epoch constants are shared among a_u, b_i and c as in ``als.py``. Its objective is the loss as met on the way,
before each step, which costs nothing, and the penalty at its end; after the last epoch it is computed exactly.
"""

from __future__ import annotations

import os

import numpy as np

from unskew.core.errors import InputError
from unskew.core.threads import Threads
from unskew.kernels import descent as kernel
from unskew.models.mf.als import centre
from unskew.models.mf.problem import MFParameters, Problem
from unskew.models.mf.solving import Effort, Solved
from unskew.models.mf.tiles import Singles, Tiles

ROUNDS = 100
RATE = 20.0  # κ
HALF = 1.0  # h, epochs after which κ is halved


def sgd(problem: Problem, start: MFParameters, effort: Effort) -> Solved:
    """Minimise from a start; a round is an epoch."""
    tiles = Tiles.of(problem.ratings, problem.dim, start.level, effort.seed)
    seen = tuple(sums[:, 0] > 0.0 for sums in tiles.sums)
    unit = 1.0
    if problem.loss != "squared":  # the weighted mean of |y − c|; 1 if all ratings are c
        unit = float(np.average(np.abs(tiles.value), weights=tiles.weight)) or 1.0
    packed = tiles.pack(start)
    live = tiles.view(packed, problem.dim)
    history, converged, last = [np.inf], False, False
    with Threads(min(effort.threads or os.cpu_count() or 1, tiles.groups)) as pool:
        while not last:
            _rates(problem, tiles, packed, RATE * unit / (1.0 + (len(history) - 1) / HALF))
            loss = epoch(problem, tiles, packed, live.level, pool)
            if not np.isfinite(loss):
                raise InputError(
                    "'mf': solver=sgd counts in single precision, and these ratings overflow it; use als.",
                    code="overflow",
                )
            centre(live, seen)
            history.append(loss + problem.penalties(live))
            converged = abs(history[-2] - history[-1]) <= effort.tolerance * history[-1]
            last = converged or len(history) > effort.rounds
            if last:
                factors = tiles.unpack(packed, problem.dim, live.level)
                history[-1] = problem.objective(factors)[0]
            if effort.progress is not None:
                effort.progress(len(history) - 1, history[-1])
    return Solved(factors, history[1:], converged)


def epoch(problem: Problem, tiles: Tiles, packed: tuple[Singles, Singles], level: float, pool: Threads) -> float:
    """Meet every rating once, diagonal after diagonal; gives back Σ weight·δ as met before steps."""
    descend, groups, shift = kernel.descender(problem.dim), tiles.groups, np.float32(level - tiles.level)
    ratings = tiles.user, tiles.item, tiles.value, tiles.weight
    free, absolute = problem.offsets == "free", problem.loss == "absolute"

    def work(row: int, column: int) -> float:
        first, last = tiles.ends[row * groups + column : row * groups + column + 2]
        corner = row * tiles.rows[0], column * tiles.rows[1]
        return float(descend(first, last, *ratings, *packed, *corner, shift, free, absolute))

    rows = range(groups)
    met = [sum(pool.map(work, rows, [(row + diagonal) % groups for row in rows])) for diagonal in rows]
    return sum(met) * tiles.unit


def _rates(problem: Problem, tiles: Tiles, packed: tuple[Singles, Singles], kappa: float) -> None:
    """Write the step size of every row, and the part of it that a rating's share of the penalty keeps."""
    for rows, sums in zip(packed, tiles.sums, strict=True):
        count, total = np.maximum(sums[:, 0], 1.0), np.where(sums[:, 1] > 0.0, sums[:, 1], np.inf)
        rows[:, problem.dim + 1] = kappa / total
        rows[:, problem.dim + 2] = 1.0 / (1.0 + 2.0 * problem.penalty / tiles.unit * kappa / total / count)
