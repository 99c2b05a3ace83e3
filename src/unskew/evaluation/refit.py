"""Refitting inside the bootstrap: intervals that know that propensities were estimated.

Intervals that take an estimated propensity as known are too narrow when the training log is small. Here every replicate
draws its users once, for the training log and the test log alike (a user has the same weight in both), fits the
propensity anew on the drawn training users, and recomputes all columns. Strata edges and clips stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unskew.engine.memory import Progress, weighted_sums
from unskew.engine.plan import Plan
from unskew.errors import InputError
from unskew.evaluation.align import Aligned
from unskew.evaluation.rows import in_test_part
from unskew.evaluation.rules import Rules
from unskew.inference.bootstrap import user_weights
from unskew.propensity import Side

Floats = npt.NDArray[np.float64]


def refit_replicates(
    aligned: Aligned,
    plan: Plan,
    side: Side,
    rules: Rules,
    *,
    replicates: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> Floats:
    """Bootstrap column sums, (replicates, columns), each under propensities fitted on its own draw of users."""
    model, held, train = aligned.propensity, aligned.held, aligned.train
    if model is None or not model.estimated or train is None:
        raise InputError(
            "--refit fits estimated propensities anew in every replicate: it needs a propensity that is fitted, and "
            "the training log (--train) that it is fitted on."
        )
    sums = []
    for b in range(replicates):
        drawn = model.fit(train, side, user_weights(train.users.hashes, seed, b))
        rows = in_test_part(drawn.of(aligned.rows).rows, drawn, aligned.rows, rules)
        there = np.isfinite(rows)
        again = replace(
            held,
            propensity=np.where(there, rows, 1.0),
            value=np.where(there, held.value, 0.0),
            q=None if held.q is None else np.where(there, held.q, 0.0),
        )
        sums.append(weighted_sums(again, plan.arms, user_weights(held.hashes, seed, b), threads=threads))
        if progress is not None:
            progress(b + 1, replicates)
    return np.array(sums)
