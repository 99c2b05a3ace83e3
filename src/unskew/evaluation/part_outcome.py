"""The outcome model of an evaluation whose users are in parts: fitted to sums of all parts, then asked part by part.

Effects of users rest on the users' own rows, which lie in one part: they are found there, whenever the part is looked
at (``Outcome.of_part``), and never kept for all users. What is said of rows, and in total, is kept with the part; lists
are asked about when they are summed. A table of predictions that lies in files is divided like the
other inputs, so that a part looks up its own users; whatever else was fitted elsewhere is carried to every part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unskew.alignment.align import Alignment
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.part import AlignedPart, Finish
from unskew.engine.data import EvaluationData
from unskew.engine.plan import EvaluationPlan
from unskew.evaluation.fit_outcome import CROSS_FITTED, FittedOutcome, how_fitted
from unskew.evaluation.guessing import AskedUsers, Guessing, GuessSums, asks_outcomes, listed_pairs, looks_at_lists
from unskew.evaluation.parts_of_users import AlignedParts
from unskew.evaluation.request import Request
from unskew.inference.merging import Mergeable
from unskew.log import Ids
from unskew.outcome import Given, Outcome
from unskew.outcome.crossfitting import folded

FITTING, ASKING = "fitting the outcome model", "asking the outcome model"


def fit_in_parts(
    request: Request, parts: AlignedParts, inputs: InputFacts, alignment: Alignment, plan: EvaluationPlan
) -> tuple[FittedOutcome, AlignedParts, Finish]:
    """The outcome model, if an estimator of the plan asks one, the parts that it was asked about, and their finish."""
    outcome, finish = request.outcome, alignment.finish
    if not looks_at_lists(plan):
        return FittedOutcome(), parts, finish
    if outcome is None or not asks_outcomes(plan):
        return FittedOutcome(), parts, finish._replace(listed=listed_pairs(alignment, plan))
    how, learns = how_fitted(outcome, in_sample=request.in_sample), not outcome.fitted
    if learns:
        outcome = (folded(outcome) if how == CROSS_FITTED else outcome).copy()
        tally = parts.fold(TallyPart(outcome), FITTING).tally
        outcome = outcome.fit_tally(tally, inputs=inputs.side)
    guessing = Guessing.of(alignment, plan, request.threads)
    guess = GuessPart(outcome, guessing, alignment.logged, learns)
    asked, sums = parts.remade(guess.of_rows, ASKING)
    table = outcome.account if inputs.guesses is None else inputs.guesses
    return FittedOutcome.of(outcome, how, guessing, sums, table), asked, finish._replace(guess=guess)


@dataclass(frozen=True, eq=False)
class Tallied(Mergeable):
    """What an outcome model needs of the rows of some users."""

    tally: Mergeable


@dataclass(frozen=True, eq=False)
class TallyPart:
    """Adds up what an outcome model needs of a part."""

    outcome: Outcome

    def __call__(self, part: AlignedPart) -> Tallied:
        """Of the part."""
        return Tallied(self.outcome.tally(part.rows, propensity=part.held.propensity))


@dataclass(frozen=True, eq=False)
class GuessPart:
    """Asks the outcome model about a part.

    Args:
        logged: the catalogue.
        learns: whether effects of users are found in their parts; a model that was fitted elsewhere has its own.
    """

    outcome: Outcome
    guessing: Guessing
    logged: Ids
    learns: bool

    def of_rows(self, part: AlignedPart) -> tuple[AlignedPart, GuessSums]:
        """The part with what the model says of its rows, and in total; and what adds up to the account of all parts."""
        model, users = self._of(part), AskedUsers(part.held, part.rows, self.logged, part.excluded)
        q, unasked = self.guessing.rows(model, users)
        held = self.guessing.of_rows(model, users, q)
        return replace(part, held=held), self.guessing.sums(model, users, q, unasked)

    def __call__(self, part: AlignedPart, held: EvaluationData) -> EvaluationData:
        """The part with what the model says of its lists, when these are looked at."""
        users = AskedUsers(held, part.rows, self.logged, part.excluded)
        return self.guessing.of_lists(self._of(part), users)

    def _of(self, part: AlignedPart) -> Outcome:
        """The model of this part's users."""
        if self.learns:
            return self.outcome.of_part(part.rows, propensity=part.held.propensity)
        if not isinstance(self.outcome, Given):
            return self.outcome
        table = self.outcome.table.recode(part.rows.users, part.rows.items) if part.guesses is None else part.guesses
        return self.outcome.of_table(table)
