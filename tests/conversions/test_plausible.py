"""Guesses that cannot be means of the outcomes are told, and good ones are left in peace."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.alignment import outcome_check as plausible
from unskew.core.notice import codes
from unskew.outcome import Given

from .test_crossfitting import taste

USERS, ITEMS = 1_500, 4
ALL = pl.DataFrame({"user": np.repeat(np.arange(USERS), ITEMS), "item": np.tile(np.arange(ITEMS), USERS)})


def evaluated(guess: Any, *, graded: float = 1.0, outcome: Any = None, **options: Any) -> us.Result:
    """The world of test_crossfitting, whose outcomes average to about ½ (times ``graded``), with these guesses."""
    given = taste(0)
    given["test"] = given["test"].with_columns(value=graded * pl.col("value"))
    table = Given(ALL.with_columns(prediction=guess)) if outcome is None else outcome
    asked: dict[str, Any] = {"metrics": ["dcg@1"], "estimators": ["ips", "direct", "dr"], "propensity": "known"}
    return us.evaluate(**given, outcome=table, feedback="conversions", **(asked | options))


def told(result: us.Result) -> set[str]:
    """What is said of the guesses: ``outside`` the outcomes, and ``far-off`` on average."""
    return {code.removeprefix("predictions-") for code in codes(result.warnings) if code.startswith("predictions-")}


FAR, OUT = "far-off", "outside"


@pytest.mark.parametrize(
    ("guess", "graded", "said"),
    [
        (0.3, 1.0, set()),  # wrong by less than a factor of 2: dr corrects it
        (0.95, 1.0, set()),
        (50.0, 1.0, {FAR, OUT}),
        (-0.5, 1.0, {FAR, OUT}),
        (0.1, 1.0, {FAR}),
        (1.2, 1.0, {FAR, OUT}),
        (1.2, 5.0, {FAR}),  # outcomes are 0 or 5 and average to 2.4
        (2.0, 5.0, set()),
        (5.5, 5.0, {FAR, OUT}),
    ],
)
def test_guesses_that_cannot_be_means_are_told(guess: float, graded: float, said: set[str]) -> None:
    """Outside the range, or off by more than a factor of 2: both are told, each for itself."""
    assert told(evaluated(pl.lit(guess), graded=graded)) == said


@pytest.mark.parametrize("outcome", ["means(shrink=10)", "logistic_mf(dim=2)", "crossfit(means, folds=2)"])
def test_fitted_models_are_left_in_peace(outcome: str) -> None:
    """Weighted and cross-fitted guesses average to the outcomes."""
    assert told(evaluated(None, outcome=outcome)) == set()


def test_guesses_of_listed_pairs_are_looked_at_too() -> None:
    """A table that is wild only where nothing was seen."""
    seen = taste(0)["test"].select("user", "item", seen=pl.lit(1.0))
    wild = ALL.join(seen, on=["user", "item"], how="left").sort("user", "item")["seen"].is_null()
    assert told(evaluated(pl.when(pl.lit(wild)).then(7.0).otherwise(0.5))) == {OUT}


@pytest.mark.parametrize(("rows", "rate"), [(300, 0.01), (100, 0.05)])
def test_chance_alone_is_no_alarm(rows: int, rate: float) -> None:
    """Right guesses, few rows, rare outcomes: means often differ by more than a factor of 2, and nothing is said.

    A single success leaves a small error of its own (100 rows: 4 of them lie between .01 and .05); what the guesses
    themselves expect does not.
    """
    rng, alarms, factors = np.random.default_rng(0), 0, 0
    for _ in range(1_000):
        y = (rng.random(rows) < rate).astype(float)
        if not y.any():
            continue
        means = plausible.GapSums.of(np.arange(rows + 1), y, np.full(rows, rate)).means
        factors += not 0.5 <= means.guess / means.outcome <= 2.0
        alarms += means.gross
    assert factors > 50 and alarms <= 1
