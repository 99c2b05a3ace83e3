"""Bring rows, propensities, lists and predictions together: the arrays that an engine works on, and what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from unskew.alignment.account import account_of, as_values, nothing_left
from unskew.alignment.answers import JoinedLog
from unskew.alignment.evidence import evidence_of, summary_of, training_propensity
from unskew.alignment.inputs import Inputs
from unskew.alignment.level import LevelCheck, LevelInputs, check_level
from unskew.alignment.lists import PLACES_BEYOND, TRAINING_ITEMS, CodedLists, code_lists
from unskew.alignment.predicted import lists_of_predictions, no_lists, predicted_rows
from unskew.alignment.rows import WeighedRows, has_level, with_propensities
from unskew.alignment.vocabulary import Coded
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.errors import InputError
from unskew.estimators import Summary
from unskew.estimators.summary import TrainingRows
from unskew.estimators.validity import Evidence
from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64, present
from unskew.log import Feedback, Ids, Log, Recommendations
from unskew.log.population import Population
from unskew.log.relevance import row_ratings
from unskew.outcome import Outcome
from unskew.propensity import Propensity


@dataclass(frozen=True, eq=False)
class Aligned:
    """Held-out rows and lists over one vocabulary, and what is known about them.

    Args:
        labels: per-row texts by column name, for segments.
        training_counts: training positives of every item; ``None`` without a training log.
        seen_counts: training rows of every item, also those that were not liked; what exposure is measured by.
        account: what became of the inputs, as plain values for the result.
        rows: the held-out rows as a log, which propensities are asked about.
        train: the training log with its gains, which propensities are fitted on.
        logged: the catalogue: items of the logs, and those that were named; the candidates, with ``excluded`` removed.
        closed: whether the catalogue was named, so that other listed items are none.
        excluded: the users' training rows, where only unseen items are candidates.
        level: what was found about the level of the propensities.
        weighed: what became of the rows when they got their propensities; ``None`` without propensities.
        coded_lists: the models' lists, with what looks strange about them.
        joined: the held-out rows with the answers, where there are any.
    """

    held: EvaluationData
    users: Ids
    items: Ids
    evidence: Evidence
    summary: Summary
    propensity: Propensity | None
    labels: Mapping[str, pl.Series]
    training_counts: Floats | None
    seen_counts: Floats | None
    account: dict[str, Any]
    rows: Log
    train: Log | None
    logged: Ids
    closed: bool
    excluded: Log | None
    level: LevelCheck | None
    weighed: WeighedRows | None
    coded_lists: Mapping[str, CodedLists]
    joined: JoinedLog | None = None


def align(
    inputs: Inputs,
    coded: Coded,
    model: Propensity | None,
    train: Log | None,
    *,
    outcome: Outcome | None,
    strata_columns: Sequence[str],
) -> Aligned:
    """Give the judged rows their propensities and predictions, and code the lists.

    Args:
        model: the fitted propensity.
        train: the training log as it was fitted to.
        outcome: the outcome model that will be asked; only whether there is one matters here.
        strata_columns: columns by which estimators make strata.
    """
    rules, logged, known, items = inputs.rules, coded.logged, coded.known, coded.items
    dropped, excluded, closed = dict(coded.dropped), coded.known if rules.unseen else None, inputs.catalogue is not None
    positives = None if coded.train is None else coded.train.positives()
    weighed = None if model is None else with_propensities(coded.rows, model, rules, dropped, positives)
    rows, scores, predicted = _predicted(coded.rows, weighed, inputs, dropped)
    lists, unranked = _lists(inputs, rows, known, logged)
    accounts = {name: each.account for name, each in lists.items()}
    labels, levels, trained = _labels(rows, inputs.train, strata_columns)
    empty = no_lists(inputs.users, items)
    seen, numbers, codes = None, None, None
    if coded.train is not None:
        # all rows of training, which are positives where nothing else was logged
        seen = np.bincount(coded.train.items.into(items)[coded.train.item], minlength=len(items)).astype(np.float64)
        numbers, codes = np.unique(seen, return_inverse=True)
    candidates = np.full(len(rows.users), float(len(logged)))
    held = EvaluationData(
        hashes=rows.users.hashes,
        indptr=rows.indptr,
        item=rows.item,
        value=present(rows.gain),
        propensity=scores,
        labels=labels,
        relevant=_relevant(inputs.population, rows),
        candidates=candidates if excluded is None else candidates - np.diff(excluded.indptr),
        counted=None if codes is None else codes.astype(np.int32)[rows.item],
        relative=model is None or not has_level(model, rows, rules),
        lists=tuple(lists[name].lists if name in lists else empty for name in inputs.models),
        predicted=tuple(predicted.get(name) for name in inputs.models),
        rating=row_ratings(rows) if predicted else None,
        shown=_shown(accounts, model, items, logged, excluded),
    )
    level = None
    if model is not None:
        level = check_level(LevelInputs(model, rows, held, inputs, coded))
        held = replace(held, relative=held.relative or bool(level.wrong))
    if not (held.value > 0.0).any():
        raise nothing_left(inputs.test, rules.relevant, dropped)
    training = None
    if inputs.train is not None:
        training = TrainingRows(training_propensity(model, inputs.train, rows, rules), trained)
    counts = None
    if positives is not None:
        counts = np.bincount(positives.items.into(items)[positives.item], minlength=len(items))
    return Aligned(
        held=held,
        users=inputs.users,
        items=items,
        evidence=evidence_of(inputs, model, rows, held, unranked, outcome, level, accounts),
        summary=replace(summary_of(model, held, levels, training), counts=numbers),
        propensity=model,
        labels=_texts(rows),
        training_counts=None if counts is None else counts.astype(np.float64),
        seen_counts=seen,
        account=account_of(inputs, accounts, held, dropped)
        | {"items": _items(inputs, coded, counts)}
        | ({} if coded.joined is None else {"answers": coded.joined.account}),
        rows=rows,
        train=train,
        logged=logged,
        closed=closed,
        excluded=excluded,
        level=level,
        weighed=weighed,
        coded_lists=lists,
        joined=coded.joined,
    )


def _items(inputs: Inputs, coded: Coded, counts: Ints64 | None) -> dict[str, Any]:
    """The account of the items."""
    catalogue, logged = inputs.catalogue, len(coded.logged)
    return {
        "catalogue": logged,
        "named": None if catalogue is None else as_values(catalogue.account),
        "only_in_logs": None if catalogue is None else logged - len(catalogue.items),
        "only_in_lists": len(coded.items) - logged,
        "without_training_support": None if counts is None else int((counts == 0).sum()),
    }


def _shown(
    accounts: Mapping[str, Any], model: Propensity | None, items: Ids, logged: Ids, excluded: Log | None
) -> ListedPairs | None:
    """Knows which listed pairs the log could ever have shown: candidates, in the logs, with a propensity.

    ``None`` where all of them could, which the accounts of the lists tell without a look at the lists.
    """
    there = items.into(logged) >= 0
    if model is not None and (per_item := model.of_items(items)) is not None:
        there &= np.isfinite(per_item)
    never = any(each[PLACES_BEYOND] or each[TRAINING_ITEMS] for each in accounts.values())
    return ListedPairs(there, excluded=excluded) if never or not there[items.into(logged) >= 0].all() else None


def _predicted(
    rows: Log, weighed: WeighedRows | None, inputs: Inputs, dropped: dict[str, int]
) -> tuple[Log, Floats | None, dict[str, Floats]]:
    """The rows that have all that is asked of them, with their propensities and what each model predicts."""
    scores = None
    if weighed is not None:
        rows, scores = weighed.rows, weighed.propensity
    rules = inputs.rules
    if not rules.rates or not inputs.predictions or rules.feedback is Feedback.IMPLICIT:
        return rows, scores, {}
    left, predicted = predicted_rows(inputs.predictions, rows, rules, dropped)
    if scores is not None and left is not rows:
        scores = scores[_still(rows, left)]
    return left, scores, predicted


def _lists(inputs: Inputs, rows: Log, known: Log | None, logged: Ids) -> tuple[dict[str, CodedLists], str]:
    """Code the lists, those that models gave and those that predictions make; and in words who has none."""
    made: dict[str, Recommendations] = {}
    unranked, rules = "", inputs.rules
    if rules.ranks:
        silent = {name: source for name, source in inputs.predictions.items() if name not in inputs.lists}
        made, unranked = lists_of_predictions(silent, rows, known, logged, rules)
    return code_lists({**inputs.lists, **made}, rows, known, logged, rules), unranked


def _still(whole: Log, part: Log) -> Bools:
    """Which rows of the whole are left in the part, which is the whole without some rows."""
    size = len(whole.items)
    pairs = [log.user.astype(np.int64) * size + log.item for log in (whole, part)]
    return np.isin(pairs[0], pairs[1], assume_unique=True)


def _labels(
    test: Log, train: Log | None, names: Sequence[str]
) -> tuple[dict[str, Ints32], dict[str, tuple[str, ...]], dict[str, Ints32]]:
    """Codes of strata columns in the test and training rows, and the values in the order of the codes."""
    labels, levels, trained = {}, {}, {}
    texts = _texts(test)
    for name in names:
        if name not in texts:
            continue
        there = None if train is None else _texts(train).get(name)
        ids = Ids.of(texts[name], *([] if there is None else [there]))
        labels[name], levels[name] = ids.encode(texts[name]), tuple(ids.values.cast(pl.String).to_list())
        if there is not None:
            trained[name] = ids.encode(there)
    return labels, levels, trained


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
            "It must count all relevant candidates, seen or not."
        )
    return population.relevant
