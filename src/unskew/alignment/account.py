"""What became of the inputs, as plain values for the result: rows read and dropped, users, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.alignment.inputs import Ledger, Rules, plain
from unskew.alignment.predicted import Sources
from unskew.engine.held import Held
from unskew.log import Account, Log, Predictions
from unskew.log.population import Population

CLICKS = (("1", 1, 1), ("2", 2, 2), ("3-5", 3, 5), ("6+", 6, None))


def account_of(
    test: Log,
    seen: Log | None,
    population: Population | None,
    lists: Mapping[str, Any],
    predictions: Sources,
    models: Sequence[str],
    held: Held,
    rules: Rules,
    ledger: Ledger,
) -> dict[str, Any]:
    """The account of one evaluation; ``lists`` are those of the models that have lists."""
    return {
        "test": plain(replace(test.account, dropped=ledger.dropped)),
        "train": None if seen is None else plain(seen.account),
        "models": {name: lists.get(name) or _predictor(name, predictions[name]) for name in models},
        "population": None if population is None else plain(population.account),
        "users": _users(population, held, seen is not None and not rules.by_users),
        "clicks_per_user": clicks_per_user(held),
    }


def clicks_per_user(held: Held) -> dict[str, int]:
    """How many users have 1, 2, 3–5, 6+ seen relevant items."""
    clicks = np.add.reduceat(np.append(held.value > 0.0, False).astype(np.int64), held.indptr[:-1])
    clicks[np.diff(held.indptr) == 0] = 0
    return {
        name: int(np.count_nonzero((clicks >= low) & (clicks <= (high if high is not None else clicks.max(initial=0)))))
        for name, low, high in CLICKS
    }


def nothing_left(test: Log, rules: Rules, ledger: Ledger) -> str:
    """What to say where no held-out interaction counts."""
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in ledger.dropped.items()) or "nothing"
    threshold = f" None of {len(test):,} rows is {rules.relevant}." if rules.relevant is not None else ""
    return f"{test.account.source}: no relevant held-out interaction is left.{threshold} Dropped: {reasons}."


def _predictor(name: str, source: Any) -> dict[str, Any]:
    """The account of a model that predicts and makes no lists."""
    account = source.account if isinstance(source, Predictions) else Account(name, 0)
    return plain(account) | {"longest_rank": 0}


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
