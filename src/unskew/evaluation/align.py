"""Bring test log, training log, population and lists into one vocabulary: the arrays that an engine works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.engine.guess import Guess
from unskew.engine.held import Floats, Held, Ints32
from unskew.errors import InputError
from unskew.estimators import Summary
from unskew.estimators.summary import TrainingRows
from unskew.estimators.validity import Evidence
from unskew.evaluation.account import account_of, nothing_left
from unskew.evaluation.evidence import evidence_of, summary_of, training_propensity
from unskew.evaluation.fits import fitted_propensity
from unskew.evaluation.level import LevelCheck, LevelInputs, check_level
from unskew.evaluation.lists import PLACES_BEYOND, TRAINING_ITEMS, code_lists
from unskew.evaluation.lookalikes import written_otherwise
from unskew.evaluation.predicted import Made, Sources, lists_of_predictions, no_lists, predicted_rows
from unskew.evaluation.rows import has_level, inside, judged, with_propensities
from unskew.evaluation.rules import Ledger, Rules, plain
from unskew.log import Feedback, Ids, Log, Recommendations
from unskew.log.catalogue import Catalogue
from unskew.log.interactions import REPEATED
from unskew.log.population import Population
from unskew.log.relevance import row_ratings, train_gains
from unskew.outcome import Outcome
from unskew.plain import plain as shortened
from unskew.propensity import Propensity, Side


@dataclass(frozen=True, eq=False)
class Aligned:
    """Held-out rows and lists over one vocabulary, and what is known about them.

    Args:
        labels: per-row texts by column name, for segments.
        training_counts: training positives of every item; ``None`` without a training log.
        rows: the held-out rows as a log, which propensities are asked about.
        train: the training log with its gains, which propensities are fitted on.
        logged: the catalogue: items of the logs, and those that were named; the candidates, with ``excluded`` removed.
        closed: whether the catalogue was named, so that other listed items are none.
        excluded: the users' training rows, where only unseen items are candidates.
        level: what was found about the level of the propensities.
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
    closed: bool
    excluded: Log | None
    level: LevelCheck | None


def align(
    test: Log,
    models: Sequence[str],
    lists: Mapping[str, Recommendations],
    predictions: Sources,
    *,
    outcome: Outcome | None,
    seen: Log | None,
    population: Population | None,
    catalogue: Catalogue | None,
    users: Ids,
    propensity: Propensity | None,
    strata_columns: Sequence[str],
    rules: Rules,
    side: Side,
) -> Aligned:
    """Code everything over the population's users and the union of all items, and count what happens on the way."""
    ledger = Ledger(dict(test.account.dropped), _repeated(test, seen))
    shown = _vocabulary(test, seen, ())
    logged = shown if catalogue is None else Ids.of(shown.values, catalogue.items.values)
    items = _vocabulary(test, seen, [logged, *(found.items for found in lists.values())])
    ledger.warnings.extend(_written_otherwise(test, seen, catalogue))
    known = None if seen is None else seen.take(inside(seen, users)).recode(users, items)
    rows = judged(test, known, users, items, rules, ledger)
    told = None if seen is None else replace(seen, gain=training_gains(seen, rules))
    train = None if told is None else told.positives()
    model, told = fitted_propensity(propensity, told, test, users, logged, rules, side, ledger)
    rows, scores, predicted = _told_of(rows, model, train, predictions, rules, ledger)
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
    held = replace(held, shown=_shown(ranked.accounts, model, items, logged, known if rules.unseen else None))
    level = None
    if model is not None:
        closed = catalogue is not None
        level = check_level(LevelInputs(model, rows, held, rules, len(items), known, closed, population is not None))
        held = replace(held, relative=held.relative or bool(level.wrong))
    if not (held.value > 0.0).any():
        raise InputError(nothing_left(test, rules, ledger))
    training = None if seen is None else TrainingRows(training_propensity(model, seen, rows, rules), trained)
    counts = None if train is None else np.bincount(train.items.into(items)[train.item], minlength=len(items))
    account = account_of(test, seen, population, ranked.accounts, predictions, models, held, rules, ledger) | {
        "items": {
            "catalogue": len(logged),
            "named": None if catalogue is None else plain(catalogue.account),
            "only_in_logs": None if catalogue is None else len(logged) - len(catalogue.items),
            "only_in_lists": len(items) - len(logged),
            "without_training_support": None if counts is None else int((counts == 0).sum()),
        },
    }
    return Aligned(
        held=held,
        users=users,
        items=items,
        evidence=evidence_of(
            rules, model, rows, held, models, predictions, ranked.unranked, outcome, level, ranked.accounts
        ),
        summary=summary_of(model, held, levels, training),
        propensity=model,
        labels=_texts(rows),
        training_counts=None if counts is None else counts.astype(np.float64),
        account=account,
        warnings=ledger.warnings,
        rows=rows,
        train=told,
        logged=logged,
        closed=catalogue is not None,
        excluded=known if rules.unseen else None,
        level=level,
    )


def _shown(
    accounts: Mapping[str, Any], model: Propensity | None, items: Ids, logged: Ids, excluded: Log | None
) -> Guess | None:
    """Knows which listed pairs the log could ever have shown: candidates, in the logs, with a propensity.

    ``None`` where all of them could, which the accounts of the lists tell without a look at the lists.
    """
    there = items.into(logged) >= 0
    if model is not None and (per_item := model.of_items(items)) is not None:
        there &= np.isfinite(per_item)
    never = any(each[PLACES_BEYOND] or each[TRAINING_ITEMS] for each in accounts.values())
    return Guess(there, excluded=excluded) if never or not there[items.into(logged) >= 0].all() else None


def _repeated(*logs: Log | None) -> list[str]:
    """Pairs that a log holds several times and that were kept once without anybody asking for it."""
    notes = [f"{log.account.source}: {note}." for log in logs if log is not None for note in log.account.notes]
    return list(dict.fromkeys(text for text in notes if text.endswith(f"{REPEATED}.")))


def _written_otherwise(test: Log, seen: Log | None, catalogue: Catalogue | None) -> Iterator[str]:
    """Ids of the training log and of the catalogue that the test log has under another spelling."""
    ours = {"user": test.users, "item": test.items}
    if seen is not None:
        theirs, harm = {"user": seen.users, "item": seen.items}, "nobody has seen them in training as it is"
        yield from written_otherwise(f"training log {seen.account.source}", theirs, ours, harm)
    if catalogue is not None:
        harm = "each counts as two items as it is"
        yield from written_otherwise(f"catalogue {catalogue.account.source}", {"item": catalogue.items}, ours, harm)


def _told_of(
    rows: Log, model: Propensity | None, train: Log | None, predictions: Sources, rules: Rules, ledger: Ledger
) -> tuple[Log, Floats | None, dict[str, Floats]]:
    """The rows that have all that is asked of them, with their propensities and what each model predicts."""
    scores = None
    if model is not None:
        rows, scores = with_propensities(rows, model, rules, ledger, train)
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


def _vocabulary(test: Log, seen: Log | None, more: Sequence[Ids]) -> Ids:
    """The items of the logs, and more."""
    known: list[Ids] = []
    for ids in (test.items, *([] if seen is None else [seen.items]), *more):
        known += [ids] if all(ids is not other for other in known) else []
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
    seen = np.bincount(rows.user, weights=rows.gain > 0.0, minlength=len(rows.users))
    short = seen > population.relevant + 1e-9
    if short.any():
        u = int(np.argmax(short))
        raise InputError(
            f"{population.account.source}: column 'relevant' says {population.relevant[u]:g} for user "
            f"'{shortened(rows.users.values[u])}', who has {seen[u]:g} relevant items in the test log alone.\n"
            "It must count all relevant candidates, seen or not."
        )
    return population.relevant
