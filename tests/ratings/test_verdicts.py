"""Who is better when smaller is better: verdicts, words, charts; and bootstrap, refitting and segments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.report.reading import first, heading, names, told
from tests.said import only
from unskew.report import page

USERS, ITEMS = 150, 12
ESTIMATORS = ["naive", "ips", "snips", "snips(over=user)"]
LOWER = ["mae", "mse", "rmse"]


def world(seed: int = 0) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Ratings of which the good ones are seen more often; ``rosy`` guesses too high, ``near`` and ``far`` are fair.

    Of the liked pairs, which naive mostly sees, rosy says the truth; of all pairs near is the best.
    """
    rng = np.random.default_rng(seed)
    value = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], (USERS, ITEMS), p=[0.3, 0.25, 0.2, 0.15, 0.1])
    p = np.where(value >= 4.0, 0.95, 0.05)
    seen = rng.random((USERS, ITEMS)) < p
    user, item = np.nonzero(seen)
    columns = {"user": user, "item": item, "value": value[seen], "propensity": p[seen]}
    frame = pl.DataFrame(columns).with_columns(shelf=pl.Series(np.where(item < 5, "left", "right")))
    near = value + rng.normal(0.0, 0.9, value.shape)
    models = {"far": value + rng.normal(0.0, 2.0, value.shape), "near": near, "rosy": np.maximum(value, 4.2)}
    return frame, models


def judge(frame: pl.DataFrame, models: dict[str, Any], **settings: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": LOWER, "estimators": ESTIMATORS, "propensity": "known", "feedback": "ratings"}
    return us.evaluate(frame, models, **(asked | settings))


@pytest.mark.parametrize("metric", [*LOWER, "accuracy"])
def test_the_smaller_error_is_the_better_one(metric: str) -> None:
    """far against near: the difference is positive for errors and negative for accuracy, and far is behind in all."""
    frame, models = world()
    result = judge(frame, models, metrics=[metric])
    rows = {v.estimator: v for v in result.verdicts_ if (v.a, v.b) == ("far", "near")}
    assert set(rows) == set(ESTIMATORS)
    for row in rows.values():
        if row.estimator == "snips(over=user)" and row.verdict == "undecided":  # about one rare rating of each user
            assert only("heavy-clicks", [row.trust])
        else:
            assert row.verdict == "behind"
            assert ("`propensity`" in row.assumption) == (row.estimator != "naive")
        assert (row.difference > 0.0) == (metric != "accuracy")
        assert row.low <= row.difference <= row.high


def test_segments_of_users_are_those_users_alone() -> None:
    """--by a column of the users: each segment is what an evaluation of its users alone would say, ips included."""
    frame, models = world(10)
    people = pl.DataFrame({"user": np.arange(USERS)}).with_columns(club=(pl.col("user") % 3).cast(pl.String))
    asked = [*ESTIMATORS, "snips(over=item)"]
    result = judge(frame, models, users=people, by="club", estimators=asked)
    for club in ("0", "1", "2"):
        mine = people.filter(pl.col("club") == club)
        log = us.Log.from_frame(frame, feedback="ratings")
        part = log.take(np.isin(log.users.values.to_numpy()[log.user], mine["user"].to_numpy()))
        alone = judge(part, models, users=mine, estimators=asked)  # type: ignore[arg-type]
        found = [e for e in result.estimates if e.segment == f"club={club}"]
        assert [(e.model, e.metric, e.estimator) for e in found] == [
            (e.model, e.metric, e.estimator) for e in alone.estimates
        ]
        np.testing.assert_allclose([e.value for e in found], [e.value for e in alone.estimates], rtol=1e-12)
        np.testing.assert_allclose([e.se for e in found], [e.se for e in alone.estimates], rtol=1e-9)


def test_naive_and_debiased_disagree_about_the_rosy_model() -> None:
    """Among what was seen rosy errs least; over all pairs near does: told from the winner's side, and so are pages."""
    frame, models = world()
    result = judge(frame, models, metrics=["mae"], estimators=["naive", "snips"])
    found = {v.estimator: v.verdict for v in result.verdicts_ if (v.a, v.b) == ("near", "rosy")}
    assert found == {"naive": "behind", "snips": "ahead"}
    del models["far"]
    two = judge(frame, models, metrics=["mae"], estimators=["naive", "snips"])
    assert names(first(two)) == ["near", "rosy"] and {"ahead", "naive-reverses"} <= set(told(first(two)))
    assert heading(result)[1][0] == "near" and "<title>near " in page(result)


def test_a_point_without_an_interval_carries_no_headline() -> None:
    """snips(over=item) has no error and no verdicts; another estimator speaks, and pages are drawn all the same."""
    frame, models = world(5)
    result = judge(frame, models, metrics=["mae"], estimators=["naive", "snips", "snips(over=item)"])
    assert result.headline()["estimator"] == "snips"
    assert all(v.estimator != "snips(over=item)" for v in result.verdicts_)
    rows = [e for e in result.estimates if e.estimator == "snips(over=item)"]
    assert len(rows) == 3 and all(math.isnan(e.se) and math.isfinite(e.value) for e in rows)
    alone = judge(frame, models, metrics=["mae"], estimators=["snips(over=item)"])
    assert "snips(over=item)" in page(alone) and not alone.verdicts_
