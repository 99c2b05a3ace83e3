"""All that is known when an evaluation is over, for the rules that warn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unskew.alignment.align import Alignment
from unskew.alignment.input_facts import InputFacts
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import EvaluationPlan, Refusal
from unskew.estimators import Need, Target
from unskew.evaluation.against_answers import AgainstAnswers
from unskew.evaluation.draw_samples import DrawnSamples
from unskew.evaluation.fit_outcome import FittedOutcome
from unskew.evaluation.fit_propensity import FittedPropensity
from unskew.evaluation.request import Request
from unskew.judging.answer import Answer

MANY_NEW = 0.05  # of the users with held-out rows, without a training row


class Facts(NamedTuple):
    """What was asked, read, fitted, planned and answered.

    Args:
        asked: the request as it was made; ``request`` with what follows from the inputs.
        answers: of the whole, and of every segment.
        segments_lack: what segments of interactions cannot give.
        samples: the samples of the rows, where rows were sampled.
        against: the log held against the answers.
        in_fold: whether this is a fold of a cross-validation, which has no population.
    """

    asked: Request
    request: Request
    inputs: InputFacts
    propensity: FittedPropensity
    aligned: Alignment
    plan: EvaluationPlan
    refusals: tuple[Refusal, ...]
    outcome: FittedOutcome
    answers: tuple[Answer, ...]
    segments_lack: tuple[str, ...] = ()
    samples: DrawnSamples | None = None
    against: AgainstAnswers = AgainstAnswers()
    in_fold: bool = False

    @property
    def dropped(self) -> dict[str, int]:
        """Held-out rows that were dropped, by reason."""
        found: dict[str, int] = self.aligned.account["test"]["dropped"]
        return found

    def estimators(self, need: Need) -> list[str]:
        """The estimators of the plan that need this."""
        asked = ((estimator, target) for estimator, target, _ in self.plan.asked)
        return list(dict.fromkeys(str(estimator) for estimator, target in asked if need in estimator.needs(target)))

    def runs(self, target: Target) -> list[EstimatorRun]:
        """The runs of a target."""
        return [run for run in self.plan.runs if run.target is target]


def guess_for_new_users(aligned: Alignment, personal: Sequence[str]) -> list[str]:
    """The personal models that list something for many users of whom they have learnt nothing."""
    rows, accounts = aligned.facts.rows, aligned.account["models"]
    if rows.untrained <= MANY_NEW * rows.active:
        return []
    return [name for name in personal if accounts[name].get("users_without_list", 0) < rows.untrained]
