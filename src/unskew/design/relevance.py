"""q: how relevant a pair probably is, before anybody is asked. It shapes the draw, and never biases what comes of it.

By default the census model of MATHS §15 where the log has zeros and there is a log of what was seen before; shrunk
means where there is none, or where the log is so large that a design is not worth the fit; where the log holds
positives only, the shrunk share of users who have taken an item,

    q_i = (n_i + shrink·m) / (U + shrink)        m = Σ n_i / (U·I)

which is too low by the chance of being seen. Rows needed go with 1/q, so that the plan then asks for too many.
A constant is left where all rows are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unskew.core.errors import InputError
from unskew.design.candidates import Candidates
from unskew.kernels.arrays import Floats
from unskew.log import Feedback, Log
from unskew.log.ids import Codes
from unskew.log.relevance import row_gains
from unskew.outcome import Means, Outcome, make
from unskew.outcome.base import PairPredictor
from unskew.propensity import FitInputs

MANY = 2_000_000  # rows beyond which shrunk means will do
SHRINK = 10.0


class Relevance(NamedTuple):
    """q of any pair of codes, ascending by user and item, and what it is called."""

    of: PairPredictor
    name: str


def relevance(
    model: str | Outcome | None, log: Log, seen: Log | None, candidates: Candidates, positives_only: bool
) -> Relevance:
    """The model that was given, fitted if it is not, or the usual one.

    Args:
        log: the judged rows, with their gains.
        seen: what users had had before, with gains.
        positives_only: whether the log holds no zeros.
    """
    users, items = candidates.users, candidates.items
    if model is not None:
        outcome = make(model)
        if not outcome.fitted:
            outcome = outcome.copy().fit(log, inputs=FitInputs(train=seen))
        return _bound(outcome, candidates)
    if positives_only:
        count = np.zeros(len(items))
        np.add.at(count, log.items.into(items)[log.item], 1.0)
        mean = float(count.sum()) / max(1, len(users) * len(items))
        share = np.minimum((count + SHRINK * mean) / (len(users) + SHRINK), 1.0)
        return Relevance(lambda user, item: share[item], "the share of users who took the item")
    y = row_gains(log)
    if not 0.0 < y.mean() < 1.0:
        constant = float((y.sum() + 0.5) / (len(y) + 1.0))
        return Relevance(lambda user, item: np.full(len(user), constant), f"{constant:.3g} for every pair")
    if seen is not None and seen.feedback is not Feedback.IMPLICIT and max(len(log), len(seen)) <= MANY:
        from unskew.outcome.census import Census

        return _bound(Census().fit(log, inputs=FitInputs(train=seen)), candidates)
    return _bound(Means().fit(log), candidates)


def _bound(outcome: Outcome, candidates: Candidates) -> Relevance:
    ask = outcome.bind(candidates.users, candidates.items)

    def of(user: Codes, item: Codes) -> Floats:
        return np.clip(ask(user, item), 0.0, 1.0)

    return Relevance(of, str(outcome))


def refuse_graded(log: Log) -> None:
    """Refuse gains that are no chances: q (1 − q) is the variance of relevant or not."""
    y = row_gains(log)
    if len(y) and y.max() > 1.0:
        raise InputError(
            f"{log.account.source}: a plan needs rows that are relevant or not; a value of {y.max():g} is neither.\n"
            "Give a threshold such as relevant='>=4'.",
            code="out-of-range",
            column="value",
        )
