"""The propensity of an evaluation whose users are in parts: training rows are counted part by part, and added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.part import TrainingCounts
from unskew.alignment.vocabulary import Vocabulary, code_part
from unskew.evaluation.fit_propensity import ESTIMATED, FittedPropensity, outgrown, population_of, refuse_clicks
from unskew.evaluation.parts_of_users import Partitions
from unskew.evaluation.request import Request
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import present
from unskew.log import Feedback
from unskew.propensity import Level, Propensity


@dataclass(frozen=True, eq=False)
class Counted(Mergeable):
    """What the training rows of some users add up to; those of other users are added.

    Args:
        training: by item.
        tally: what the propensity is fitted to.
        outside: rows of users outside the population, which it is fitted without.
        path: for the share of popularity that comes from exposure, where a random sample tells it.
    """

    training: TrainingCounts
    tally: Any
    outside: int
    path: Any


@dataclass(frozen=True, eq=False)
class Counting:
    """Counts the training rows of a part."""

    vocabulary: Vocabulary
    model: Propensity | None
    path: bool

    def __call__(self, inputs: Inputs) -> Counted:
        """Of one part."""
        train = present(code_part(inputs, self.vocabulary).train)
        tally, outside = None, 0
        if self.model is not None:
            fitted_to, outside = population_of(train, self.model, inputs, self.vocabulary.logged)
            tally = self.model.tally(fitted_to)
        path = ESTIMATED.tally(train) if self.path else None
        return Counted(TrainingCounts.of(train, self.vocabulary.items), tally, outside, path)


def fit_counted(
    request: Request, known: InputFacts, parts: Partitions, vocabulary: Vocabulary
) -> tuple[FittedPropensity, Counted | None]:
    """The propensity, fitted to what all training rows add up to."""
    model, train = request.propensity, known.train
    fits = model is not None and model.estimated and not model.fitted and train is not None
    if model is not None and model.models_presence:
        refuse_clicks(model, train)
    if train is None:
        return FittedPropensity(model, None), None
    path = known.side.mcar is not None and train.feedback is Feedback.IMPLICIT
    counted = parts.fold(Counting(vocabulary, model if fits else None, path), "counting training rows")
    if model is None or not fits:
        return FittedPropensity(model, train), counted
    fitted = model.copy().fit_tally(counted.tally, inputs=known.side)
    return FittedPropensity(fitted, train, counted.outside, fitted_here=True), counted


def checked_size(fitted: FittedPropensity, inputs: InputFacts, vocabulary: Vocabulary) -> FittedPropensity:
    """Whether a propensity that was fitted in advance knows as many users and items as count here."""
    model, train = fitted.model, inputs.train
    if model is None or train is None or not model.estimated or fitted.fitted_here or inputs.rules.by_users:
        return fitted._replace(train=train)
    pairs = (inputs.users * len(vocabulary.logged), inputs.train_users * len(train.items))
    return fitted._replace(train=train, outgrown=model.level is Level.ABSOLUTE and outgrown(*pairs))
