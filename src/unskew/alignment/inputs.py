"""What an evaluation was given, everything read: logs, population, catalogue, lists and predictions, and how to count.

``Inputs`` depends on no propensity and on no estimator, so that several propensities can be compared on one reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from unskew.alignment.sources import Predictor
from unskew.log import Feedback, Ids, Log, Predictions, Recommendations
from unskew.log.drawing import DRAWN_ONCE, Drawing
from unskew.log.population import Catalogue, Population
from unskew.propensity import FitInputs

Share = float | Literal["users"] | None
Sources = Mapping[str, Predictions | Predictor]


@dataclass(frozen=True)
class Rules:
    """What counts as relevant, as a candidate, as wrong.

    Args:
        feedback: what a row says.
        relevant: the threshold on values.
        unseen: only items outside the user's training rows are candidates.
        drop_seen: remove training items from lists.
        drop_invalid: drop (and count) rows of users outside the population.
        train_share: the share of the whole log that the training log is, where its split says so.
        train_cut: the training log was cut by time, so that it is no random share of anything.
        later: all test rows are later than all training rows: time divided the logs, whoever did.
        by_users: training and test hold different users: propensities carry over as they are.
        share: the test log is a random part of the whole log with this share, where its split does not say so.
        ranks: whether anything asks for ranks; if not, every seen pair counts alike, whatever its value.
        rates: whether anything asks for predictions.
        fixed_relevance: a logged pair would be answered as it was logged.
        in_folds: this is one of several folds, which share users.
    """

    feedback: Feedback
    relevant: str | None = None
    unseen: bool = False
    drop_seen: bool = False
    drop_invalid: bool = False
    share: float | None = None
    by_users: bool = False
    train_share: float | None = None
    train_cut: bool = False
    later: bool = False
    ranks: bool = True
    rates: bool = False
    fixed_relevance: bool = False
    in_folds: bool = False


class FittedModels(NamedTuple):
    """Which of the models are no files or tables, but were asked here, by name.

    Args:
        personal: those whose lists or predictions depend on the user's own training rows.
        unchecked: those of other libraries whose ids could not be held against the training log.
    """

    personal: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()

    @classmethod
    def of(cls, models: Mapping[str, Any], seen: Log | None) -> FittedModels:
        """Of models as they were given; ``seen`` is the log whose items their lists leave out."""
        tables = Recommendations | Predictions
        asked = {
            name: model
            for name, model in models.items()
            if not isinstance(model, tables) and (hasattr(model, "recommend") or hasattr(model, "predict"))
        }
        return cls(
            tuple(name for name, model in asked.items() if getattr(model, "personal", True)),
            tuple(name for name, model in asked.items() if not getattr(model, "ids_checked", lambda log: True)(seen)),
        )


NOT_FITTED = FittedModels()


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything that was read, and what follows from it alone.

    Args:
        users: who counts: the population, else the users of the logs.
        models: their names, in the order in which results are shown.
        lists: of the models that recommend; ``predictions`` of those that predict.
        side: what propensities and outcome models may be fitted on beside the logs.
        answers: pairs that were drawn, shown and answered (``log/answers.py``), and how they were drawn.
        fitted: models that were asked here.
        guesses: outcomes of the users' pairs that were predicted elsewhere, where the table is divided by user.
    """

    test: Log
    train: Log | None
    population: Population | None
    catalogue: Catalogue | None
    users: Ids
    models: tuple[str, ...]
    lists: Mapping[str, Recommendations]
    predictions: Sources
    side: FitInputs
    rules: Rules
    answers: Log | None = None
    drawing: Drawing = DRAWN_ONCE
    fitted: FittedModels = NOT_FITTED
    guesses: Predictions | None = None
