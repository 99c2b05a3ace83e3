"""What became of the inputs, as plain values for the result: rows read and dropped, users, lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.row_facts import RowFacts
from unskew.alignment.rows import IN_TRAINING
from unskew.core.errors import InputError
from unskew.kernels.arrays import Ints64
from unskew.log import Account, Feedback, Log
from unskew.log.relevance import gains

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


def nothing_left(test: Log, rows: int, relevant: str | None, dropped: Mapping[str, int]) -> NothingLeftError:
    """What to say where no held-out interaction counts; ``rows`` were kept when the log was read."""
    said = [f"{test.account.source}: no relevant held-out interaction is left."]
    if reasons := ", ".join(f"{count:,} × {reason}" for reason, count in dropped.items() if count):
        said.append(f"Dropped: {reasons}.")
    if rows and dropped.get(IN_TRAINING) == rows:
        said.append(
            "All rows of the test log are in the training log too: was the same file given twice? To judge repeats of "
            "training pairs, use candidates='all'."
        )
    elif relevant is not None and test.value is not None and len(test):
        low, high = float(test.value.min()), float(test.value.max())
        if not gains(test, Feedback.RATINGS, relevant).any():
            found = f"all values are {low:g}" if low == high else f"the values go from {low:g} to {high:g}"
            said.append(f"None of {rows:,} rows is {relevant}: {found}. Give a threshold that some of them reach.")
        else:
            said.append(f"No row that is left is {relevant}; before rows were dropped, some were.")
    elif relevant is not None:
        said.append(f"None of {rows:,} rows that is left is {relevant}.")
    return NothingLeftError(" ".join(said), code="nothing-to-judge")


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
