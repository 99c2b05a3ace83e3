"""Refitting inside the bootstrap: intervals that know that propensities were estimated.

Intervals that take an estimated propensity as known are too narrow when the training log is small. Here every replicate
draws its users once, for the training log, the test log and a log seen at random alike (a user has the same weight in
all), fits the propensity anew a step towards the drawn users, and recomputes all columns (``inference/steps.py``).
Strata edges, clips and what held-out pairs chose (a penalty) stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from unskew.alignment.align import Aligned
from unskew.alignment.inputs import Rules
from unskew.alignment.rows import in_test_part
from unskew.core.errors import InputError
from unskew.engine.engine import Engine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import Progress
from unskew.inference.bootstrap import user_weights
from unskew.inference.steps import prolonged, stepped
from unskew.kernels.arrays import Floats
from unskew.log import Ids
from unskew.propensity import FitInputs


def refit_replicates(
    aligned: Aligned,
    engine: Engine,
    plan: EvaluationPlan,
    side: FitInputs,
    rules: Rules,
    *,
    replicates: int,
    seed: int,
    progress: Progress | None,
) -> list[Floats]:
    """The models' estimates in every replicate, (replicates, models), cell by cell.

    A replicate whose fit is refused (an exponent that its draw does not tell, say) is NaN, and counted as lost.
    """
    fit, refused = _fits(aligned, side, rules), None
    first = engine.first_pass(plan, replicates=replicates, seed=seed)
    assert first.replicates is not None
    near, alike = np.full_like(first.replicates, np.nan), np.full_like(first.replicates, np.nan)
    for b in range(replicates):
        try:
            again = engine.with_propensities(fit(partial(_towards_draw, seed=seed, replicate=b)))
        except InputError as error:
            refused = error
        else:
            near[b] = again.weighted_sums(plan, seed=seed, replicate=b)
            alike[b] = again.weighted_sums(plan)
        if progress is not None:
            progress(b + 1, replicates)
    if refused is not None and np.isnan(near).all():
        raise refused
    found = []
    for cell, moments in zip(plan.cells, first.moments, strict=True):
        values = (cell.form.values(sums[:, cell.columns]) for sums in (first.replicates, near, alike))
        found.append(prolonged(moments.values, *values))
    return found


Weigh = Callable[[Ids], Floats]


def _towards_draw(users: Ids, seed: int, replicate: int) -> Floats:
    """Weights of the users of any of the logs: an id has the same in all."""
    return stepped(user_weights(users.hashes, seed, replicate))


def _fits(aligned: Aligned, side: FitInputs, rules: Rules) -> Callable[[Weigh | None], Floats]:
    """What weights of users make of the propensities of held-out rows, which are fitted anew."""
    model, held, train = aligned.propensity, aligned.held, aligned.train
    if model is None or not model.estimated or train is None or held.propensity is None:
        raise InputError(
            "refit=True fits estimated propensities anew in every replicate: it needs a propensity that is fitted, and "
            "the training log (train=…) that it is fitted on.",
            code="missing-argument",
            argument="train",
        )

    if not model.smooth:
        raise InputError(
            f"refit=True: '{model}' jumps when the weights of users move, and no bootstrap follows the error of such a "
            "curve. Use calibrated(…, method=platt), or leave refit=True out.",
            code="not-supported",
            propensity=str(model),
        )

    settled = model.tuned(train, inputs=side)

    def fit(weigh: Weigh | None) -> Floats:
        drawn = side
        if weigh is not None and side.mcar is not None:
            drawn = replace(side, mcar_weights=weigh(side.mcar.users))
        weights = None if weigh is None else weigh(train.users)
        fitted = settled.copy().fit(train, inputs=drawn, weights=weights)
        return in_test_part(fitted.of(aligned.rows).rows, fitted, aligned.rows, rules)

    if not np.allclose(fit(None), held.propensity, rtol=1e-6, atol=0.0):
        raise InputError(
            "refit=True: the given propensities were not fitted on the training log (train=…), so that fitting "
            "them anew there says nothing of their error. Give that log, or the propensity's string.",
            code="wrong-log",
        )
    return fit
