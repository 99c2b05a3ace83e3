"""The outcome model of one evaluation: fitted to the held-out rows by folds of pairs, and asked about listed pairs.

A model that has seen what a pair yielded takes the correction of the doubly robust estimator away, so by default q of a
pair comes from a model that was fitted without it. What was fitted elsewhere, or comes as a table, is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.alignment.account import as_values
from unskew.alignment.align import Aligned
from unskew.alignment.outcome_check import CheckedPredictions, range_of
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import Progress, walk
from unskew.errors import InputError
from unskew.estimators import Need
from unskew.evaluation.fit_answers import fit_answers
from unskew.evaluation.request import Request
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.kernels.arrays import Bools, Floats, present
from unskew.outcome import Outcome, crossfit
from unskew.propensity import FitInputs

IN_SAMPLE = "fitted in sample"


@dataclass(frozen=True, eq=False)
class FittedOutcome:
    """The held-out rows with what the outcome model says of them.

    Args:
        held: ``None`` where rows lie elsewhere, and no model is asked about them.
        model: fitted where it was not yet; ``None`` where no estimator of the plan asks one.
        account: what it was asked and knew, as plain values for the result.
        predictions: how far the predictions for held-out rows reach.
        outcomes: between which numbers outcomes lie; ``None`` without an outcome model.
        census: what became of a census model that an estimator asked for, as plain values for the result.
        answers: what was guessed beside answers, as plain values for the result.
    """

    held: EvaluationData | None = None
    model: Outcome | None = None
    account: dict[str, Any] | None = None
    predictions: PredictionRange = NO_PREDICTIONS
    outcomes: tuple[float, float] | None = None
    census: dict[str, Any] | None = None
    answers: dict[str, Any] | None = None


def fit_outcome(
    request: Request, aligned: Aligned, plan: EvaluationPlan, side: FitInputs, progress: Progress | None = None
) -> FittedOutcome:
    """Fit what estimators of the plan ask for: an outcome model, and a model of all pairs (``fit_census.py``)."""
    side = replace(side, train=aligned.train)
    found = _fit_outcome(request, aligned, plan, side)
    if (answers := fit_answers(request.outcome, aligned, plan, side, request.threads)) is not None:
        found = replace(found, held=replace(present(found.held), with_answers=answers.data), answers=answers.account)
    if not any(Need.CENSUS in run.estimator.needs(run.target) for run in plan.runs):
        return found
    from unskew.evaluation.fit_census import fit_census  # with what it fits by, which others do not need

    census = fit_census(request.outcome, aligned, plan, request.threads, progress)
    return replace(found, held=replace(present(found.held), all_pairs=census.data), census=census.account)


def _fit_outcome(request: Request, aligned: Aligned, plan: EvaluationPlan, side: FitInputs) -> FittedOutcome:
    """Fit the outcome model and ask it about rows, if any estimator of the plan looks at whole lists."""
    outcome, held, threads = request.outcome, aligned.held, request.threads
    needs = [run.estimator.needs(run.target) for run in plan.runs if not run.joined]
    if not any(Need.LISTS in need for need in needs):
        return FittedOutcome(held)
    logged, depth = aligned.items.into(aligned.logged) >= 0, max(run.depth for run in plan.runs)
    guess = ListedPairs(logged, aligned.closed, aligned.excluded, depth=depth)
    if outcome is None or not any(Need.OUTCOME in need for need in needs):
        return FittedOutcome(replace(held, listed=guess))
    outcome, how = _fitted(outcome, aligned, side, in_sample=request.in_sample)
    total = None
    whole = any(run.target.normalised and Need.OUTCOME in run.estimator.needs(run.target) for run in plan.runs)
    with _about_all_candidates(outcome, aligned) if whole else nullcontext():
        q, unasked = _of_rows(outcome, aligned, whole)
        if whole:
            total = outcome.totals(aligned.users, aligned.logged, aligned.excluded, threads)
    ask = CheckedPredictions(outcome, outcome.bind(aligned.users, aligned.items))
    outcomes = range_of(held.value)
    reach = PredictionRange.of(ask.check(q[~unasked], int(np.count_nonzero(~unasked))), outcomes)
    listed, lacking = _listed(aligned, outcome, guess, depth, threads)
    account: dict[str, Any] = {
        "model": str(outcome),
        "how": how,
        "mean": float(np.mean(q[~unasked])) if not unasked.all() else None,
        "mean_outcome": float(np.mean(held.value[~unasked])) if not unasked.all() else None,
        "rows": len(aligned.rows),
        "unasked": int(np.count_nonzero(unasked)),
        "unknown": outcome.unknown(aligned.rows) - int(np.count_nonzero(unasked)),
        "listed": listed,
        "listed_unknown": lacking,
    } | ({} if outcome.account is None else {"table": as_values(outcome.account)})
    held = replace(held, q=q, q_total=total, listed=replace(guess, predict=ask, outcomes=outcomes))
    return FittedOutcome(held, outcome, account, reach, outcomes)


def _fitted(outcome: Outcome, aligned: Aligned, side: FitInputs, *, in_sample: bool) -> tuple[Outcome, str]:
    """The outcome model, fitted to the held-out rows where it is not fitted yet, and how that was done."""
    if outcome.fitted:
        return outcome, "fitted elsewhere" if outcome.estimated else "given"
    rows, p = aligned.rows, aligned.held.propensity
    if in_sample and not outcome.crossfits:  # folds that were asked for by name are kept
        return outcome.copy().fit(rows, propensity=p, inputs=side), IN_SAMPLE
    return crossfit(outcome, rows, propensity=p, inputs=side), "cross-fitted over pairs"


@contextmanager
def _about_all_candidates(outcome: Outcome, aligned: Aligned) -> Iterator[None]:
    """Normalised targets ask about every candidate: a table that lacks some is told why so many are wanted."""
    try:
        yield
    except InputError as problem:
        assert aligned.held.candidates is not None
        raise InputError(
            f"{problem}\nNormalised targets divide by what all candidates would bring, so '{outcome}' is asked about "
            f"all {aligned.held.candidates.sum():,.0f} candidate pairs; target per_user_sum asks about listed ones."
        ) from problem


def _of_rows(outcome: Outcome, aligned: Aligned, whole: bool) -> tuple[Floats, Bools]:
    """q of the held-out rows, and which of them need none.

    A table of predictions may hold listed pairs only. A held-out pair that no list holds corrects no list: unless
    totals over all pairs are asked for, its q does not matter, and y itself (nothing to correct) stands in for it.
    """
    rows, nobody = aligned.rows, np.zeros(len(aligned.rows), dtype=np.bool_)
    if outcome.answers_all or whole:
        return outcome.of(rows), nobody
    lacks = outcome.lacking(aligned.users, aligned.items)(rows.user, rows.item)
    q = aligned.held.value.copy()
    q[~lacks] = outcome.bind(aligned.users, aligned.items)(rows.user[~lacks], rows.item[~lacks])
    return q, lacks  # listed pairs that the table lacks are refused when lists are asked about


def _listed(aligned: Aligned, outcome: Outcome, guess: ListedPairs, depth: int, threads: int | None) -> tuple[int, int]:
    """How many candidates all lists hold down to the deepest rank that counts, and how many the model lacks."""
    lacks = outcome.lacking(aligned.users, aligned.items)

    def one(low: int, high: int) -> tuple[int, int]:
        total, lost = 0, 0
        for lists in aligned.held.lists:
            near = lists.rank[lists.indptr[low] : lists.indptr[high]] <= depth
            user, item = guess.pairs(lists, low, high, near & guess.candidates(lists, low, high))
            total += len(user)
            lost += int(np.count_nonzero(lacks(user, item)))
        return total, lost

    counts = list(walk(aligned.held.users, one, threads))
    return sum(total for total, _ in counts), sum(lost for _, lost in counts)
