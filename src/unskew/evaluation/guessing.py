"""What an outcome model says of the held-out rows and lists of some users, and sums of it, which merge.

All users together are asked about in memory (``fit_outcome.py``), or part by part (``part_outcome.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unskew.alignment.account import as_values
from unskew.alignment.align import Alignment
from unskew.alignment.outcome_check import CheckedPredictions, SeenMeans, check_predictions
from unskew.core.errors import InputError
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import walk
from unskew.estimators import Need
from unskew.inference.merging import Mergeable
from unskew.inference.prediction_range import PredictionRange
from unskew.kernels.arrays import Bools, Floats, present
from unskew.log import Account, Ids, Log
from unskew.outcome import Outcome


class AskedUsers(NamedTuple):
    """Some users whose rows and lists an outcome model is asked about.

    Args:
        rows: the held-out rows as a log.
        logged: the catalogue; ``excluded`` the training rows, where only unseen items are candidates.
    """

    held: EvaluationData
    rows: Log
    logged: Ids
    excluded: Log | None


@dataclass(frozen=True, eq=False)
class GuessSums(Mergeable):
    """What an outcome model said of some users; that of others is added.

    Args:
        rows: held-out rows; ``asked`` those that it was asked about.
        guess, outcome: Σq and Σy of these.
        unknown: rows that it knows too little of; ``listed`` candidates in lists, ``listed_unknown`` those of them.
        reach: how far the predictions for rows reach.
    """

    rows: int
    asked: int
    guess: float
    outcome: float
    unknown: int
    listed: int
    listed_unknown: int
    reach: PredictionRange
    means: SeenMeans

    def account(self, model: Outcome, how: str, table: Account | None) -> dict[str, Any]:
        """What it was asked and knew, as plain values for the result."""
        return {
            "model": str(model),
            "how": how,
            "mean": self.guess / self.asked if self.asked else None,
            "mean_outcome": self.outcome / self.asked if self.asked else None,
            "rows": self.rows,
            "unasked": self.rows - self.asked,
            "unknown": self.unknown,
            "listed": self.listed,
            "listed_unknown": self.listed_unknown,
        } | ({} if table is None else {"table": as_values(table)})


def looks_at_lists(plan: EvaluationPlan) -> bool:
    """Whether an estimator of the plan looks at whole lists."""
    return any(Need.LISTS in run.estimator.needs(run.target) for run in plan.runs if not run.joined)


def asks_outcomes(plan: EvaluationPlan) -> bool:
    """Whether one asks an outcome model."""
    return any(Need.OUTCOME in run.estimator.needs(run.target) for run in plan.runs if not run.joined)


def listed_pairs(alignment: Alignment, plan: EvaluationPlan) -> ListedPairs:
    """Which listed pairs are candidates, whoever's they are."""
    logged, depth = alignment.items.into(alignment.logged) >= 0, max(run.depth for run in plan.runs)
    return ListedPairs(logged, alignment.closed, depth=depth)


@dataclass(frozen=True, eq=False)
class Guessing:
    """How an outcome model is asked, the same for all users.

    Args:
        listed: which listed pairs are candidates.
        outcomes: between which numbers all outcomes lie.
        totals: whether sums over all candidates are asked for, of which there are so many.
    """

    listed: ListedPairs
    outcomes: tuple[float, float]
    totals: bool
    candidates: float
    threads: int | None

    @classmethod
    def of(cls, alignment: Alignment, plan: EvaluationPlan, threads: int | None) -> Guessing:
        """For the runs of a plan."""
        totals = any(run.target.normalised and Need.OUTCOME in run.estimator.needs(run.target) for run in plan.runs)
        rows = alignment.facts.rows
        return cls(listed_pairs(alignment, plan), rows.outcomes, totals, rows.candidates, threads)

    def rows(self, model: Outcome, users: AskedUsers) -> tuple[Floats, Bools]:
        """q of the held-out rows, and which of them need none.

        A table of predictions may hold listed pairs only. A held-out pair that no list holds corrects no list: unless
        totals over all pairs are asked for, its q does not matter, and y itself (nothing to correct) stands in for it.
        """
        rows, nobody = users.rows, np.zeros(len(users.rows), dtype=np.bool_)
        if model.answers_all or self.totals:
            with self._all_candidates(model):
                return model.of(rows), nobody
        lacks = model.lacking(rows.users, rows.items)(rows.user, rows.item)
        q = users.held.value.copy()
        q[~lacks] = model.bind(rows.users, rows.items)(rows.user[~lacks], rows.item[~lacks])
        return q, lacks  # listed pairs that the table lacks are refused when lists are asked about

    def of_rows(self, model: Outcome, users: AskedUsers, q: Floats) -> EvaluationData:
        """The users with what the model says of their rows, and of all candidates together where that is asked for."""
        total = None
        if self.totals:
            with self._all_candidates(model):
                total = model.totals(users.rows.users, users.logged, users.excluded, self.threads)
        return replace(users.held, q=q, q_total=total)

    def of_lists(self, model: Outcome, users: AskedUsers) -> EvaluationData:
        """The users with a model that is asked about their lists when these are looked at."""
        predict = CheckedPredictions(model, model.bind(users.rows.users, users.rows.items))
        listed = replace(self.listed, excluded=users.excluded, predict=predict, outcomes=self.outcomes)
        return replace(users.held, listed=listed)

    def sums(self, model: Outcome, users: AskedUsers, q: Floats, unasked: Bools) -> GuessSums:
        """What it said, once it is known to be numbers."""
        held, rows, asked = users.held, users.rows, ~unasked
        many = int(np.count_nonzero(asked))
        told = check_predictions(model, q[asked], many)
        listed, lacking = self._listed(model, users)
        return GuessSums(
            rows=len(rows),
            asked=many,
            guess=float(told.sum()),
            outcome=float(held.value[asked].sum()),
            unknown=model.unknown(rows) - (len(rows) - many),
            listed=listed,
            listed_unknown=lacking,
            reach=PredictionRange.of(told, self.outcomes),
            means=SeenMeans.of(held, q),
        )

    def _listed(self, model: Outcome, users: AskedUsers) -> tuple[int, int]:
        """How many candidates all lists hold down to the deepest rank that counts, and how many the model lacks."""
        lacks = model.lacking(users.rows.users, users.rows.items)
        pairs, depth = replace(self.listed, excluded=users.excluded), present(self.listed.depth)

        def one(low: int, high: int) -> tuple[int, int]:
            total, lost = 0, 0
            for lists in users.held.lists:
                near = lists.rank[lists.indptr[low] : lists.indptr[high]] <= depth
                user, item = pairs.pairs(lists, low, high, near & pairs.candidates(lists, low, high))
                total += len(user)
                lost += int(np.count_nonzero(lacks(user, item)))
            return total, lost

        counts = list(walk(users.held.users, one, self.threads))
        return sum(total for total, _ in counts), sum(lost for _, lost in counts)

    @contextmanager
    def _all_candidates(self, model: Outcome) -> Iterator[None]:
        """Normalised targets ask about every candidate: a table that lacks some is told why so many are wanted."""
        try:
            yield
        except InputError as problem:
            if not self.totals:
                raise
            raise problem.saying(
                f"{problem}\nNormalised targets divide by what all candidates would bring, so '{model}' is asked about "
                f"all {self.candidates:,.0f} candidate pairs; target per_user_sum asks about listed ones."
            ) from problem
