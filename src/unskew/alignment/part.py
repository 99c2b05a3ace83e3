"""Rows, propensities, lists and predictions of some users over the vocabulary of all, and what is known of them.

A part of the users is aligned by itself (``align_part``): nothing is decided there that depends on other users. What is
known of it is sums (``PartFacts``), to which those of other parts are added; ``align.py`` decides by them, and says
what all parts are finished with (``finish``). All users together are one part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from unskew.alignment.column import ColumnFacts
from unskew.alignment.evidence import training_propensity
from unskew.alignment.inputs import Inputs
from unskew.alignment.lists import CodedLists, ListFacts, code_lists
from unskew.alignment.predicted import (
    WITHOUT_PREDICTION,
    PredictedFacts,
    lists_of_predictions,
    no_lists,
    predicted_rows,
    refuse_unpredicted,
)
from unskew.alignment.row_facts import RowFacts
from unskew.alignment.rows import WeighedFacts, with_propensities
from unskew.alignment.vocabulary import Coded
from unskew.core.errors import InputError
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.estimators.summary import TrainingRows
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64, present
from unskew.log import Feedback, Ids, Log, Predictions, Recommendations
from unskew.log.order import counts_of
from unskew.log.population import Population
from unskew.log.relevance import row_ratings
from unskew.propensity import Propensity

SUPPORT = "item without training support"  # why rows were dropped


@dataclass(frozen=True, eq=False)
class TrainingCounts(Mergeable):
    """How often the training rows of some users have each item; those of other users are added.

    Args:
        seen: all rows, which are positives where nothing else was logged; what exposure is measured by.
        positives: those that were liked.
    """

    seen: Floats
    positives: Floats

    @classmethod
    def of(cls, train: Log, items: Ids) -> TrainingCounts:
        """Of a training log with its gains, over the items of an evaluation."""

        codes = train.items.into(items)

        def count(log: Log) -> Floats:
            own = counts_of(log.item, len(log.items))
            out = np.zeros(len(items))
            assert (codes[own > 0] >= 0).all(), "the vocabulary holds all training items"
            out[codes[own > 0]] = own[own > 0]
            return out

        seen, liked = count(train), train.positives()
        return cls(seen, seen if len(liked) == len(train) else count(liked))


@dataclass(frozen=True, eq=False)
class Common:
    """What all parts of the users have in common, known before any of them is aligned.

    Args:
        model: the fitted propensity.
        training: how often each item was seen in training; ``None`` without a training log.
        strata_columns: columns by which estimators make strata.
        shares: whether shares of strata are measured on the training rows.
        alone: whether there is one part only, of all users.
    """

    model: Propensity | None
    training: TrainingCounts | None
    strata_columns: tuple[str, ...]
    shares: bool
    alone: bool = True

    @property
    def seen_codes(self) -> Ints32 | None:
        """For every item the place of its training count among all different counts."""
        if self.training is None:
            return None
        return np.unique(self.training.seen, return_inverse=True)[1].astype(np.int32)


def _union(a: Mapping[str, frozenset[str]], b: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    return {name: a.get(name, frozenset()) | b.get(name, frozenset()) for name in dict.fromkeys((*a, *b))}


@dataclass(frozen=True, eq=False)
class PartFacts(Mergeable):
    """What is known of one part of the users, besides its rows; facts of other parts are added.

    Args:
        test_rows: held-out rows as they were read.
        lists: of every model that has lists, in the order of their names.
        column: what the log's own column of propensities looks like, where it is used.
        labels: the values of columns that make strata; ``trained`` those of training rows.
    """

    rows: RowFacts
    test_rows: int
    weighed: WeighedFacts | None
    predicted: PredictedFacts | None
    lists: tuple[ListFacts, ...]
    column: ColumnFacts | None
    labels: Mapping[str, frozenset[str]] = merged_by(_union)
    trained: Mapping[str, frozenset[str]] = merged_by(_union)


class TrainingTexts(NamedTuple):
    """The training rows as strata see them, with the texts of label columns."""

    propensity: Floats | None
    texts: Mapping[str, pl.Series]

    def coded(self, labels: Mapping[str, Ids]) -> TrainingRows:
        """With codes in place of texts."""
        codes = {name: ids.encode(self.texts[name]) for name, ids in labels.items() if name in self.texts}
        return TrainingRows(self.propensity, codes)


@dataclass(frozen=True, eq=False)
class AlignedPart:
    """Some users with everything that engines and checks look at.

    Args:
        held: without what depends on all users (``finish``).
        rows: the held-out rows as a log, which propensities are asked about.
        known: the users' training rows; ``excluded`` the same where only unseen items are candidates.
        texts: per-row texts by column name, for strata and segments.
        people: columns of the population by name, for segments.
        training: the training rows, where shares are measured on them.
        lists: the models' lists by name, and what is known of them.
        facts: what is known of the part; ``None`` once that was added to what is known of others.
        unranked: in words, which models have no lists.
        guesses: a table of outcomes that were predicted elsewhere, where it is divided like the other inputs.
    """

    held: EvaluationData
    rows: Log
    known: Log | None
    excluded: Log | None
    texts: Mapping[str, pl.Series]
    people: Mapping[str, pl.Series]
    training: TrainingTexts | None
    lists: Mapping[str, CodedLists]
    facts: PartFacts | None
    given: Mapping[str, Recommendations]
    unranked: str = ""
    guesses: Predictions | None = None


class Finish(NamedTuple):
    """What is known of all users, and parts are finished with.

    Args:
        labels: the values of columns that make strata, coded.
        relative: whether propensities are known up to a factor only.
        there: which items the log could ever have shown; ``None`` where all that lists hold could.
        listed: which listed pairs are candidates, where an estimator looks at whole lists that lie elsewhere.
        guess: adds what an outcome model says of the rows and lists of a part, where an estimator asks one.
    """

    labels: Mapping[str, Ids]
    relative: bool
    there: Bools | None
    listed: ListedPairs | None = None
    guess: Callable[[AlignedPart, EvaluationData], EvaluationData] | None = None

    def of(self, part: AlignedPart) -> EvaluationData:
        """The part as engines work on it."""
        shown = None if self.there is None else ListedPairs(self.there, excluded=part.excluded)
        labels = {name: ids.encode(part.texts[name]) for name, ids in self.labels.items()}
        listed = None if self.listed is None else replace(self.listed, excluded=part.excluded)
        held = replace(part.held, labels=labels, relative=self.relative, shown=shown, listed=listed)
        return held if self.guess is None else self.guess(part, held)


def align_part(inputs: Inputs, coded: Coded, common: Common) -> AlignedPart:
    """Give the judged rows their propensities and predictions, and code the lists."""
    rules, known, items, model = inputs.rules, coded.known, coded.items, common.model
    dropped, excluded = dict(coded.dropped), known if rules.unseen else None
    weighed, rows, scores = None, coded.rows, None
    if model is not None:
        shown = None if common.training is None else common.training.positives
        weighed = with_propensities(rows, model, rules, shown)
        rows, scores = weighed.rows, weighed.propensity
        if weighed.facts.missing:
            dropped[SUPPORT] = weighed.facts.missing
    rows, scores, predicted, missing = _predicted(rows, scores, inputs, common)
    if missing is not None and missing.missing:
        dropped[WITHOUT_PREDICTION] = missing.missing
    given, unranked = _given_lists(inputs, rows, known, coded.logged)
    lists = code_lists(given, rows, known, coded.logged, rules)
    empty, codes = no_lists(inputs.users, items), common.seen_codes
    candidates = np.full(len(rows.users), float(len(coded.logged)))
    held = EvaluationData(
        hashes=rows.users.hashes,
        indptr=rows.indptr,
        item=rows.item,
        value=present(rows.gain),
        propensity=scores,
        relevant=_relevant(inputs.population, rows),
        candidates=candidates if excluded is None else candidates - np.diff(excluded.indptr),
        counted=None if codes is None else codes[rows.item],
        lists=tuple(lists[name].lists if name in lists else empty for name in inputs.models),
        predicted=tuple(predicted.get(name) for name in inputs.models),
        rating=row_ratings(rows) if predicted else None,
    )
    texts, trained = _texts(rows), {} if inputs.train is None else _texts(inputs.train)
    training = None
    if inputs.train is not None and common.shares:
        training = TrainingTexts(training_propensity(model, inputs.train, rows, rules), trained)
    columns = [name for name in common.strata_columns if name in texts]
    facts = PartFacts(
        rows=RowFacts.of(held, rows, known, dropped),
        test_rows=len(inputs.test),
        weighed=None if weighed is None else weighed.facts,
        predicted=missing,
        lists=tuple(each.facts for each in lists.values()),
        column=ColumnFacts.of(held, rows, excluded) if model is not None and model.known else None,
        labels={name: frozenset(texts[name].unique()) for name in columns},
        trained={name: frozenset(trained[name].unique()) for name in columns if name in trained},
    )
    people = {} if inputs.population is None else inputs.population.columns
    return AlignedPart(
        held, rows, known, excluded, texts, people, training, lists, facts, given, unranked, inputs.guesses
    )


def _predicted(
    rows: Log, scores: Floats | None, inputs: Inputs, common: Common
) -> tuple[Log, Floats | None, dict[str, Floats], PredictedFacts | None]:
    """The rows that have all that is asked of them, with their propensities and what each model predicts."""
    rules = inputs.rules
    if not rules.rates or not inputs.predictions or rules.feedback is Feedback.IMPLICIT:
        return rows, scores, {}, None
    left, predicted, facts = predicted_rows(inputs.predictions, rows)
    if common.alone:
        refuse_unpredicted(inputs.predictions, facts, rules)
    if scores is not None and left is not rows:
        scores = scores[_still(rows, left)]
    return left, scores, predicted, facts


def _given_lists(inputs: Inputs, rows: Log, known: Log | None, logged: Ids) -> tuple[dict[str, Recommendations], str]:
    """The lists that models gave, and those that predictions make; and in words who has none."""
    made: dict[str, Recommendations] = {}
    unranked, rules = "", inputs.rules
    if rules.ranks:
        silent = {name: source for name, source in inputs.predictions.items() if name not in inputs.lists}
        made, unranked = lists_of_predictions(silent, rows, known, logged, rules)
    return {**inputs.lists, **made}, unranked


def _still(whole: Log, part: Log) -> Bools:
    """Which rows of the whole are left in the part, which is the whole without some rows."""
    size = len(whole.items)
    pairs: Sequence[Ints64] = [log.user.astype(np.int64) * size + log.item for log in (whole, part)]
    return np.isin(pairs[0], pairs[1], assume_unique=True)


def _texts(log: Log) -> dict[str, pl.Series]:
    columns = dict(log.columns) | ({} if log.policy is None else {"policy": log.policy})
    return {name: column.cast(pl.String) for name, column in columns.items()}


def _relevant(population: Population | None, rows: Log) -> Floats | None:
    """n_u of every user, at least the seen relevant items of each."""
    if population is None or population.relevant is None:
        return None
    seen = np.bincount(rows.user, weights=present(rows.gain) > 0.0, minlength=len(rows.users))
    short = seen > population.relevant + 1e-9
    if short.any():
        u = int(np.argmax(short))
        raise InputError(
            f"{population.account.source}: column 'relevant' says {population.relevant[u]:g} for user "
            f"'{rows.users.values[u]}', who has {seen[u]:g} relevant items in the test log alone.\n"
            "It must count all relevant candidates, seen or not.",
            code="bad-counts",
        )
    return population.relevant
