"""What became of the inputs, as plain values for the result: rows read and dropped, users, lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.alignment.inputs import Inputs
from unskew.engine.data import EvaluationData
from unskew.errors import InputError
from unskew.log import Account, Log, Predictions
from unskew.log.population import Population

CLICKS = (("1", 1, 1), ("2", 2, 2), ("3-5", 3, 5), ("6+", 6, math.inf))


def account_of(
    inputs: Inputs, lists: Mapping[str, Any], held: EvaluationData, dropped: dict[str, int]
) -> dict[str, Any]:
    """The account of one evaluation; ``lists`` are those of the models that have lists."""
    train, population = inputs.train, inputs.population
    return {
        "test": as_values(replace(inputs.test.account, dropped=dropped)),
        "train": None if train is None else as_values(train.account),
        "models": {name: lists.get(name) or _predictor(name, inputs.predictions[name]) for name in inputs.models},
        "population": None if population is None else as_values(population.account),
        "users": _users(population, held, train is not None and not inputs.rules.by_users),
        "clicks_per_user": clicks_per_user(held),
    }


def as_values(account: Account) -> dict[str, Any]:
    """The account of a file or frame as plain values."""
    return {
        "source": account.source,
        "rows": account.rows,
        "dropped": {reason: count for reason, count in account.dropped.items() if count},
        "notes": list(account.notes),
    }


def clicks_per_user(held: EvaluationData) -> dict[str, int]:
    """How many users have 1, 2, 3–5, 6+ seen relevant items."""
    clicks = held.clicks
    return {name: int(np.count_nonzero((clicks >= low) & (clicks <= high))) for name, low, high in CLICKS}


class NothingLeftError(InputError):
    """No held-out interaction counts."""


def nothing_left(test: Log, relevant: str | None, dropped: Mapping[str, int]) -> NothingLeftError:
    """What to say where no held-out interaction counts."""
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in dropped.items()) or "nothing"
    threshold = f" None of {len(test):,} rows is {relevant}." if relevant is not None else ""
    return NothingLeftError(
        f"{test.account.source}: no relevant held-out interaction is left.{threshold} Dropped: {reasons}."
    )


def _predictor(name: str, source: Any) -> dict[str, Any]:
    """The account of a model that predicts and makes no lists."""
    account = source.account if isinstance(source, Predictions) else Account(name, 0)
    return as_values(account) | {"longest_rank": 0}


def _users(population: Population | None, held: EvaluationData, trained: bool) -> dict[str, Any]:
    logs = "training and test logs" if trained else "test log"
    return {
        "population": held.users,
        "population_is": f"users of the {logs}" if population is None else "given",
        "with_held_out": int(np.count_nonzero(np.diff(held.indptr))),
        "relevant_items_known": held.relevant is not None,
    }
