"""An evaluation whose rows lie elsewhere, in parts of the users: files larger than memory, a cluster.

    count training rows → fit the propensity → align every part → decide by the facts of all → plan
    → fit the outcome model → conclude

``Partitions`` (``parts_of_users.py``) is what an engine brings: parts of the users, each an ordinary ``Inputs``, over
vocabularies of items that are known before. A function is carried to every part, and what it finds there is merged, so
that nothing but sums reaches this place. All that is decided here is decided by the functions that decide about rows in
memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
import polars as pl

from unskew.alignment.align import Elsewhere, settle_alignment
from unskew.alignment.division import judge_division
from unskew.alignment.evidence import Silent, without_predictions
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.level import LevelPart, PartQuestion
from unskew.alignment.part import AlignedPart, Common, Finish, PartFacts, align_part
from unskew.alignment.vocabulary import Vocabulary, code_part
from unskew.core.errors import RefusedError
from unskew.engine.engine import Engine
from unskew.engine.partitioned import Answers, Ask, Basics, PartitionedEngine
from unskew.engine.sums import Sums
from unskew.estimators.summary import TrainingRows, TrainingStrata
from unskew.evaluation.conclude import Ready
from unskew.evaluation.fit_propensity import share_from
from unskew.evaluation.part_outcome import fit_in_parts
from unskew.evaluation.part_propensity import Counted, checked_size, fit_counted
from unskew.evaluation.part_read import ReadFacts
from unskew.evaluation.parts_of_users import AlignedParts, M, Partitions
from unskew.evaluation.planning import Hits, plan_cells
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import for_samples
from unskew.inference.merging import Mergeable, merged_by
from unskew.judging.segments import Division, Labels
from unskew.kernels.arrays import Floats, Ints64, present
from unskew.log import Ids


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
    model, counted = fit_counted(request, known, parts, vocabulary)
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
    model = checked_size(model, inputs, vocabulary)
    rows = PartRows(aligned, vocabulary, inputs, request, facts, counted, parts.people)
    elsewhere = rows.elsewhere(common)
    alignment = settle_alignment(facts, inputs, vocabulary, common, inputs.test, request.outcome, elsewhere)
    planned = plan_cells(request, inputs.rules, alignment)
    outcome, aligned, finish = fit_in_parts(planned.request, aligned, inputs, alignment, planned.plan)
    rows = replace(rows, parts=aligned, finish=finish)
    return Ready(
        asked,
        planned.request,
        inputs,
        model,
        alignment,
        planned.plan,
        planned.refusals,
        outcome,
        None,
        rows,
    )


def refuse_whole_logs(request: Request) -> None:
    """Refuse what needs the whole log in memory."""
    model, outcome = request.propensity, request.outcome
    fits = outcome is not None and not outcome.fitted
    asked: dict[str, bool] = {
        f"propensity='{model}' is fitted to": model is not None and not model.by_parts,
        f"outcome='{outcome}' is fitted to": outcome is not None and fits and not outcome.by_parts,
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
                "out. Propensities that are counted (known, uniform, popularity, naive_bayes) work in parts; so do the "
                "outcome models means and given(FILE), and those that were fitted before.",
                code="needs-whole-log",
            )
    if request.rates and request.ranks:
        raise RefusedError(
            "metrics of ranks and of predictions together need lists that are made of predictions, which this engine "
            "does not make.\nAsk for them in two calls.",
            code="two-kinds-of-metrics",
        )


@dataclass(frozen=True, eq=False)
class Aligning:
    """Aligns a part."""

    vocabulary: Vocabulary
    common: Common

    def __call__(self, inputs: Inputs) -> AlignedPart:
        """One part."""
        return align_part(inputs, code_part(inputs, self.vocabulary), self.common)


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
            ask=lambda question: self.parts.fold(OfPart(question, items), "checking propensities"),
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
        return self.parts.fold(LabelsOfPart(present(self.finish)._replace(guess=None), division), "finding segments")

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
class OfPart(Generic[M]):
    """Answers a question about propensities in a part."""

    question: PartQuestion[M]
    items: int

    def __call__(self, part: AlignedPart) -> M:
        """The answer of the part."""
        return self.question.of(LevelPart(part.rows, part.held, part.known, self.items))


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
