"""The outcome model of one evaluation: fitted to the held-out rows by folds of pairs, and asked about listed pairs.

A model that has seen what a pair yielded takes the correction of the doubly robust estimator away, so by default q of a
pair comes from a model that was fitted without it. What was fitted elsewhere, or comes as a table, is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unskew.alignment.align import Aligned
from unskew.alignment.outcome_check import SeenMeans
from unskew.engine.data import EvaluationData, GuessedCosts
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import Progress
from unskew.estimators import Need, Target
from unskew.evaluation.fit_answers import fit_answers
from unskew.evaluation.guessing import AskedUsers, Guessing, GuessSums, asks_outcomes, listed_pairs, looks_at_lists
from unskew.evaluation.request import Request
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.kernels.arrays import present
from unskew.log import Account, Feedback
from unskew.metrics import RatingMetric
from unskew.outcome import Outcome, crossfit
from unskew.propensity import FitInputs

IN_SAMPLE, CROSS_FITTED = "fitted in sample", "cross-fitted over pairs"


@dataclass(frozen=True, eq=False)
class FittedOutcome:
    """The held-out rows with what the outcome model says of them.

    Args:
        held: ``None`` where rows lie elsewhere.
        model: fitted where it was not yet; ``None`` where no estimator of the plan asks one.
        account: what it was asked and knew, as plain values for the result.
        predictions: how far the predictions for held-out rows reach.
        outcomes: between which numbers outcomes lie; ``None`` without an outcome model.
        means: of guesses and outcomes over held-out rows.
        census: what became of a census model that an estimator asked for, as plain values for the result.
        answers: what was guessed beside answers, as plain values for the result.
    """

    held: EvaluationData | None = None
    model: Outcome | None = None
    account: dict[str, Any] | None = None
    predictions: PredictionRange = NO_PREDICTIONS
    outcomes: tuple[float, float] | None = None
    means: SeenMeans | None = None
    census: dict[str, Any] | None = None
    answers: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        model: Outcome,
        how: str,
        guessing: Guessing,
        sums: GuessSums,
        table: Account | None,
        held: EvaluationData | None = None,
    ) -> FittedOutcome:
        """From what a model said of all users; ``table`` is the account of one that came as a table."""
        return cls(held, model, sums.account(model, how, table), sums.reach, guessing.outcomes, sums.means)


def fit_outcome(
    request: Request, aligned: Aligned, plan: EvaluationPlan, side: FitInputs, progress: Progress | None = None
) -> FittedOutcome:
    """Fit what estimators of the plan ask for: an outcome model, and a model of all pairs (``fit_census.py``)."""
    side = replace(side, train=aligned.train)
    found = _with_costs(_fit_outcome(request, aligned, plan, side), request, aligned, plan, side)
    if (answers := fit_answers(request.outcome, aligned, plan, side, request.threads)) is not None:
        found = replace(found, held=replace(present(found.held), with_answers=answers.data), answers=answers.account)
    if not any(Need.CENSUS in run.estimator.needs(run.target) for run in plan.runs):
        return found
    from unskew.evaluation.fit_census import fit_census  # with what it fits by, which others do not need

    census = fit_census(request.outcome, aligned, plan, request.threads, progress)
    return replace(found, held=replace(present(found.held), all_pairs=census.data), census=census.account)


def _fit_outcome(request: Request, aligned: Aligned, plan: EvaluationPlan, side: FitInputs) -> FittedOutcome:
    """Fit the outcome model and ask it about rows, if any estimator of the plan looks at whole lists."""
    outcome, held = request.outcome, aligned.held
    if not looks_at_lists(plan):
        return FittedOutcome(held)
    if outcome is None or not asks_outcomes(plan):
        return FittedOutcome(replace(held, listed=replace(listed_pairs(aligned, plan), excluded=aligned.excluded)))
    guessing = Guessing.of(aligned, plan, request.threads)
    outcome, how = _fitted(outcome, aligned, side, in_sample=request.in_sample)
    users = AskedUsers(held, aligned.rows, aligned.logged, aligned.excluded)
    q, unasked = guessing.rows(outcome, users)
    users = users._replace(held=guessing.of_rows(outcome, users, q))
    held, sums = guessing.of_lists(outcome, users), guessing.sums(outcome, users, q, unasked)
    return FittedOutcome.of(outcome, how, guessing, sums, outcome.account, held)


def _with_costs(
    found: FittedOutcome, request: Request, aligned: Aligned, plan: EvaluationPlan, side: FitInputs
) -> FittedOutcome:
    """With guesses of what predictions cost, a model of its own for each metric and model, where they are corrected."""
    asked = [
        run for run in plan.runs if run.target is Target.PER_PAIR and Need.OUTCOME in run.estimator.needs(run.target)
    ]
    if not asked:
        return found
    metrics = {str(m): m for run in asked for m in run.metrics if isinstance(m, RatingMetric)}
    outcome, held, guessed = present(request.outcome), present(found.held), []
    for predicted in held.predicted:
        each = {}
        for name, metric in metrics.items():
            cost = metric.cost(present(held.rating), present(predicted))
            rows = replace(aligned.rows, gain=cost, value=None, feedback=Feedback.CONVERSIONS)
            model, how = _fitted(outcome, replace(aligned, rows=rows), side, in_sample=request.in_sample)
            totals = model.totals(rows.users, aligned.logged, aligned.excluded, request.threads)
            each[name] = GuessedCosts(model.of(rows), totals)
        guessed.append(each)
    unknown = model.unknown(aligned.rows)
    account = {"model": str(model), "how": how, "mean": None, "mean_outcome": None, "rows": len(aligned.rows)}
    account |= {"unasked": 0, "unknown": unknown, "listed": 0, "listed_unknown": 0}
    return replace(found, held=replace(held, guessed=tuple(guessed)), account=found.account or account)


def _fitted(outcome: Outcome, aligned: Aligned, side: FitInputs, *, in_sample: bool) -> tuple[Outcome, str]:
    """The outcome model, fitted to the held-out rows where it is not fitted yet, and how that was done."""
    rows, p = aligned.rows, aligned.held.propensity
    how = how_fitted(outcome, in_sample=in_sample)
    if how == IN_SAMPLE:
        return outcome.copy().fit(rows, propensity=p, inputs=side), how
    return (crossfit(outcome, rows, propensity=p, inputs=side) if how == CROSS_FITTED else outcome), how


def how_fitted(outcome: Outcome, *, in_sample: bool) -> str:
    """In words, how an outcome model comes to its guesses; folds that were asked for by name are kept."""
    if outcome.fitted:
        return "fitted elsewhere" if outcome.estimated else "given"
    return IN_SAMPLE if in_sample and not outcome.crossfits else CROSS_FITTED
