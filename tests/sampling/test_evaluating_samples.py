"""Evaluating on a sample: the naive estimate of its rows, never called debiased, and no second correction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unskew as us
from unskew.errors import RefusedError
from unskew.notice import codes
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
        assert {"sampled-rows"} <= set(codes(result.warnings))
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
    with pytest.raises(RefusedError):
        us.evaluate(logs["test"], lists, train=logs["train"], **asked)
