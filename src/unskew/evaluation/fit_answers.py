"""What ``anchored`` is computed on: the joined log with a guess for every pair, cross-fitted over the answers.

The guess of a pair must not know the pair's own answer, so that models are fitted by folds of pairs (a hash of user and
item, over all candidates). A model that was asked for is fitted to the joined log, as ``dr`` would. By default the log
gives the order and the answers the level: a census model (MATHS §15), fitted to the held-out rows, recalibrated on the
answers. Where the log holds positives only, the answers alone fit a census model if there are enough of them; else q is
their mean, and with fewer than 20 answers that of the log. Logged pairs have P = 1, so that it does not matter what q
says of them. Values over relevant pairs need Σ q over the catalogue: of more pairs than can be walked a sample, whose
error is part of theirs (``outcome/sampled_totals.py``); differences of sums do without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.alignment.align import Aligned
from unskew.alignment.answers import JoinedLog
from unskew.alignment.outcome_check import CheckedPredictions, range_of
from unskew.engine.answers import ANSWERED, ASKED, ORIGIN
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import EvaluationPlan
from unskew.estimators import Target
from unskew.estimators.validity import FEWEST_OUTCOMES
from unskew.kernels.arrays import Floats, present
from unskew.log import Feedback, Log
from unskew.outcome import Outcome, crossfit
from unskew.outcome.recalibrated import Recalibrated
from unskew.outcome.sampled_totals import draws_for, sampled_totals
from unskew.propensity import FitInputs

ADDED_UP, SAMPLED = "guesses_added_up", "a sample"
FOLDS = 5
FEWEST = 20  # answers, by folds of which anything is fitted


@dataclass(frozen=True, eq=False)
class FittedAnswers:
    """The joined rows with the guesses, and what to tell of them, as plain values."""

    data: EvaluationData
    account: dict[str, Any]


def fit_answers(
    given: Outcome | None,
    aligned: Aligned,
    plan: EvaluationPlan,
    side: FitInputs,
    threads: int | None,
) -> FittedAnswers | None:
    """The data of the runs that rest on answers; ``None`` where there are none."""
    joined = aligned.joined
    runs = [run for run in plan.runs if run.joined]
    if joined is None or not runs:
        return None
    rows = joined.rows
    model = fit_guess(given, joined, aligned, side)
    q = model.of(rows)
    value = np.where(
        joined.origin == ASKED, q, present(rows.gain)
    )  # an error of 0: what nobody answered corrects nothing
    totals, draws = any(run.target in (Target.POOLED, Target.SUM_POOLED) for run in runs), 0
    total = None
    if totals:
        draws = draws_for(len(aligned.users), len(aligned.logged))
        about = aligned.users, aligned.logged, aligned.excluded
        total = sampled_totals(model, *about, draws, threads) if draws else model.totals(*about, threads)
    depth = max(run.depth for run in plan.runs)
    listed = ListedPairs(
        aligned.items.into(aligned.logged) >= 0,
        aligned.closed,
        aligned.excluded,
        predict=CheckedPredictions(model, model.bind(aligned.users, aligned.items)),
        depth=depth,
        outcomes=range_of(value),
    )
    held = aligned.held
    data = EvaluationData(
        hashes=held.hashes,
        indptr=rows.indptr,
        item=rows.item,
        value=value,
        propensity=rows.propensity,
        labels={ORIGIN: joined.origin},
        candidates=held.candidates,
        q=q,
        q_total=total,
        relative=False,
        lists=held.lists,
        listed=listed,
    )
    answered = joined.origin == ANSWERED
    account = {
        "guess": str(model),
        "mean_guess": float(np.mean(q[answered])),
        "mean_answer": float(np.mean(value[answered])),
        ADDED_UP: SAMPLED if draws else "all" if totals else None,
    }
    return FittedAnswers(data, account)


def fit_guess(given: Outcome | None, joined: JoinedLog, aligned: Aligned, side: FitInputs) -> Outcome:
    """q of any pair, from models that were fitted without its answer."""
    known = joined.rows.take(joined.origin != ASKED)
    if given is not None:
        if given.fitted:
            return given
        return crossfit(given, known, propensity=known.propensity, inputs=side)
    answers = joined.rows.take(joined.origin == ANSWERED)
    base = _base(aligned)
    if base is None and _enough(answers) and aligned.train is not None:
        from unskew.outcome.census import Census  # with scipy

        return crossfit(Census(), answers, FOLDS, propensity=answers.propensity, inputs=side)
    if len(answers) < FEWEST:
        return _without_answers(aligned)
    return crossfit(Recalibrated(base), answers, FOLDS, propensity=answers.propensity)


def _without_answers(aligned: Aligned) -> Outcome:
    """A constant that no answer enters: the mean of what was logged, and nothing where that holds positives only."""
    gain = present(aligned.rows.gain)
    return Recalibrated(found=(float(gain.mean()) if (gain == 0.0).any() else 0.0, 0.0))


def _base(aligned: Aligned) -> Outcome | None:
    """The census model of the held-out rows, where these and the training rows can carry one."""
    rows = aligned.rows
    if aligned.train is None or aligned.excluded is None or rows.feedback is Feedback.IMPLICIT or not _enough(rows):
        return None
    from unskew.outcome.census import Census

    return Census().fit(rows, inputs=FitInputs(train=aligned.train))


def _enough(rows: Log) -> bool:
    """Whether there are enough pairs of both kinds for a regression on the census features."""
    gain: Floats = np.asarray(rows.gain)
    if not np.isin(gain, (0.0, 1.0)).all():
        return False
    return bool(min(np.count_nonzero(gain), np.count_nonzero(gain == 0.0)) >= FEWEST_OUTCOMES)
