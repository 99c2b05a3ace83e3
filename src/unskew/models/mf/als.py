"""Alternating least squares: all users given the items, then all items given the users, each row exactly.

    users ← argmin(users | items + β·(items − items before)),   items ← argmin(items | users),   offsets ← centred

β is Nesterov's momentum, begun again whenever the objective rises (Mitchell, Ye & De Sterck 2020, "Nesterov
acceleration of alternating least squares"): it takes a fraction of the sweeps. The absolute error is majorised by
squares at the present residuals (``kernels/ratings.py``) and rounded off at an edge that falls from sweep to sweep.

Of all ways to share a constant among a_u, b_i and c, the one with the least squares is taken after each sweep. It
leaves predictions as they are, and at its fixed point c is optimal, so that c needs no step of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unskew.core.threads import Each, by_blocks
from unskew.kernels import ratings as kernel
from unskew.kernels.gram import padded
from unskew.log.log import Floats
from unskew.models.mf.problem import GroupedRatings, MFParameters, Problem
from unskew.models.mf.solving import EDGE, Effort, Solved

ROUNDS = 100
FIRST_EDGE = 1.0
FALL = 0.8  # of the edge, per sweep


def als(problem: Problem, start: MFParameters, effort: Effort) -> Solved:
    """Minimise from a start; a round is one sweep."""
    sides = problem.ratings.by_user, problem.ratings.by_item
    seen = tuple(np.diff(side.indptr) > 0 for side in sides)
    factors, before, run, converged = start.copy(), start.item, 0, False
    history, edge = [np.inf], FIRST_EDGE if problem.loss == "absolute" else 0.0
    with by_blocks(effort.threads) as each:
        while not converged and len(history) <= effort.rounds:
            given = factors.item + run / (run + 3.0) * (factors.item - before)
            before = factors.item.copy()
            _solve(problem, sides[0], factors.user, given, factors.level, edge, each)
            loss = _solve(problem, sides[1], factors.item, factors.user, factors.level, edge, each)
            centre(factors, seen)
            history.append(loss + problem.penalties(factors))
            run = run + 1 if history[-1] <= history[-2] else 0
            if effort.progress is not None:
                effort.progress(len(history) - 1, history[-1])
            settled = edge <= EDGE
            edge = edge if settled else max(EDGE, FALL * edge)
            converged = settled and abs(history[-2] - history[-1]) <= effort.tolerance * history[-1]
    return Solved(factors, history[1:], converged)


def _solve(
    problem: Problem, side: GroupedRatings, own: Floats, other: Floats, level: float, edge: float, each: Each
) -> float:
    """Renew one side given the other; gives back Σ weight·δ."""
    design = np.zeros((len(other), padded(problem.dim + 2)))
    design[:, : problem.dim] = other[:, :-1]
    design[:, problem.dim] = 1.0
    design[:, problem.dim + 1] = other[:, -1] + level
    loss = np.empty(len(own))
    rest = (*side.columns, own, design, problem.penalty, problem.ridge, edge, loss)
    each(len(own), lambda first, last: kernel.solve_rows(first, last, *rest))
    return float(loss.sum())


def centre(factors: MFParameters, seen: tuple[npt.NDArray[np.bool_], ...]) -> None:
    """Share the constants: Σa² + Σb² + c² is least where Σa = Σb = c (rows without ratings stay 0)."""
    rows = factors.user, factors.item
    counts = [int(np.count_nonzero(there)) for there in seen]
    sums = [float(side[:, -1].sum()) for side in rows]
    level = factors.level + sum(total / count for total, count in zip(sums, counts, strict=True))
    level /= 1.0 + sum(1.0 / count for count in counts)
    for side, there, total, count in zip(rows, seen, sums, counts, strict=True):
        side[there, -1] -= (total - level) / count
    factors.level = level
