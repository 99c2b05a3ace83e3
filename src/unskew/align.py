"""Bring test log, training log, population and lists into one vocabulary: the arrays that an engine works on.

Everything that is dropped, floored or missing on the way is counted in the account, and what a reader should know is
said in the warnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from unskew.engine.held import Floats, Held, Ints32
from unskew.errors import InputError
from unskew.estimators import Summary
from unskew.estimators.summary import Histogram, TrainingRows
from unskew.estimators.validity import Evidence
from unskew.inputs import gains, positives
from unskew.kernels.coding import unseen
from unskew.log import Account, Feedback, Ids, Log, Recommendations
from unskew.log.population import Population
from unskew.propensity import Level, Propensity, part_propensity

CLICKS = (("1", 1, 1), ("2", 2, 2), ("3-5", 3, 5), ("6+", 6, None))


@dataclass(frozen=True, eq=False)
class Aligned:
    """Held-out rows and lists over one vocabulary, and what is known about them.

    Args:
        labels: per-row texts by column name, for segments.
        training_counts: training positives of every item; ``None`` without a training log.
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


def align(
    test: Log,
    lists: Mapping[str, Recommendations],
    *,
    seen: Log | None,
    population: Population | None,
    users: Ids,
    propensity: Propensity | None,
    feedback: Feedback,
    relevant: str | None,
    candidates: str,
    drop_seen: bool,
    drop_invalid: bool,
    strata_columns: Sequence[str],
) -> Aligned:
    """Code everything over the population's users and the union of all items, and count what happens on the way."""
    warnings: list[str] = []
    dropped: dict[str, int] = dict(test.account.dropped)
    items = _catalogue(test, seen, lists)
    test = replace(test, value=gains(test, feedback, relevant))
    test = _inside(test, users, drop_invalid, dropped).recode(users, items)
    train = None if seen is None else positives(seen, feedback, relevant)
    known = None if seen is None else _inside(seen, users, True, {}).recode(users, items)
    if known is not None and candidates == "unseen":
        test = _outside_training(test, known, dropped, warnings)
    model, rows = _propensities(propensity, train, test, candidates, dropped, warnings)
    if rows is not None and np.isnan(rows).any():
        kept = ~np.isnan(rows)
        test, rows = test.take(kept), rows[kept]
    coded, accounts = _lists(lists, users, items, known, candidates, drop_seen, test, warnings)
    counts = None if train is None else np.bincount(train.items.into(items)[train.item], minlength=len(items))
    assert test.value is not None
    labels, levels, trained = _labels(test, seen, strata_columns)
    held = Held(
        hashes=users.hashes,
        indptr=test.indptr,
        item=test.item,
        value=test.value,
        lists=tuple(coded.values()),
        propensity=rows,
        labels=labels,
        relevant=_relevant(population, test, users),
        candidates=len(items)
        - (np.diff(known.indptr) if known is not None and candidates == "unseen" else 0.0)
        + np.zeros(len(users)),
        relative=model is None or model.level is Level.RELATIVE,
    )
    if not (held.value > 0.0).any():
        raise InputError(
            f"{test.account.source}: no relevant held-out interaction is left. Dropped: {dropped or 'none'}."
        )
    training = None
    if seen is not None:
        training = TrainingRows(_training_propensity(model, seen, test, candidates), trained)
    account = {
        "test": _account(replace(test.account, dropped=dropped)),
        "train": None if seen is None else _account(seen.account),
        "models": accounts,
        "population": None if population is None else _account(population.account),
        "users": _users(population, held, seen is not None),
        "items": {
            "catalogue": len(items),
            "without_training_support": None if counts is None else int((counts == 0).sum()),
        },
        "clicks_per_user": clicks_per_user(held),
    }
    return Aligned(
        held,
        users,
        items,
        Evidence(
            feedback,
            thresholded=relevant is not None,
            propensity=model is not None,
            absolute=model is not None and model.level is Level.ABSOLUTE,
            relevant=held.relevant is not None,
        ),
        _summary(model, items, held, levels, training),
        model,
        _texts(test),
        None if counts is None else counts.astype(np.float64),
        account,
        warnings,
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


def _inside(log: Log, users: Ids, drop: bool, dropped: dict[str, int]) -> Log:
    """Rows of users inside the population."""
    outside = log.users.into(users)[log.user] < 0
    if not outside.any():
        return log
    if not drop:
        who = log.users.values[int(log.user[np.argmax(outside)])]
        raise InputError(
            f"{log.account.source}: user '{who}' has rows but is not in the population given by --users.\n"
            "Add the user there, or drop such rows with --invalid drop; the result will say how many were dropped."
        )
    dropped["user outside the population"] = int(outside.sum())
    return log.take(~outside)


def _outside_training(test: Log, seen: Log, dropped: dict[str, int], warnings: list[str]) -> Log:
    """Held-out pairs that are not in training: with unseen candidates nothing else can be recommended."""
    keep = np.empty(len(test), dtype=np.bool_)
    everyone = np.arange(len(test.users), dtype=np.int32)
    stamp = np.full(len(test.items), -1, dtype=np.int64)
    again = int(unseen(test.indptr, test.item, everyone, seen.indptr, seen.item, stamp, keep))
    if not again:
        return test
    dropped["already in training"] = again
    warnings.append(
        f"{again:,} held-out interactions repeat a training pair of the same user and were dropped, because only "
        "unseen items are candidates. To judge repeats too, use --candidates all."
    )
    return test.take(keep)


def _propensities(
    propensity: Propensity | None,
    train: Log | None,
    test: Log,
    candidates: str,
    dropped: dict[str, int],
    warnings: list[str],
) -> tuple[Propensity | None, Floats | None]:
    if propensity is None:
        return None, None
    if not propensity.fitted and train is not None:
        propensity = propensity.fit(train)
    scored = propensity.of(test)
    rows = scored.rows
    share = propensity.share_of(test)
    if share is not None:
        rows = part_propensity(rows, share, unseen=candidates == "unseen")
    if np.isnan(rows).any():
        dropped["item without training support"] = int(np.isnan(rows).sum())
    elif scored.floored:
        warnings.append(
            f"{scored.floored:,} held-out interactions are on items that training never showed; their propensity is a "
            "guess (as if seen once). Drop them with popularity(gamma=…, unsupported=drop)."
        )
    if propensity.estimated:
        warnings.append(
            "The propensities are estimates, and the intervals take them as known: with a small training log the true "
            "uncertainty is larger."
        )
    return propensity, rows


def _lists(
    lists: Mapping[str, Recommendations],
    users: Ids,
    items: Ids,
    seen: Log | None,
    candidates: str,
    drop_seen: bool,
    test: Log,
    warnings: list[str],
) -> tuple[dict[str, Recommendations], dict[str, Any]]:
    coded, accounts = {}, {}
    scored = np.diff(test.indptr) > 0
    for name, given in lists.items():
        found = given.recode(users, items)
        repeats = 0
        if seen is not None:
            if drop_seen:
                found = found.drop_seen(seen)
            else:
                repeats = found.count_seen(seen)
        without = int(np.count_nonzero(scored & (np.diff(found.indptr) == 0)))
        accounts[name] = _account(found.account) | {
            "users_without_list": without,
            "training_items_in_lists": repeats,
            "tied_cut_offs": found.tied,
            "longest_rank": found.depth,
        }
        if without:
            warnings.append(f"{name}: {without:,} users with held-out interactions have no list and score 0.")
        if repeats and candidates == "unseen":
            warnings.append(
                f"{name}: {repeats:,} listed items are in the user's training data and cannot be hits. Remove them and "
                "close the ranks up with --drop-seen, or judge repeats too with --candidates all."
            )
        coded[name] = found
    return coded, accounts


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


def _relevant(population: Population | None, test: Log, users: Ids) -> Floats | None:
    """n_u of every user, at least the seen relevant items of each."""
    if population is None or population.relevant is None:
        return None
    assert test.value is not None
    seen = np.bincount(test.user, weights=test.value, minlength=len(users))
    short = seen > population.relevant + 1e-9
    if short.any():
        u = int(np.argmax(short))
        raise InputError(
            f"{population.account.source}: column 'relevant' says {population.relevant[u]:g} for user "
            f"'{users.values[u]}', who has {seen[u]:g} relevant items in the test log alone.\n"
            "It must count all relevant candidates, seen or not."
        )
    return population.relevant


def _training_propensity(model: Propensity | None, seen: Log, test: Log, candidates: str) -> Floats | None:
    """P of the training rows on the test rows' scale, for shares of strata; ``None`` where there is none for them."""
    if model is None or (model.name == "known" and seen.propensity is None):
        return None
    rows = model.of(seen).rows
    share = model.share_of(test)
    rows = rows if share is None else part_propensity(rows, share, unseen=candidates == "unseen")
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
        items=None if catalogue is None else Histogram.of(catalogue[~np.isnan(catalogue)]),
        levels=levels,
        training=training,
    )


def _account(account: Account) -> dict[str, Any]:
    return {
        "source": account.source,
        "rows": account.rows,
        "dropped": {reason: count for reason, count in account.dropped.items() if count},
        "notes": list(account.notes),
    }


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
