"""Intervals of naive Bayes know of the error that few random rows bring, if propensities are refitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from tests.inference.naive_bayes_study import CELLS, ITEMS, LEVEL, METHODS, PLACES, World, coverage, replicates
from tests.worlds import pairs_of
from unskew.inference.intervals import percentile

WORLDS = 300


def test_refitting_draws_the_random_rows_too() -> None:
    """100 random rows: refitted intervals cover 95 % (three Monte Carlo errors of 300 worlds are 3.8 points).

    Taken as known, or with the random rows held fixed, intervals of ips cover about half.
    """
    inside = coverage(WORLDS, 100)[0].mean(axis=0)
    refit = METHODS.index("refit")
    assert (inside[:, refit] > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / WORLDS)).all()
    assert (np.delete(inside[CELLS.index(("ips", "per_user_sum"))], refit) < 0.7).all()


def frame(world: World, rows: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """Some pairs with their stars."""
    return pairs_of(rows, value=world.stars.astype(np.float64))


@pytest.mark.parametrize("refit", [False, True])
def test_the_study_computes_what_evaluate_computes(refit: bool) -> None:
    """Estimates and bounds of ``evaluate`` are those of the study's fast way; all users are drawn once for all logs."""
    world, seed, size = World.draw(5, 100), 5, 60
    value, methods = replicates(world, seed, size)
    user, item = np.nonzero(world.listed)
    lists = pl.DataFrame({"user": user, "item": item, "rank": np.tile(np.arange(1, PLACES + 1), len(world.stars))})
    options: dict[str, Any] = {"interval": "bootstrap", "replicates": size, "refit": refit, "seed": seed}
    result = us.evaluate(
        frame(world, world.test), {"m": lists}, metrics=[f"recall@{PLACES}"], estimators=["ips", "snips"],
        target=["per_user_sum", "pooled"], propensity="naive_bayes", train=frame(world, world.train), share=0.5,
        mcar=frame(world, world.sample), users=pl.DataFrame({"user": np.arange(len(world.stars))}),
        items=pl.DataFrame({"item": np.arange(ITEMS)}), feedback="ratings", relevant=">=4", candidates="all",
        refused="skip", **options,
    )  # fmt: skip
    found = {(e.estimator, str(e.target)): e for e in result.estimates}
    for place, cell in enumerate(CELLS):
        interval = percentile(methods["refit" if refit else "taken as known"][:, place], LEVEL)
        assert found[cell].value == pytest.approx(value[place], rel=1e-9)
        assert (found[cell].low, found[cell].high) == pytest.approx((interval.low, interval.high), rel=1e-6)
