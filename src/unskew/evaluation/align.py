"""Bring test log, training log, population and lists into one vocabulary: the arrays that an engine works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.engine.held import Floats, Held, Ints32
from unskew.errors import InputError
from unskew.estimators import Summary
from unskew.estimators.summary import Histogram, TrainingRows
from unskew.estimators.validity import Evidence
from unskew.evaluation.lists import code_lists
from unskew.evaluation.predicted import Made, Sources, lists_of_predictions, no_lists, predicted_rows
from unskew.evaluation.rows import has_level, in_test_part, inside, judged, with_propensities
from unskew.evaluation.rules import Ledger, Rules, plain
from unskew.log import Account, Feedback, Ids, Log, Predictions, Recommendations
from unskew.log.population import Population
from unskew.log.relevance import row_ratings, train_gains
from unskew.outcome import Outcome
from unskew.propensity import Level, Propensity, Side

CLICKS = (("1", 1, 1), ("2", 2, 2), ("3-5", 3, 5), ("6+", 6, None))


@dataclass(frozen=True, eq=False)
class Aligned:
    """Held-out rows and lists over one vocabulary, and what is known about them.

    Args:
        labels: per-row texts by column name, for segments.
        training_counts: training positives of every item; ``None`` without a training log.
        rows: the held-out rows as a log, which propensities are asked about.
        train: the training log with its gains, which propensities are fitted on.
        logged: the items that the logs know: the candidates, with ``excluded`` removed.
        excluded: the users' training rows, where only unseen items are candidates.
    """

    held: Held
    users: Ids
    items: Ids
    evidence: Evidence
    summary: Summary
    propensity: Propensity | None
    labels: Mapping[str, pl.Series]
    training_counts: Floats | None
    account: dict[str, Any]
    warnings: list[str]
    rows: Log
    train: Log | None
    logged: Ids
    excluded: Log | None


def align(
    test: Log,
    models: Sequence[str],
    lists: Mapping[str, Recommendations],
    predictions: Sources,
    *,
    outcome: Outcome | None,
    seen: Log | None,
    population: Population | None,
    users: Ids,
    propensity: Propensity | None,
    strata_columns: Sequence[str],
    rules: Rules,
    side: Side,
) -> Aligned:
    """Code everything over the population's users and the union of all items, and count what happens on the way."""
    ledger = Ledger(dict(test.account.dropped))
    logged = _catalogue(test, seen, {})  # what one model lists beyond is no business of the others' estimates
    items = _catalogue(test, seen, lists)
    known = None if seen is None else seen.take(inside(seen, users)).recode(users, items)
    rows = judged(test, known, users, items, rules, ledger)
    told = None if seen is None else replace(seen, gain=training_gains(seen, rules))
    train = None if told is None else told.positives()
    model = propensity
    if model is not None and not model.fitted and told is not None:
        model = model.fit(told, side)
    rows, scores, predicted = _told_of(rows, model, predictions, rules, ledger)
    ranked = _ranked(lists, predictions, rows, known, logged, rules, ledger)
    labels, levels, trained = _labels(rows, seen, strata_columns)
    relative = model is None or not has_level(model, rows, rules)
    held = _held(rows, scores, labels, population, known if rules.unseen else None, relative, len(logged))
    empty = no_lists(users, items)
    held = replace(
        held,
        lists=tuple(ranked.lists.get(name, empty) for name in models),
        predicted=tuple(predicted.get(name) for name in models),
        rating=row_ratings(rows) if predicted else None,
    )
    if not (held.value > 0.0).any():
        raise InputError(_nothing_left(test, rules, ledger))
    training = None if seen is None else TrainingRows(_training_propensity(model, seen, rows, rules), trained)
    counts = None if train is None else np.bincount(train.items.into(items)[train.item], minlength=len(items))
    account = {
        "test": plain(replace(test.account, dropped=ledger.dropped)),
        "train": None if seen is None else plain(seen.account),
        "models": {name: ranked.accounts.get(name) or _predictor(name, predictions[name]) for name in models},
        "population": None if population is None else plain(population.account),
        "users": _users(population, held, seen is not None and not rules.by_users),
        "items": {
            "catalogue": len(logged),
            "only_in_lists": len(items) - len(logged),
            "without_training_support": None if counts is None else int((counts == 0).sum()),
        },
        "clicks_per_user": clicks_per_user(held),
    }
    return Aligned(
        held=held,
        users=users,
        items=items,
        evidence=_evidence(rules, model, rows, held, models, predictions, ranked.unranked, outcome),
        summary=_summary(model, logged, held, levels, training),
        propensity=model,
        labels=_texts(rows),
        training_counts=None if counts is None else counts.astype(np.float64),
        account=account,
        warnings=ledger.warnings,
        rows=rows,
        train=told,
        logged=logged,
        excluded=known if rules.unseen else None,
    )


def _told_of(
    rows: Log, model: Propensity | None, predictions: Sources, rules: Rules, ledger: Ledger
) -> tuple[Log, Floats | None, dict[str, Floats]]:
    """The rows that have all that is asked of them, with their propensities and what each model predicts."""
    scores = None
    if model is not None:
        rows, scores = with_propensities(rows, model, rules, ledger)
    if not rules.rates or not predictions or rules.feedback is Feedback.IMPLICIT:
        return rows, scores, {}
    left, predicted = predicted_rows(predictions, rows, rules, ledger)
    if scores is not None and left is not rows:
        scores = scores[_still(rows, left)]
    return left, scores, predicted


@dataclass(frozen=True, eq=False)
class _Ranked:
    """The lists of the models that have any, their accounts, and in words who has none."""

    lists: dict[str, Recommendations]
    accounts: dict[str, Any]
    unranked: str


def _ranked(
    lists: Mapping[str, Recommendations],
    predictions: Sources,
    rows: Log,
    known: Log | None,
    logged: Ids,
    rules: Rules,
    ledger: Ledger,
) -> _Ranked:
    """Code the lists, those that models gave and those that predictions make."""
    made = Made({}, "")
    if rules.ranks:
        silent = {name: source for name, source in predictions.items() if name not in lists}
        made = lists_of_predictions(silent, rows, known, logged, rules)
    coded, accounts = code_lists({**lists, **made.lists}, rows, known, logged, rules, ledger)
    return _Ranked(dict(zip(accounts, coded, strict=True)), accounts, made.unranked)


def _nothing_left(test: Log, rules: Rules, ledger: Ledger) -> str:
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in ledger.dropped.items()) or "nothing"
    threshold = f" None of {len(test):,} rows is {rules.relevant}." if rules.relevant is not None else ""
    return f"{test.account.source}: no relevant held-out interaction is left.{threshold} Dropped: {reasons}."


def _held(
    rows: Log,
    scores: Floats | None,
    labels: dict[str, Ints32],
    population: Population | None,
    excluded: Log | None,
    relative: bool,
    catalogue: int,
) -> Held:
    assert rows.gain is not None
    candidates = np.full(len(rows.users), float(catalogue))
    return Held(
        hashes=rows.users.hashes,
        indptr=rows.indptr,
        item=rows.item,
        value=rows.gain,
        lists=(),
        propensity=scores,
        labels=labels,
        relevant=_relevant(population, rows),
        candidates=candidates if excluded is None else candidates - np.diff(excluded.indptr),
        relative=relative,
    )


def training_gains(seen: Log, rules: Rules) -> Floats:
    """y of the training rows; all alike where nothing asks for ranks."""
    return train_gains(seen, rules.feedback, rules.relevant) if rules.ranks else np.ones(len(seen))


def _still(whole: Log, part: Log) -> npt.NDArray[np.bool_]:
    """Which rows of the whole are left in the part, which is the whole without some rows."""
    size = len(whole.items)
    pairs = [log.user.astype(np.int64) * size + log.item for log in (whole, part)]
    return np.isin(pairs[0], pairs[1], assume_unique=True)


def _predictor(name: str, source: Any) -> dict[str, Any]:
    """The account of a model that predicts and makes no lists."""
    account = source.account if isinstance(source, Predictions) else Account(name, 0)
    return plain(account) | {"longest_rank": 0}


def _evidence(
    rules: Rules,
    model: Propensity | None,
    rows: Log,
    held: Held,
    models: Sequence[str],
    predictions: Sources,
    unranked: str,
    outcome: Outcome | None,
) -> Evidence:
    silent = [name for name in models if name not in predictions]
    return Evidence(
        rules.feedback,
        thresholded=rules.relevant is not None,
        propensity=model is not None,
        absolute=model is not None and has_level(model, rows, rules),
        relevant=held.relevant is not None,
        zeros=bool((held.value == 0.0).any()) or (rows.value is not None and bool((rows.value == 0.0).any())),
        unshared=model is not None and model.level is Level.ABSOLUTE and not has_level(model, rows, rules),
        binary=bool(((held.value == 0.0) | (held.value == 1.0)).all()),
        unpredicted=f"{' and '.join(silent)} {'gives' if len(silent) == 1 else 'give'} lists only" if silent else "",
        unranked=unranked,
        outcome=outcome is not None,
        outside=outcome is not None and outcome.fitted,
    )


def clicks_per_user(held: Held) -> dict[str, int]:
    """How many users have 1, 2, 3–5, 6+ seen relevant items."""
    clicks = np.add.reduceat(np.append(held.value > 0.0, False).astype(np.int64), held.indptr[:-1])
    clicks[np.diff(held.indptr) == 0] = 0
    return {
        name: int(np.count_nonzero((clicks >= low) & (clicks <= (high if high is not None else clicks.max(initial=0)))))
        for name, low, high in CLICKS
    }


def _catalogue(test: Log, seen: Log | None, lists: Mapping[str, Recommendations]) -> Ids:
    known = [test.items] if seen is None or seen.items is test.items else [test.items, seen.items]
    known += [found.items for found in lists.values() if all(found.items is not ids for ids in known)]
    return known[0] if len(known) == 1 else Ids.of(*(ids.values for ids in known))


def _labels(
    test: Log, seen: Log | None, names: Sequence[str]
) -> tuple[dict[str, Ints32], dict[str, tuple[str, ...]], dict[str, Ints32]]:
    """Codes of strata columns in the test and training rows, and the values in the order of the codes."""
    labels, levels, trained = {}, {}, {}
    texts = _texts(test)
    for name in names:
        if name not in texts:
            continue
        there = None if seen is None else _texts(seen).get(name)
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
    assert rows.gain is not None
    seen = np.bincount(rows.user, weights=rows.gain, minlength=len(rows.users))
    short = seen > population.relevant + 1e-9
    if short.any():
        u = int(np.argmax(short))
        raise InputError(
            f"{population.account.source}: column 'relevant' says {population.relevant[u]:g} for user "
            f"'{rows.users.values[u]}', who has {seen[u]:g} relevant items in the test log alone.\n"
            "It must count all relevant candidates, seen or not."
        )
    return population.relevant


def _training_propensity(model: Propensity | None, seen: Log, test: Log, rules: Rules) -> Floats | None:
    """P of the training rows on the test rows' scale, for shares of strata; ``None`` where there is none for them."""
    if model is None or (model.name == "known" and seen.propensity is None):
        return None
    rows = in_test_part(model.of(seen).rows, model, test, rules)
    return rows[~np.isnan(rows)]


def _summary(
    model: Propensity | None,
    items: Ids,
    held: Held,
    levels: dict[str, tuple[str, ...]],
    training: TrainingRows | None,
) -> Summary:
    if model is None or held.propensity is None:
        return Summary(levels=levels, training=training)
    catalogue = model.of_items(items)
    return Summary(
        pairs=Histogram.of(held.propensity[held.value > 0.0]),
        seen=Histogram.of(held.propensity),
        items=None if catalogue is None else Histogram.of(catalogue[~np.isnan(catalogue)]),
        levels=levels,
        training=training,
    )


def _users(population: Population | None, held: Held, trained: bool) -> dict[str, Any]:
    told = (
        "given"
        if population is not None
        else "users of the training and test logs"
        if trained
        else "users of the test log"
    )
    return {
        "population": held.users,
        "population_is": told,
        "with_held_out": int(np.count_nonzero(np.diff(held.indptr))),
        "relevant_items_known": held.relevant is not None,
    }
