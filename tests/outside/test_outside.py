"""Parts that are written outside the package work everywhere the built-in ones do, from one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.outside import parts
from tests.report.every_output import shown
from tests.said import refuses
from unskew import metrics, models, sampling
from unskew.core.errors import InputError, RefusedError
from unskew.simulate import World, relevant_for


def test_a_name_is_taken_once() -> None:
    with refuses("name-taken"):
        metrics.register(type("Other", (parts.Geometric,), {}))
    with refuses("wrong-type"):
        metrics.register(parts.ByValue)


@pytest.fixture(scope="module")
def shop() -> Any:
    world = World(users=300, items=60, seed=3, relevant=relevant_for(60))
    train = world.train
    lists = {
        "popular": us.models.MostPopular().fit(train),
        "own": models.make("alphabetical(skip=3)").fit(train),
        "challenger": world.challenger(),
    }
    return world, train, lists


@pytest.mark.parametrize("target", ["per_user", "pooled"])
@pytest.mark.parametrize("estimator", ["rooted", "halves"])
def test_metric_estimator_and_model(shop: Any, tmp_path: Path, estimator: str, target: str) -> None:
    world, train, lists = shop
    result = us.evaluate(
        world.test, lists, train=train, propensity="known", target=target,
        metrics=["geometric(ratio=0.3)@10", "recall@10"], estimators=["naive", "snips", estimator],
    )  # fmt: skip
    found = {(e.model, e.metric, e.estimator): e.value for e in result.estimates}
    page = shown(result, tmp_path)
    assert "geometric(ratio=0.3)@10" in page and estimator in page
    if estimator == "halves":
        for model in lists:
            both = [found[model, "recall@10", other] for other in ("naive", "snips")]
            assert found[model, "recall@10", "halves"] == pytest.approx(sum(both) / 2)
    assert any(v.estimator == estimator for v in result.verdicts_)


def test_propensities(shop: Any, tmp_path: Path) -> None:
    world, train, lists = shop
    result = us.evaluate(world.test, lists, train=train, propensity="root_count")
    shown(result, tmp_path)
    both = us.compare_propensities(world.test, lists, train=train, propensities=["root_count", "popularity(gamma=0)"])
    values = [[e.value for e in r.estimates] for r in both.results.values()]
    assert values[0] == pytest.approx(values[1])  # γ = 0 is the root of the count
    shown(both, tmp_path)
    us.propensity.check(["root_count"], train)


def test_what_is_read_off_terms(shop: Any) -> None:
    """Without a sensitivity there is no tipping point; metrics that divide by weights need a divisor of weights."""
    world, train, lists = shop
    call = {"train": train, "propensity": "known", "target": "per_user", "metrics": ["map(divide=min)@10", "ndcg@10"]}
    result = us.evaluate(world.test, lists, estimators=["rooted", "halves"], refused="skip", **call)
    assert {v.tipping for v in result.verdicts_ if v.estimator in ("rooted", "halves")} == {None}
    cells = {(e.metric, e.estimator) for e in result.estimates}
    assert cells == {("map(divide=min)@10", "rooted"), ("ndcg@10", "rooted"), ("ndcg@10", "halves")}
    with pytest.raises(RefusedError, match="halves"):
        us.evaluate(world.test, lists, estimators=["halves"], **call)


def test_samplers(shop: Any, tmp_path: Path) -> None:
    """In memory and from files; a weight that is no weight is refused by name."""
    world, train, _ = shop
    found = us.sample(world.test, "damped(power=-1)", train=train)
    assert found.sampled_by == "damped(power=-1)"
    lists = {"popular": us.models.MostPopular().fit(train)}
    averaged = us.evaluate(world.test, lists, train=train, sample="damped(power=-1)", repeats=2)
    assert averaged.estimates[0].sample.startswith("damped(power=-1), 2 draws of ")
    for name, log in (("train", train), ("test", world.test)):
        log.to_frame().write_parquet(tmp_path / f"{name}.parquet")
    out = tmp_path / "out.parquet"
    sampling.sample_file(tmp_path / "test.parquet", out, "damped(power=-1)", train=tmp_path / "train.parquet")
    pairs = [set(frame.select("user", "item").rows()) for frame in (found.to_frame(), pl.read_parquet(out))]
    assert pairs[0] == pairs[1]
    for wrong in (np.zeros(60), np.full(60, np.nan), np.ones(3)):
        broken = type("Broken", (parts.Damped,), {"item_weight": lambda self, counts, wrong=wrong: wrong})()
        with pytest.raises(InputError, match="item_weight of Broken"):
            us.sample(world.test, broken, train=train)
