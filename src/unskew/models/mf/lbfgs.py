"""All unknowns at once, by limited-memory BFGS (Byrd et al. 1995): the solver of schnabel16, set as in its code.

The absolute error has no slope at 0, and steps along a subgradient soon get stuck there, well above the minimum. So
|x| is rounded off at a falling edge, and each stage begins where the last one ended.
"""

from __future__ import annotations

import numpy as np

from unskew.log.log import Floats
from unskew.models.mf.problem import MFParameters, Problem
from unskew.models.mf.solving import EDGE, Effort, Solved

ROUNDS = 2000
MEMORY = 50
EDGES = (1.0, 0.1, EDGE)


def lbfgs(problem: Problem, start: MFParameters, effort: Effort) -> Solved:
    """Minimise from a start; ``rounds`` counts all stages together."""
    from scipy.optimize import minimize

    cut, width = start.user.size, problem.dim + 1

    def unpack(flat: Floats) -> MFParameters:
        return MFParameters(flat[:cut].reshape(-1, width), flat[cut:-1].reshape(-1, width), float(flat[-1]))

    def pack(factors: MFParameters) -> Floats:
        return np.concatenate([factors.user.ravel(), factors.item.ravel(), [factors.level]])

    def judge(flat: Floats, edge: float) -> tuple[float, Floats]:
        value, slope = problem.objective(unpack(flat), edge)
        return value, pack(slope)

    def note(flat: Floats) -> None:
        history.append(problem.objective(unpack(flat))[0])
        if effort.progress is not None:
            effort.progress(len(history), history[-1])

    flat, converged = pack(start), False
    history: list[float] = []
    for edge in EDGES if problem.loss == "absolute" else (0.0,):
        left = effort.rounds - len(history)
        if left < 1:
            return Solved(unpack(flat), history, converged=False)
        limits = {"maxiter": left, "maxfun": 10 * left, "maxcor": MEMORY}
        options = {**limits, "ftol": effort.tolerance, "gtol": effort.tolerance}
        found = minimize(judge, flat, (edge,), "L-BFGS-B", jac=True, options=options, callback=lambda x: note(x))
        flat, converged = np.asarray(found.x), bool(found.success)
    return Solved(unpack(flat), history, converged)
