"""Evaluating on a sample: the naive estimate of its rows, never called debiased, and no second correction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.errors import RefusedError
from unskew.simulate import World, relevant_for


@pytest.fixture(scope="module")
def shop() -> Any:
    world = World(users=400, items=60, seed=3, relevant=relevant_for(60))
    lists = {"popular": us.models.MostPopular().fit(world.train), "challenger": world.challenger()}
    return world, lists


def test_a_sample_is_evaluated_naively_and_says_so(shop: Any, tmp_path: Path) -> None:
    """From memory and from a file alike; the words are those of a naive estimate, and ``better`` is not among them."""
    world, lists = shop
    fairer = us.sample(world.test, "wtd_h", train=world.train)
    fairer.to_frame().write_parquet(tmp_path / "fair.parquet")
    results = [us.evaluate(test, lists, train=world.train) for test in (fairer, tmp_path / "fair.parquet")]
    for result in results:
        assert {e.estimator for e in result.estimates} == {"naive"}
        assert {v.verdict for v in result.verdicts_} <= {"ahead", "behind", "undecided"}
        assert any("does not debias" in warning for warning in result.warnings)
        assert {e.standing for e in result.estimates} == {"not debiased"}
    whole = us.evaluate(world.test, lists, train=world.train, estimators=["naive"])
    assert [e.value for e in results[0].estimates] == [e.value for e in results[1].estimates]
    assert [e.value for e in results[0].estimates] != [e.value for e in whole.estimates]


@pytest.mark.parametrize("asked", [{"propensity": "popularity(gamma=1)"}, {"estimators": ["exposure_path"]}])
@pytest.mark.parametrize("which", ["test", "train", "file"])
def test_nothing_is_corrected_twice(shop: Any, tmp_path: Path, asked: dict[str, Any], which: str) -> None:
    world, lists = shop
    logs = {"test": world.test, "train": world.train}
    source = "test" if which == "file" else which
    logs[source] = us.sample(logs[source], "skew", train=world.train)
    if which == "file":
        logs["test"].to_frame().write_parquet(tmp_path / "fair.parquet")
        logs["test"] = tmp_path / "fair.parquet"
    with pytest.raises(RefusedError, match="drawn with unequal chances"):
        us.evaluate(logs["test"], lists, train=logs["train"], **asked)


@pytest.mark.parametrize("split", [False, True])
def test_equal_chances_keep_the_level_of_propensities(split: bool) -> None:
    """ips on reg samples is on average ips on all rows, whether the log is a part of a split or never was split.

    40 seeds; the mean lies within 4 of its standard errors. A share of ½ in place of scaled propensities would say that
    training holds the other half, and be off by far more.
    """
    rng = np.random.default_rng(0)
    user, item = (x.ravel() for x in np.meshgrid(np.arange(300), np.arange(30), indexing="ij"))
    p = 0.15 + 0.6 * rng.random(30)
    value = (rng.random(len(user)) < 0.4).astype(float)
    frame = pl.DataFrame({"user": user, "item": item, "value": value, "propensity": p[item]})
    logs = [us.Log.from_frame(frame.filter(rng.random(len(frame)) < p[item]), feedback="conversions") for _ in range(2)]
    train, test = us.split.holdout(logs[0], 0.5) if split else logs
    lists = us.Recommendations.from_frame(
        pl.DataFrame(
            [(u, i, i + 1) for u in range(300) for i in range(5)], schema=["user", "item", "rank"], orient="row"
        )
    )

    def ips(rows: us.Log) -> float:
        found = us.evaluate(
            rows,
            {"first": lists},
            train=train,
            metrics=["dcg@5"],
            estimators=["ips"],
            propensity="known" if split else "known(part=test)",
            target="per_user_sum",
            users=pl.DataFrame({"user": range(300)}),
        )
        return found.estimates[0].value

    values = [ips(us.sample(test, "reg", seed=seed)) for seed in range(40)]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert abs(np.mean(values) - ips(test)) < 4 * error < 0.1 * ips(test)
