"""An evaluation whose rows lie elsewhere, in parts of the users: files larger than memory, a cluster.

    count training rows → fit the propensity → align every part → decide by the facts of all → plan → conclude

``Partitions`` is what an engine brings: parts of the users, each an ordinary ``Inputs``, over vocabularies of items
that are known before. A function is carried to every part, and what it finds there is merged, so that nothing but sums
reaches this place. All that is decided here is decided by the functions that decide about rows in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import polars as pl

from unskew.alignment.align import Alignment, Elsewhere, settle_alignment
from unskew.alignment.division import DivisionFacts, judge_division
from unskew.alignment.evidence import Silent, without_predictions
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.level import LevelPart, LevelQuestion, LevelSums, SeenItems
from unskew.alignment.part import AlignedPart, Common, Finish, PartFacts, TrainingCounts, align_part
from unskew.alignment.spelling import RespelledUsers
from unskew.alignment.vocabulary import Vocabulary, code_part
from unskew.engine.engine import Engine
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.partitioned import Answers, Ask, Basics, PartitionedEngine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sums import Sums
from unskew.errors import RefusedError
from unskew.estimators import Need
from unskew.estimators.summary import TrainingRows, TrainingStrata
from unskew.evaluation.conclude import Ready
from unskew.evaluation.fit_outcome import FittedOutcome
from unskew.evaluation.fit_propensity import (
    ESTIMATED,
    FittedPropensity,
    outgrown,
    population_of,
    refuse_clicks,
    share_from,
)
from unskew.evaluation.planning import Hits, plan_cells
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import for_samples
from unskew.inference.merging import Mergeable, added_counts, merged_by
from unskew.judging.segments import Division, Labels
from unskew.kernels.arrays import Floats, Ints64, present
from unskew.log import Account, Feedback, Ids, Predictions
from unskew.log.interactions import repeated_note
from unskew.propensity import Level, Propensity


class Adds(Protocol):
    """Something of some users, to which that of other users is added."""

    def merge(self, other: Self) -> Self:
        """That of both sets of users."""


M = TypeVar("M", bound=Adds)
DUPLICATE = "duplicate pair"  # why rows are dropped


class AlignedParts(Protocol):
    """Aligned parts of the users, kept where they are."""

    def fold(self, of: Callable[[AlignedPart], M], stage: str) -> M:
        """What a function finds in every part that has users, merged in any order, each part once."""


class Partitions(Protocol):
    """The inputs of an evaluation in parts of the users, each of which fits into memory.

    A part is an ``Inputs`` with the rows of some users in all logs, lists and tables. Its logs and lists are coded over
    the vocabularies of items of the whole, which ``facts`` names; users are coded inside a part. Users whose ids differ
    only in how they are written must be in the same part.
    """

    @property
    def facts(self) -> InputFacts:
        """What is known of all inputs before any part is looked at; how many users there are is not."""

    @property
    def people(self) -> tuple[str, ...]:
        """The columns of the population."""

    def fold(self, of: Callable[[Inputs], M], stage: str) -> M:
        """What a function finds in every part that has users, of logs and population only (no lists)."""

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], M]
    ) -> tuple[AlignedParts, PartFacts, M]:
        """Align every part and keep it; the facts of all, and what another function finds in the parts."""


def settle_parts(asked: Request, parts: Partitions, say: Stage) -> Ready:
    """Fit, align and plan: from a request and inputs in parts to what is computed of them."""
    known = parts.facts
    request = for_samples(asked, known.test, known.train)
    request = request.with_column(known.propensities)
    refuse_whole_logs(request)
    catalogue = None if known.catalogue is None else known.catalogue.items
    logs = [known.test.items, *([] if known.train is None else [known.train.items])]
    vocabulary = Vocabulary.of(logs, catalogue, [items for _, items in known.lists.values()])
    say("counting training rows", 0, 1)
    model, counted = _fit(request, known, parts, vocabulary)
    common = Common(
        model.model,
        None if counted is None else counted.training,
        tuple(request.strata_columns()),
        shares=request.trains_shares,
        alone=False,
    )
    aligned, facts, read = parts.align(Aligning(vocabulary, common), ReadFacts.of)
    inputs = read.completed(known, request)
    judge_division(inputs.test, inputs.train, request.share, request.propensity, lambda _: present(read.division))
    model = _checked_size(model, inputs, vocabulary)
    rows = PartRows(aligned, vocabulary, inputs, request, facts, counted, parts.people)
    alignment = settle_alignment(facts, inputs, vocabulary, common, inputs.test, None, rows.elsewhere(common))
    planned = plan_cells(request, inputs.rules, alignment)
    rows = replace(rows, finish=_with_lists(alignment, planned.plan, vocabulary))
    return Ready(
        asked,
        planned.request,
        inputs,
        model,
        alignment,
        planned.plan,
        planned.refusals,
        FittedOutcome(),
        None,
        rows,
    )


def refuse_whole_logs(request: Request) -> None:
    """Refuse what needs the whole log in memory."""
    model = request.propensity
    asked: dict[str, bool] = {
        f"propensity='{model}' is fitted to": model is not None and not model.by_parts,
        f"outcome='{request.outcome}' is fitted to, or asked about,": request.outcome is not None,
        "answers=… are joined with": request.answers is not None,
        f"sample='{request.sample}' draws from": request.sample is not None,
        "refit=True fits propensities anew on": request.refit,
        "per_user=True keeps a row for every user of": request.per_user,
    }
    for what, there in asked.items():
        if there:
            raise RefusedError(
                f"{what} the whole log in memory, and this engine has parts of the users in memory only.\n"
                "Use engine='memory' on a machine that holds it, or on a sample of the users; without it, leave that "
                "out. Propensities that are counted (known, uniform, popularity, naive_bayes) work in parts."
            )
    if request.rates and request.ranks:
        raise RefusedError(
            "metrics of ranks and of predictions together need lists that are made of predictions, which this engine "
            "does not make.\nAsk for them in two calls."
        )


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


def _fit(
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


def _checked_size(fitted: FittedPropensity, inputs: InputFacts, vocabulary: Vocabulary) -> FittedPropensity:
    """Whether a propensity that was fitted in advance knows as many users and items as count here."""
    model, train = fitted.model, inputs.train
    if model is None or train is None or not model.estimated or fitted.fitted_here or inputs.rules.by_users:
        return fitted._replace(train=train)
    pairs = (inputs.users * len(vocabulary.logged), inputs.train_users * len(train.items))
    return fitted._replace(train=train, outgrown=model.level is Level.ABSOLUTE and outgrown(*pairs))


@dataclass(frozen=True, eq=False)
class Aligning:
    """Aligns a part."""

    vocabulary: Vocabulary
    common: Common

    def __call__(self, inputs: Inputs) -> AlignedPart:
        """One part."""
        return align_part(inputs, code_part(inputs, self.vocabulary), self.common)


@dataclass(frozen=True, eq=False)
class ReadFacts(Mergeable):
    """What is known of the inputs of some users when they are read; that of other users is added.

    Args:
        users: that count; ``train_users`` those of the training log.
        spelling: of every table of predictions, users that the test log writes otherwise.
        test, train, people: rows that were dropped inside parts, by reason.
        predicted: ... of every table of predictions.
    """

    users: int
    train_users: int
    division: DivisionFacts | None
    train_spelling: RespelledUsers
    spelling: tuple[RespelledUsers, ...]
    test: Mapping[str, int] = merged_by(added_counts)
    train: Mapping[str, int] = merged_by(added_counts)
    people: Mapping[str, int] = merged_by(added_counts)
    predicted: tuple[Mapping[str, int], ...] = merged_by(
        lambda a, b: tuple(added_counts(x, y) for x, y in zip(a, b, strict=True))
    )

    @classmethod
    def of(cls, inputs: Inputs) -> ReadFacts:
        """Of one part."""
        test, train, people = inputs.test, inputs.train, inputs.population
        tables = [source for source in inputs.predictions.values() if isinstance(source, Predictions)]
        return cls(
            users=len(inputs.users),
            train_users=0 if train is None else len(train.users),
            division=None if train is None else DivisionFacts.of(test, train),
            train_spelling=RespelledUsers() if train is None else RespelledUsers.of(train.users, test.users),
            spelling=tuple(RespelledUsers.of(table.users, test.users) for table in tables),
            test=test.account.dropped,
            train={} if train is None else train.account.dropped,
            people={} if people is None else people.account.dropped,
            predicted=tuple(table.account.dropped for table in tables),
        )

    def completed(self, known: InputFacts, request: Request) -> InputFacts:
        """What was known of all inputs, with what parts found."""
        chosen = request.duplicates is not None

        def with_note(account: Account, dropped: Mapping[str, int], timed: bool, feedback: Feedback | None) -> Account:
            notes = account.notes
            if not chosen and feedback is Feedback.IMPLICIT and (again := dropped.get(DUPLICATE, 0)):
                notes = (*notes, repeated_note(again, "earliest" if timed else "first in the file"))
            return replace(account, dropped=added_counts(account.dropped, dropped), notes=notes)

        test, train = known.test, known.train
        left_out = test.account.dropped
        test = replace(test, account=with_note(test.account, self.test, test.time is not None, test.feedback))
        if train is not None:
            told = with_note(train.account, self.train, train.time is not None, train.feedback)
            train = replace(train, account=told)
        people = known.population
        predictions = {
            name: replace(account, dropped=added_counts(account.dropped, dropped))
            for (name, account), dropped in zip(known.predictions.items(), self.predicted, strict=True)
        }
        return replace(
            known,
            test=test,
            train=train,
            rows=(test.account.rows, 0 if train is None else train.account.rows),
            users=self.users,
            train_users=self.train_users,
            population=None if people is None else replace(people, dropped=added_counts(people.dropped, self.people)),
            predictions=predictions,
            train_spelling=self.train_spelling,
            spelling=dict(zip(known.predicted_items, self.spelling, strict=True)),
            left_out=left_out,
            in_parts=True,
        )


def _with_lists(alignment: Alignment, plan: EvaluationPlan, vocabulary: Vocabulary) -> Finish:
    """What parts are finished with, where an estimator of the plan looks at whole lists."""
    if not any(Need.LISTS in run.estimator.needs(run.target) for run in plan.runs):
        return alignment.finish
    logged, depth = vocabulary.items.into(vocabulary.logged) >= 0, max(run.depth for run in plan.runs)
    return alignment.finish._replace(listed=ListedPairs(logged, alignment.closed, depth=depth))


@dataclass(frozen=True, eq=False)
class PartRows:
    """The aligned rows of all users, in parts that lie elsewhere."""

    parts: AlignedParts
    vocabulary: Vocabulary
    inputs: InputFacts
    request: Request
    facts: PartFacts
    counted: Counted | None
    people: tuple[str, ...]
    finish: Finish | None = None

    def elsewhere(self, common: Common) -> Elsewhere:
        """How parts are asked about before anything is planned."""
        items = len(self.vocabulary.items)
        model, facts, inputs = common.model, self.facts, self.inputs

        def doubts() -> list[str]:
            return [] if model is None else model.doubts_of(present(facts.weighed).doubted)

        def training(labels: Mapping[str, Ids]) -> TrainingStrata | None:
            shares = common.shares and inputs.train is not None
            return PartTraining(self.parts, labels) if shares else None

        return Elsewhere(
            level=lambda question: self.parts.fold(LevelOfPart(question, items), "checking propensities"),
            seen=lambda: self.parts.fold(SeenInPart(items), "checking propensities"),
            doubts=doubts,
            training=training,
            silent=Silent(without_predictions(inputs.models, inputs.predictions), ""),
        )

    def engine(self) -> Engine:
        """All of them, ready to be summed."""
        rows = self.facts.rows
        return self._engine(None, "", Basics(rows.users, rows.clicks, rows.by_item))

    def labels(self, division: Division) -> Labels:
        """The labels of a division that occur."""
        return self.parts.fold(LabelsOfPart(present(self.finish), division), "finding segments")

    def segment(self, division: Division, label: str) -> Engine:
        """One segment, ready to be summed."""
        return self._engine(division, label, None)

    def hits(self) -> Hits:
        """What lists hold of them."""
        return self.parts.fold(_hits_of_part, "looking for hits")

    def per_user(self, sums: Sums) -> pl.DataFrame | None:
        """Rows of users are not kept."""
        return None

    def exposure_share(self) -> float | None:
        """The share of popularity that comes from exposure, where a random sample tells it."""
        if self.counted is None or self.counted.path is None:
            return None
        return share_from(self.counted.path, self.inputs.side)

    @property
    def columns(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The columns by which segments can be made: of the test log, and of the population."""
        test = self.inputs.test
        texts = dict(test.columns) | ({} if test.policy is None else {"policy": test.policy})
        return texts, dict.fromkeys(self.people)

    def _engine(self, division: Division | None, label: str, known: Basics | None) -> Engine:
        finish = present(self.finish)

        def walk(ask: Ask) -> Answers:
            return self.parts.fold(AskPart(finish, ask, division, label), "estimating")

        return PartitionedEngine(walk, finish.relative, self.request.threads, known)


@dataclass(frozen=True, eq=False)
class AskPart:
    """Asks a part, or one segment of it."""

    finish: Finish
    ask: Ask
    division: Division | None
    label: str

    def __call__(self, part: AlignedPart) -> Answers:
        """The answers of the part; one whose segment has no users says nothing."""
        held = self.finish.of(part)
        if self.division is not None:
            held = self.division.cut(self.label, held, part.texts, part.people)
        return self.ask(held) if held.users else Answers(())


@dataclass(frozen=True, eq=False)
class LevelOfPart:
    """Answers a question about the level in a part."""

    question: LevelQuestion
    items: int

    def __call__(self, part: AlignedPart) -> LevelSums:
        """The sums of the part."""
        return self.question.of(LevelPart(part.rows, part.held, part.known, self.items))


@dataclass(frozen=True, eq=False)
class SeenInPart:
    """Notes the items that each half of the users has."""

    items: int

    def __call__(self, part: AlignedPart) -> SeenItems:
        """Of the part."""
        return SeenItems.of(part.held, self.items)


@dataclass(frozen=True, eq=False)
class LabelsOfPart:
    """Finds the labels of a division in a part."""

    finish: Finish
    division: Division

    def __call__(self, part: AlignedPart) -> Labels:
        """Of the part."""
        return Labels.of(self.division.labels(self.finish.of(part), part.texts, part.people))


def _hits_of_part(part: AlignedPart) -> Hits:
    return Hits.of(part.held)


@dataclass(frozen=True, eq=False)
class Counts(Mergeable):
    """Numbers that are added."""

    counts: Ints64


@dataclass(frozen=True, eq=False)
class StrataOfPart:
    """Counts the training rows of a part by strata."""

    labels: Mapping[str, Ids]
    edges: Floats | None
    column: str = ""
    count: int = 0

    def __call__(self, part: AlignedPart) -> Counts:
        """Of the part."""
        rows: TrainingRows = present(part.training).coded(self.labels)
        if self.edges is not None:
            return Counts(rows.by_propensity(self.edges))
        return Counts(rows.by_label(self.column, self.count))


@dataclass(frozen=True, eq=False)
class HasTraining(Mergeable):
    """Whether training rows have propensities, and which label columns they have."""

    weighed: bool = merged_by(lambda a, b: a and b)
    columns: frozenset[str] = merged_by(lambda a, b: a & b)

    @classmethod
    def of(cls, part: AlignedPart) -> HasTraining:
        """Of a part."""
        training = present(part.training)
        return cls(training.propensity is not None, frozenset(training.texts))


class PartTraining:
    """Training rows in parts, for shares of strata measured on them."""

    def __init__(self, parts: AlignedParts, labels: Mapping[str, Ids]) -> None:
        self._parts, self._labels = parts, labels
        self._has = parts.fold(HasTraining.of, "measuring shares")

    @property
    def weighed(self) -> bool:
        """Whether they have propensities."""
        return self._has.weighed

    @property
    def columns(self) -> frozenset[str]:
        """The label columns that they have."""
        return self._has.columns

    def by_propensity(self, edges: Floats) -> Ints64:
        """How many rows lie in each stratum between these edges."""
        return self._parts.fold(StrataOfPart(self._labels, np.asarray(edges)), "measuring shares").counts

    def by_label(self, column: str, count: int) -> Ints64:
        """How many rows have each of so many labels."""
        return self._parts.fold(StrataOfPart(self._labels, None, column, count), "measuring shares").counts
