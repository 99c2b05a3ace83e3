"""The log held against the answers: its propensities, and how much of popularity may come from exposure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unskew.alignment.align import Aligned
from unskew.engine.plan import EvaluationPlan
from unskew.estimators import Need
from unskew.evaluation.request import Request
from unskew.judging.log_and_answers import LogAndAnswers, activity
from unskew.judging.path_range import SPLIT, PathRange, path_range
from unskew.judging.propensity_check import PropensityCheck, check_propensity
from unskew.kernels.arrays import Floats, Ints64
from unskew.log import Log
from unskew.propensity.crossfit import pair_folds


class AgainstAnswers(NamedTuple):
    """What answers say of what the log rests on; ``None`` where nothing rests on it."""

    propensity: PropensityCheck | None = None
    path: PathRange | None = None


def against_answers(request: Request, aligned: Aligned, plan: EvaluationPlan, rounds: int) -> AgainstAnswers:
    """Compare what the log and the answers say of the same pairs, where both are there."""
    needs = [run.estimator.needs(run.target) for run in plan.runs + plan.points]
    weighs = aligned.held.propensity is not None and any(Need.PROPENSITY in each for each in needs)
    counts = any(Need.COUNTS in each for each in needs) and aligned.train is not None
    if aligned.joined is None or not (weighs or counts):
        return AgainstAnswers()
    both, train = LogAndAnswers.of(aligned, max(run.depth for run in plan.runs + plan.points)), aligned.train
    checked, path = None, None
    if weighs:
        checked = check_propensity(
            str(aligned.propensity),
            both,
            aligned.seen_counts,
            None if train is None or not _per_item(aligned) else _groups(aligned, train),
            absolute=not aligned.held.relative,
        )
    if counts and train is not None:
        error = SPLIT * (1.0 - request.level) / rounds
        path = path_range(both, _halves(aligned, train), _groups(aligned, train), error)
    return AgainstAnswers(checked, path)


def _per_item(aligned: Aligned) -> bool:
    """Whether propensities leave out how much each user is shown."""
    model = aligned.propensity
    return aligned.held.relative and model is not None and model.of_items(aligned.items) is not None


def _groups(aligned: Aligned, train: Log) -> Ints64:
    """Users by activity."""
    return activity(train, aligned.users.into(train.users).astype(np.int64), aligned.rows.user.astype(np.int64))


def _halves(aligned: Aligned, train: Log) -> tuple[Floats, Floats]:
    """Training rows of each item, in two halves by a hash of the pair."""
    item, half = train.items.into(aligned.items)[train.item], pair_folds(train, 2)
    first, second = (np.bincount(item[half == h], minlength=len(aligned.items)).astype(np.float64) for h in (0, 1))
    return first, second
