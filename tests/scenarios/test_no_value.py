"""A value that could be anything is no value: refused where that is so, said, and left out of averages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.inference.trust import has_no_value
from unskew.result import Estimate, Result, ScenarioTable

USERS, RARE = 300, 3


@pytest.fixture(scope="module")
def logs() -> dict[str, Any]:
    """Everybody clicks item 0, which training has 300 times; three users also click an item that it has once."""
    everybody = np.arange(USERS)
    test = pl.DataFrame(
        {"user": [*everybody, *range(RARE)], "item": [*np.zeros(USERS, dtype=np.int64), *range(1, RARE + 1)]}
    )
    train = pl.DataFrame(
        {
            "user": [*(USERS + everybody), *(USERS + np.arange(RARE))],
            "item": [*np.zeros(USERS, dtype=np.int64), *range(1, RARE + 1)],
        }
    )
    train = pl.concat([train, pl.DataFrame({"user": everybody, "item": 10 + everybody % 7})])
    return {"test": test, "train": train}


def lists(*items: int) -> pl.DataFrame:
    users = np.arange(USERS)
    return pl.DataFrame({"user": users}).join(
        pl.DataFrame({"item": items, "rank": range(1, len(items) + 1)}), how="cross"
    )


@pytest.fixture(scope="module")
def result(logs: dict[str, Any]) -> Result:
    models = {"head": lists(0, 10, 11, 12), "both": lists(0, 1, 2, 3)}
    return us.evaluate(logs["test"], models, train=logs["train"], metrics=["recall@4"])


def table(result: Result) -> ScenarioTable:
    (found,) = result.scenarios
    return found


def row(result: Result, model: str, estimator: str = "exposure_path") -> Estimate:
    (found,) = [e for e in result.estimates if (e.model, e.estimator) == (model, estimator)]
    return found


def test_the_value_of_a_scenario_that_could_be_anything_is_refused(result: Result) -> None:
    values = {v.model: v for v in table(result).values}
    gone = [n for n, value in enumerate(values["both"].value) if math.isnan(value)]
    assert gone and gone[-1] == 10 and 0 not in gone, "where rare items weigh most, and not on the log as it is"
    for v in values.values():
        for value, low, high in zip(v.value, v.low, v.high, strict=True):
            assert math.isnan(value) == math.isnan(low) == math.isnan(high)
            assert not (low <= 0.0 and high >= 1.0)


def test_the_row_of_all_scenarios_says_so_and_averages_alike(result: Result) -> None:
    """Averages of models are over the same scenarios; a range is that of the model's own."""
    values = {v.model: v for v in table(result).values}
    there = [n for n in range(11) if not any(math.isnan(v.value[n]) for v in values.values())]
    for model, own in values.items():
        e, known = row(result, model), [n for n in range(11) if not math.isnan(own.value[n])]
        assert e.value == pytest.approx(np.mean([own.value[n] for n in there]))
        assert (e.low, e.high) == (min(own.low[n] for n in known), max(own.high[n] for n in known))
    assert has_no_value(row(result, "both").trust) and "exposure" in row(result, "both").trust
    assert not has_no_value(row(result, "head").trust) and "exposure" in row(result, "head").trust
    assert not has_no_value(row(result, "both", "naive").trust), "on the log as it is there is a value"


def test_what_is_refused_everywhere_is_not_passed_over_for_naive(logs: dict[str, Any]) -> None:
    """A headline by naive would promise less, and say more."""
    models = {"both": lists(0, 1, 2, 3), "again": lists(1, 0, 2, 3)}
    found = us.evaluate(
        logs["test"], models, train=logs["train"], metrics=["recall@4"], propensity="popularity(gamma=1)",
        target="pooled",
    )  # fmt: skip
    assert all(math.isnan(e.value) and has_no_value(e.trust) for e in found.estimates if e.estimator == "snips")
    assert found.headline()["estimator"] == "snips" and found.headline()["debiased"]
