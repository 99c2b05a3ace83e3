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
import numpy.typing as npt

from unskew.engine.listed_pairs import Floats, ListedPairs
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import walk
from unskew.errors import InputError
from unskew.estimators import Need
from unskew.evaluation.align import Aligned
from unskew.evaluation.plausible import CheckedPredictions, range_of
from unskew.evaluation.rules import plain
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.outcome import Crossfit, Given, Outcome, crossfit
from unskew.propensity import Side


@dataclass(frozen=True, eq=False)
class Guessed:
    """The aligned rows with an outcome model's predictions, the model, and an account of it.

    Args:
        predictions: how far the predictions for held-out rows reach.
        outcomes: between which numbers outcomes lie; ``None`` without an outcome model.
    """

    aligned: Aligned
    outcome: Outcome | None
    account: dict[str, Any] | None
    warnings: tuple[str, ...] = ()
    predictions: PredictionRange = NO_PREDICTIONS
    outcomes: tuple[float, float] | None = None


def with_guesses(
    aligned: Aligned, plan: EvaluationPlan, outcome: Outcome | None, side: Side, *, folded: bool, threads: int | None
) -> Guessed:
    """Fit the outcome model and ask it, if any run of the plan looks at whole lists."""
    needs = [run.estimator.needs(run.target) for run in plan.runs]
    if not any(Need.LISTS in need for need in needs):
        return Guessed(aligned, None, None)
    logged = aligned.items.into(aligned.logged) >= 0
    guess = ListedPairs(logged, aligned.closed, aligned.excluded, depth=max(run.depth for run in plan.runs))
    if outcome is None or not any(Need.OUTCOME in need for need in needs):
        return Guessed(replace(aligned, held=replace(aligned.held, listed=guess)), None, None)
    rows, held = aligned.rows, aligned.held
    how = "fitted elsewhere" if outcome.estimated else "given"
    if not outcome.fitted:
        folded = folded or isinstance(outcome, Crossfit)  # folds that were asked for by name
        how = "cross-fitted over pairs" if folded else "fitted in sample"
        p = held.propensity
        outcome = crossfit(outcome, rows, propensity=p, side=side) if folded else outcome.fit(rows, p, side)
    total = None
    whole = any(run.target.normalised and Need.OUTCOME in run.estimator.needs(run.target) for run in plan.runs)
    with _about_all_candidates(outcome, aligned) if whole else nullcontext():
        q, unasked = _of_rows(outcome, aligned, whole)
        if whole:
            total = outcome.totals(aligned.users, aligned.logged, aligned.excluded, threads)
    ask = CheckedPredictions(outcome, outcome.bind(aligned.users, aligned.items))
    outcomes = range_of(held.value)
    reach = PredictionRange.of(ask.check(q[~unasked], int(np.count_nonzero(~unasked))), outcomes)
    listed, lacking = _listed(aligned, outcome, guess, max(run.depth for run in plan.runs), threads)
    account: dict[str, Any] = {
        "model": str(outcome),
        "how": how,
        "mean": float(np.mean(q[~unasked])) if not unasked.all() else None,
        "mean_outcome": float(np.mean(held.value[~unasked])) if not unasked.all() else None,
        "rows": len(rows),
        "unasked": int(np.count_nonzero(unasked)),
        "unknown": outcome.unknown(rows) - int(np.count_nonzero(unasked)),
        "listed": listed,
        "listed_unknown": lacking,
    } | ({"table": plain(outcome.table.account)} if isinstance(outcome, Given) else {})
    warnings = []
    if isinstance(outcome, Given) and outcome.default is not None and (account["unknown"] or lacking):
        warnings.append(
            f"The table of predictions lacks {_of(account['unknown'], len(rows))} held-out pairs and "
            f"{_of(lacking, listed)} listed pairs: these count as {outcome.default:g}, the default that was given."
        )
    if how == "fitted in sample":
        warnings.append(
            "The outcome model was fitted to the very pairs that correct it: doubly robust estimates then lean towards "
            "the model. Leave out --in-sample for folds of pairs."
        )
    held = replace(held, q=q, q_total=total, listed=replace(guess, predict=ask, outcomes=outcomes))
    return Guessed(replace(aligned, held=held), outcome, account, tuple(warnings), reach, outcomes)


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


def _of_rows(outcome: Outcome, aligned: Aligned, whole: bool) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """q of the held-out rows, and which of them need none.

    A table of predictions may hold listed pairs only. A held-out pair that no list holds corrects no list: unless
    totals over all pairs are asked for, its q does not matter, and y itself (nothing to correct) stands in for it.
    """
    rows, nobody = aligned.rows, np.zeros(len(aligned.rows), dtype=np.bool_)
    if not isinstance(outcome, Given) or outcome.default is not None or whole:
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


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / max(1, whole):.0%})"
