"""Guesses that cannot be means of the outcomes are told, and good ones are left in peace."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import unskew as us
from unskew.alignment import outcome_check as plausible
from unskew.outcome import Given

from .test_coverage import draw
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


def told(result: us.Result) -> list[str]:
    return [text for text in result.warnings if "guesses" in text]


@pytest.mark.parametrize("outcome", ["means(shrink=10)", "logistic_mf(dim=2)", "crossfit(means, folds=2)"])
def test_fitted_models_are_left_in_peace(outcome: str) -> None:
    """Weighted and cross-fitted guesses average to the outcomes."""
    assert told(evaluated(None, outcome=outcome)) == []


@pytest.mark.parametrize("guess", [0.3, 0.95])
def test_bad_guesses_inside_the_range_are_no_alarm(guess: float) -> None:
    """Wrong by less than a factor of 2: dr corrects them, and nothing is said."""
    assert told(evaluated(pl.lit(guess))) == []


@pytest.mark.parametrize(
    ("guess", "graded", "means", "reach"),
    [
        (pl.lit(50.0), 1.0, True, "from 0 to 1: the guesses go from 50 to 50"),
        (pl.lit(-0.5), 1.0, True, "from 0 to 1: the guesses go from -0.5 to -0.5"),
        (pl.lit(0.1), 1.0, True, None),
        (pl.lit(1.2), 1.0, True, "from 0 to 1: the guesses go from 1.2 to 1.2"),
        (pl.lit(1.2), 5.0, True, None),  # outcomes are 0 or 5 and average to 2.4
        (pl.lit(2.0), 5.0, False, None),
        (pl.lit(5.5), 5.0, True, "from 0 to 5"),
    ],
)
def test_guesses_that_cannot_be_means_are_told(guess: Any, graded: float, means: bool, reach: str | None) -> None:
    """Outside the range, or off by more than a factor of 2: both are told, each for itself."""
    said = told(evaluated(guess, graded=graded))
    assert len(said) == means + (reach is not None), said
    assert any("on average for the seen pairs" in text for text in said) == means
    assert reach is None or any(reach in text for text in said)


def test_guesses_of_listed_pairs_are_looked_at_too() -> None:
    """A table that is wild only where nothing was seen."""
    seen = taste(0)["test"].select("user", "item", seen=pl.lit(1.0))
    wild = ALL.join(seen, on=["user", "item"], how="left").sort("user", "item")["seen"].is_null()
    (said,) = told(evaluated(pl.when(pl.lit(wild)).then(7.0).otherwise(0.5)))
    assert "the guesses go from 0.5 to 7" in said


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


def test_the_error_is_that_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard error of mean(y − q), from loops over users."""
    rng = np.random.default_rng(1)
    user, weight = np.sort(rng.integers(0, 40, 200)), rng.uniform(1.0, 9.0, 200)
    y, q = np.where(rng.random(200) < 0.5, 5.0 * (user % 2), 0.0), rng.random(200)
    monkeypatch.setattr(plausible, "BLOCK", 7)
    found = plausible.GapSums.of(np.searchsorted(user, np.arange(41)), y, q, 1.0 / weight).means
    gap = sum(w * (a - b) for w, a, b in zip(weight, y, q, strict=True)) / sum(weight)
    squares = 0.0
    for one in set(user.tolist()):
        squares += sum(w * (a - b - gap) for w, a, b, u in zip(weight, y, q, user, strict=True) if u == one) ** 2
    assert found.outcome - found.guess == pytest.approx(gap)
    assert found.error == pytest.approx(np.sqrt(squares) / sum(weight))


@pytest.mark.parametrize("weights", [False, True])
def test_either_mean_excuses_a_model(weights: bool) -> None:
    """A model that is right on the plain mean or on the weighted one is not accused."""
    held = draw(1, 2_000).held
    assert held.propensity is not None
    inverse = 1.0 / held.propensity
    value = np.where(inverse > 8.0, 1.0, 0.0)
    level = np.average(value, weights=inverse if weights else None)
    other = np.average(value, weights=None if weights else inverse)
    q = np.full(len(value), level)
    assert plausible.far_off(replace(held, value=value, q=q)) is None
    assert not 0.5 < level / other < 2.0  # the other mean would accuse it
    assert plausible.far_off(replace(held, value=value, q=q / 5.0)) is not None


def test_both_means_are_shown(tmp_path: Any) -> None:
    """In the terminal and on the page, beside each other."""
    result = evaluated(pl.lit(0.6))
    file = io.StringIO()
    Console(file=file, width=300).print(result)
    brought = result.inputs["outcome"]["mean_outcome"]
    assert f"mean guess 0.6000, mean outcome {brought:.4f} of the seen pairs" in file.getvalue()
    pytest.importorskip("vl_convert")
    result.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "mean guess of the seen pairs</dt><dd>0.6</dd>" in page
    assert f"mean outcome of the seen pairs</dt><dd>{brought:.6g}</dd>" in page
