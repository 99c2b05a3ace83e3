"""What became of the inputs, as plain values for the result: rows read and dropped, users, lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.row_facts import RowFacts
from unskew.errors import InputError
from unskew.kernels.arrays import Ints64
from unskew.log import Account

CLICKS = ("1", "2", "3-5", "6+")


def account_of(
    inputs: InputFacts, lists: Mapping[str, Any], facts: RowFacts, dropped: Mapping[str, int], relevant: bool
) -> dict[str, Any]:
    """The account of one evaluation.

    Args:
        lists: accounts of the models that have lists.
        dropped: held-out rows that were left out, by reason.
        relevant: whether n_u is known.
    """
    test, train, population = inputs.test, inputs.train, inputs.population
    return {
        "test": as_values(replace(test.account, dropped=dropped)),
        "train": None if train is None else as_values(train.account),
        "models": {name: lists.get(name) or _predictor(inputs.predictions[name]) for name in inputs.models},
        "population": None if population is None else as_values(population),
        "users": _users(inputs, facts, relevant),
        "clicks_per_user": clicks_per_user(facts.clicks),
    }


def as_values(account: Account) -> dict[str, Any]:
    """The account of a file or frame as plain values."""
    return {
        "source": account.source,
        "rows": account.rows,
        "dropped": {reason: count for reason, count in account.dropped.items() if count},
        "notes": list(account.notes),
        "columns": dict(account.columns),
    }


def clicks_per_user(counts: Ints64) -> dict[str, int]:
    """How many users have 1, 2, 3–5, 6+ seen relevant items (``EvaluationData.click_counts``)."""
    return {name: int(count) for name, count in zip(CLICKS, counts, strict=True)}


class NothingLeftError(InputError):
    """No held-out interaction counts."""


def nothing_left(test: Account, rows: int, relevant: str | None, dropped: Mapping[str, int]) -> NothingLeftError:
    """What to say where no held-out interaction counts; ``rows`` were kept when the log was read."""
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in dropped.items()) or "nothing"
    threshold = f" None of {rows:,} rows is {relevant}." if relevant is not None else ""
    return NothingLeftError(f"{test.source}: no relevant held-out interaction is left.{threshold} Dropped: {reasons}.")


def _predictor(account: Account) -> dict[str, Any]:
    """The account of a model that predicts and makes no lists."""
    return as_values(account) | {"longest_rank": 0}


def _users(inputs: InputFacts, facts: RowFacts, relevant: bool) -> dict[str, Any]:
    trained = inputs.train is not None and not inputs.rules.by_users
    logs = "training and test logs" if trained else "test log"
    return {
        "population": facts.users,
        "population_is": f"users of the {logs}" if inputs.population is None else "given",
        "with_held_out": facts.active,
        "relevant_items_known": relevant,
    }
