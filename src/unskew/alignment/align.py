"""Bring rows, propensities, lists and predictions together: the arrays that an engine works on, and what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unskew.alignment.account import account_of, as_values, nothing_left
from unskew.alignment.answers import JoinedLog
from unskew.alignment.column import ColumnCheck, check_column
from unskew.alignment.evidence import Silent, evidence_of
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.level import AskParts, LevelCheck, LevelInputs, LevelPart, check_level
from unskew.alignment.lists import PLACES_BEYOND, TRAINING_ITEMS, FoundLists, found_lists
from unskew.alignment.part import AlignedPart, Common, Finish, PartFacts, TrainingCounts, align_part
from unskew.alignment.predicted import refuse_unpredicted
from unskew.alignment.rows import Weighed, has_level, share_of
from unskew.alignment.vocabulary import Coded, Vocabulary
from unskew.engine.data import EvaluationData
from unskew.estimators import Summary
from unskew.estimators.summary import TrainingStrata
from unskew.estimators.validity import Evidence
from unskew.inference.merging import added_counts
from unskew.kernels.arrays import Bools, Floats, present
from unskew.log import Ids, Log
from unskew.outcome import Outcome
from unskew.propensity import Propensity


@dataclass(frozen=True, eq=False, kw_only=True)
class Alignment:
    """What is known of the aligned rows of all users, wherever the rows are.

    Args:
        facts: sums over the users.
        training_counts: training positives of every item; ``None`` without a training log.
        seen_counts: training rows of every item, also those that were not liked; what exposure is measured by.
        account: what became of the inputs, as plain values for the result.
        marks: a log with the marks of the judged rows (their share, whether time cut them off), with or without rows.
        logged: the catalogue: items of the logs, and those that were named; the candidates, less a user's training.
        closed: whether the catalogue was named, so that other listed items are none.
        level: what was found about the level of the propensities.
        column: what the log says of its own column of propensities; ``None`` where others are used.
        weighed: what became of the rows when they got their propensities; ``None`` without propensities.
        found_lists: what looks strange about the models' lists.
        finish: what parts of the users are finished with.
        joined: the held-out rows with the answers, where there are any.
    """

    facts: PartFacts
    items: Ids
    evidence: Evidence
    summary: Summary
    propensity: Propensity | None
    training_counts: Floats | None
    seen_counts: Floats | None
    account: dict[str, Any]
    marks: Log
    logged: Ids
    closed: bool
    level: LevelCheck | None
    column: ColumnCheck | None
    weighed: Weighed | None
    found_lists: Mapping[str, FoundLists]
    finish: Finish
    joined: JoinedLog | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Aligned(Alignment):
    """The same with the rows and lists of all users in memory.

    Args:
        labels: per-row texts by column name, for segments.
        rows: the held-out rows as a log, which propensities are asked about.
        train: the training log with its gains, which propensities are fitted on.
        excluded: the users' training rows, where only unseen items are candidates.
    """

    held: EvaluationData
    users: Ids
    labels: Mapping[str, pl.Series]
    rows: Log
    train: Log | None
    excluded: Log | None


class Elsewhere(NamedTuple):
    """How rows are asked about, which lie here or elsewhere.

    Args:
        ask: asks all users about their propensities.
        doubts: what the propensity says of its own.
        training: the training rows, for shares of strata, given the coded labels.
        silent: which models give no ranks or predictions.
    """

    ask: AskParts
    doubts: Callable[[], Sequence[str]]
    training: Callable[[Mapping[str, Ids]], TrainingStrata | None]
    silent: Silent


def align(
    inputs: Inputs,
    coded: Coded,
    model: Propensity | None,
    train: Log | None,
    *,
    outcome: Outcome | None,
    strata_columns: Sequence[str],
    shares: bool,
) -> Aligned:
    """Give the judged rows their propensities and predictions, and code the lists.

    Args:
        model: the fitted propensity.
        train: the training log as it was fitted to.
        outcome: the outcome model that will be asked; only whether there is one matters here.
        strata_columns: columns by which estimators make strata.
        shares: whether shares of strata are measured on the training rows.
    """
    training = None if coded.train is None else TrainingCounts.of(coded.train, coded.items)
    common = Common(model, training, tuple(strata_columns), shares)
    part = align_part(inputs, coded, common)
    facts = replace(
        InputFacts.of(inputs),
        lists={name: (replace(lists.account, dropped={}), lists.items) for name, lists in part.given.items()},
    )
    whole = settle_alignment(
        present(part.facts),
        facts,
        Vocabulary(coded.items, coded.logged),
        common,
        part.rows,
        outcome,
        _here(part, inputs, coded, model),
    )
    known = {name: getattr(whole, name) for name in Alignment.__dataclass_fields__}
    held = whole.finish.of(part)
    if coded.joined is not None:
        joined = coded.joined.judging(held.lists, inputs.drawing)
        known |= {"joined": joined, "account": whole.account | {"answers": joined.account}}
    return Aligned(
        **known,
        held=held,
        users=inputs.users,
        labels=part.texts,
        rows=part.rows,
        train=train,
        excluded=part.excluded,
    )


def _here(part: AlignedPart, inputs: Inputs, coded: Coded, model: Propensity | None) -> Elsewhere:
    """Rows in memory."""
    looked_at = LevelPart(part.rows, part.held, part.known, len(coded.items))
    return Elsewhere(
        ask=lambda question: question.of(looked_at),
        doubts=lambda: [] if model is None else model.doubts(part.rows),
        training=lambda labels: None if part.training is None else part.training.coded(labels),
        silent=Silent.of(inputs, part.rows, part.unranked),
    )


def settle_alignment(
    facts: PartFacts,
    inputs: InputFacts,
    vocabulary: Vocabulary,
    common: Common,
    marks: Log,
    outcome: Outcome | None,
    elsewhere: Elsewhere,
) -> Alignment:
    """Decide what the facts of all users together say; what cannot be evaluated is refused here."""
    rules, model, rows = inputs.rules, common.model, facts.rows
    items, logged = vocabulary
    dropped = added_counts(inputs.left_out, rows.dropped)
    if facts.predicted is not None:
        refuse_unpredicted(inputs.predictions, facts.predicted, rules)
    weighed = None
    if model is not None and facts.weighed is not None:
        weighed = Weighed.of(facts.weighed, elsewhere.doubts())
    lists = {
        name: found_lists(name, each, account, own, logged)
        for (name, (account, own)), each in zip(inputs.lists.items(), facts.lists, strict=True)
    }
    accounts = {name: each.account for name, each in lists.items()}
    relevant = inputs.knows_relevant
    level, column = None, None
    if model is not None:
        checked = LevelInputs(
            model,
            marks,
            rules,
            rows,
            relevant=relevant,
            trained=inputs.train is not None,
            named=inputs.catalogue is not None,
            population=inputs.population is not None,
            ask=elsewhere.ask,
        )
        level = check_level(checked)
        column = None if facts.column is None else check_column(checked, level, facts.column)
    if not rows.positives:
        raise nothing_left(inputs.test, facts.test_rows, rules.relevant, dropped)
    labels = _labels(facts)
    levels = {name: tuple(ids.values.to_list()) for name, ids in labels.items()}
    training = common.training
    relative = model is None or not has_level(model, marks, rules) or bool(level is not None and level.wrong)
    return Alignment(
        facts=facts,
        items=items,
        evidence=evidence_of(inputs, model, marks, rows, relevant, elsewhere.silent, outcome, level, accounts),
        summary=Summary(
            pairs=rows.pairs,
            seen=rows.seen,
            levels=levels,
            training=elsewhere.training(labels),
            counts=None if training is None else np.unique(training.seen),
        ),
        propensity=model,
        training_counts=None if training is None else training.positives,
        seen_counts=None if training is None else training.seen,
        account=account_of(inputs, accounts, rows, dropped, relevant) | {"items": _items(inputs, vocabulary, training)},
        marks=marks,
        logged=logged,
        closed=inputs.catalogue is not None,
        level=level,
        column=column,
        weighed=weighed,
        found_lists=lists,
        finish=Finish(labels, relative, _there(inputs, accounts, model, vocabulary, marks)),
    )


def _labels(facts: PartFacts) -> dict[str, Ids]:
    """The values of columns that make strata, in the test and training rows."""
    return {
        name: Ids.of(pl.Series(sorted(values | facts.trained.get(name, frozenset())), dtype=pl.String))
        for name, values in facts.labels.items()
    }


def _items(inputs: InputFacts, vocabulary: Vocabulary, training: TrainingCounts | None) -> dict[str, Any]:
    """The account of the items."""
    catalogue, logged = inputs.catalogue, len(vocabulary.logged)
    return {
        "catalogue": logged,
        "named": None if catalogue is None else as_values(catalogue.account),
        "only_in_logs": None if catalogue is None else logged - len(catalogue.items),
        "only_in_lists": len(vocabulary.items) - logged,
        "without_training_support": None if training is None else int((training.positives == 0).sum()),
    }


def _there(
    inputs: InputFacts, accounts: Mapping[str, Any], model: Propensity | None, vocabulary: Vocabulary, marks: Log
) -> Bools | None:
    """Which items the log could ever have shown: in the logs, or said to have a propensity, and with one.

    Where a column speaks of the test log, and that is no random share of what training is another part of, items may
    have been gone by then: what training showed is no evidence. ``None`` where the log could have shown all that lists
    hold, which their accounts tell without a look at them.
    """
    items, logged = vocabulary
    inside = items.into(logged) >= 0
    there = inside.copy()
    shared = inputs.rules.by_users or share_of(model, marks, inputs.rules) is not None
    own = model is not None and model.known and not shared
    if (catalogue := inputs.catalogue) is not None or own:
        there = items.into(inputs.test.items) >= 0
        if inputs.train is not None and not own:
            there |= items.into(inputs.train.items) >= 0
        if catalogue is not None and catalogue.shown is not None:
            place = items.into(catalogue.items)
            there |= (place >= 0) & catalogue.shown[place]
    if model is not None and (per_item := model.of_items(items)) is not None:
        there &= np.isfinite(per_item)
    never = any(each[PLACES_BEYOND] or each[TRAINING_ITEMS] for each in accounts.values())
    return there if never or not there[inside].all() else None
