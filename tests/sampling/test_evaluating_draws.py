"""Averages over samples inside one evaluation: what they equal, that nothing else changes them, and what they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.said import refusal
from tests.sampling.draw_reference import Reference
from tests.sampling.test_draws import skewed
from tests.stream.files import assert_same
from unskew.core.errors import InputError, RefusedError
from unskew.inference import student
from unskew.log import Log
from unskew.result import Result
from unskew.sampling.repeated_draws import seeds_of
from unskew.simulate import World, relevant_for

ASKED: dict[str, Any] = {
    "metrics": ["recall@10", "dcg@10", "ndcg@10", "mrr"],
    "target": ["pooled", "per_user", "per_user_sum"],
    "refused": "skip",
}


@pytest.fixture(scope="module")
def shop() -> Any:
    world = World(users=400, items=60, seed=3, relevant=relevant_for(60))
    lists = {"popular": us.models.MostPopular().fit(world.train), "challenger": world.challenger()}
    return world, lists


def values(result: Result) -> list[float]:
    return [e.value for e in result.estimates]


def test_all_rows_are_the_log(shop: Any) -> None:
    """``full``, and a size of 1 whatever the weights: naive estimates, intervals, verdicts, hits, weights."""
    world, lists = shop
    whole = us.evaluate(world.test, lists, train=world.train, estimators=["naive"], **ASKED)
    kept = us.evaluate(world.test, lists, train=world.train, sample="full", repeats=7, **ASKED)
    weighted = us.evaluate(world.test, lists, train=world.train, sample="wtd_h", sample_size=1.0, **ASKED)
    for found in (kept, weighted):
        own = [replace(e, sample="", promise=w.promise) for e, w in zip(found.estimates, whole.estimates, strict=True)]
        assert repr(own) == repr(list(whole.estimates))
        assert repr(found.verdicts_) == repr(whole.verdicts_) and repr(found.weights) == repr(whole.weights)
        assert found.inputs["sample"]["repeats"] == 1


@pytest.mark.parametrize("strategy", ["reg", "skew", "wtd", "wtd_h"])
def test_one_draw_is_a_sample(shop: Any, strategy: str) -> None:
    """The values of ``us.sample`` with the same seed, also where held-out rows repeat training pairs."""
    world, lists = shop
    again = pl.concat([log.to_frame().select("user", "item") for log in (world.test, world.train.take(np.arange(300)))])
    test, mcar = Log.from_frame(again), skewed(200, 400, 60)
    asked: dict[str, Any] = ASKED | {"train": world.train, "mcar": mcar}
    one = us.evaluate(test, lists, sample=strategy, sample_size=0.3, repeats=1, seed=5, **asked)
    sample = us.sample(test, strategy, train=world.train, mcar=mcar, size=0.3, seed=5)
    other = us.evaluate(sample, lists, estimators=["naive"], **asked)
    assert values(one) == values(other) and len(values(one)) > 8
    for a, b in zip(one.estimates, other.estimates, strict=True):
        assert (a.hits, a.interactions, a.users, a.ess, a.support_gap) == (
            b.hits, b.interactions, b.users, b.ess, b.support_gap,
        )  # fmt: skip
    assert one.inputs["test"]["dropped"]


def test_several_draws_are_averages_over_their_samples(shop: Any) -> None:
    """Sums over all samples, divided afterwards; the seeds that are told give the samples back."""
    world, lists = shop
    result = us.evaluate(world.test, lists, train=world.train, sample="wtd_h", repeats=4, per_user=True, **ASKED)
    told = result.inputs["sample"]
    assert told["seeds"] == list(seeds_of(0, 4)) and told["rows_per_draw"] == len(world.test) // 2
    parts = []
    for seed in told["seeds"]:
        sample = us.sample(world.test, "wtd_h", train=world.train, seed=seed)
        one = us.evaluate(sample, lists, train=world.train, estimators=["naive"], per_user=True, **ASKED)
        parts.append(one.per_user())
    keys = ["model", "metric", "target"]
    sums = pl.concat(parts).group_by(keys).agg(pl.col("numerator", "divisor").sum())
    expected = {tuple(row[:3]): row[3] / row[4] for row in sums.iter_rows()}
    for e in result.estimates:
        assert e.value == pytest.approx(expected[e.model, e.metric, e.target], rel=1e-12)
    users = [part.sort("user", *keys) for part in parts]
    mean = sum(part["numerator"].to_numpy() for part in users) / 4
    np.testing.assert_allclose(result.per_user().sort("user", *keys)["numerator"].to_numpy(), mean, atol=1e-12)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32),
    target=st.sampled_from(["pooled", "per_user"]),
    strategy=st.sampled_from(["reg", "skew", "wtd_h"]),
    repeats=st.integers(1, 3),
    share=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
)
def test_against_loops(seed: int, target: str, strategy: str, repeats: int, share: float) -> None:
    """Value, standard error, error of the difference and its score test, on small logs."""
    frame = skewed(90, 14, 12, seed)
    log, train = Log.from_frame(frame[::2]), frame[1::2]
    rng = np.random.default_rng(seed)
    listed = [[(u, int(i)) for u in range(14) for i in rng.permutation(12)[:4]] for _ in range(2)]
    models = {
        name: pl.DataFrame([(*pair, n % 4 + 1) for n, pair in enumerate(pairs)], ["user", "item", "rank"], orient="row")
        for name, pairs in zip("ab", listed, strict=True)
    }
    number = max(int(share * len(log)), 1)
    try:
        result = us.evaluate(
            log, models, train=train, candidates="all", target=target, sample=strategy, sample_size=number,
            repeats=repeats, seed=seed,
        )  # fmt: skip
    except InputError as problem:  # no list hits anything in any sample
        assert problem.code == "no-hits"
        return
    seeds = result.inputs["sample"]["seeds"]
    slow = Reference(log, strategy, train, number, seeds, [set(pairs) for pairs in listed], target)
    for j, e in enumerate(result.estimates):
        assert e.value == pytest.approx(slow.value(j), rel=1e-9, abs=1e-12)
        if e.hits:
            assert e.se == pytest.approx(slow.se(j), rel=1e-6, abs=1e-9, nan_ok=True)
    (verdict,) = result.verdicts_
    if verdict.users_apart > 1:
        assert verdict.se == pytest.approx(slow.se_of_difference(), rel=1e-6, abs=1e-9, nan_ok=True)
        d = np.array([slow.x[u][0] - slow.x[u][1] for u in slow.users])
        df = min(verdict.users_apart, (d @ d) ** 2 / (d**4).sum()) - 1.0
        if df > 0.0:
            assert verdict.p == pytest.approx(student.two_sided(slow.score(), df), rel=1e-6)


def test_neither_order_nor_threads_nor_types_of_ids_matter(shop: Any) -> None:
    """The same to the last digit; where the items' order is another one, sums are added up in another order."""
    world, lists = shop
    frame = world.test.to_frame().select("user", "item")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    first, *others = (
        us.evaluate(test, lists, train=world.train, sample="wtd_h", repeats=3, threads=threads, **ASKED)
        for test, threads in ((frame, 1), (shuffled, 4), (shuffled.with_columns(pl.col("item").cast(pl.String)), 2))
    )
    assert repr(others[0].estimates) == repr(first.estimates) and repr(others[0].verdicts_) == repr(first.verdicts_)
    for one, two in zip(first.estimates, others[1].estimates, strict=True):
        for key, number in vars(one).items():
            assert_same(vars(two)[key], number, key)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"repeats": 3}, ""),
        ({"sample_size": 0.5}, ""),
        ({"sample": "wtdh"}, "unknown-name"),
        ({"sample": "wtd_h", "train": None}, ""),
        ({"sample": "wtd"}, ""),
        ({"sample": "reg", "repeats": 0}, "out-of-range"),
        ({"sample": "reg", "repeats": 1001}, "out-of-range"),
        ({"sample": "reg", "repeats": 2.5}, "not-an-integer"),
        ({"sample": "reg", "sample_size": 1.5}, "out-of-range"),
        ({"sample": "reg", "sample_size": "half"}, "bad-value"),
        ({"sample": "reg", "sample_size": 10**9}, "too-large"),
        ({"sample": "reg", "sample_size": 1e-9}, "too-few-rows"),
        ({"sample": "full", "sample_size": 0.5}, "conflicting-arguments"),
        ({"sample": "reg", "seed": 2**63}, "out-of-range"),
        ({"sample": "reg", "interval": "bootstrap"}, ""),
    ],
)
def test_what_is_an_error(shop: Any, asked: dict[str, Any], code: str) -> None:
    world, lists = shop
    problem = refusal(us.evaluate, world.test, lists, **{"train": world.train, **asked})
    assert isinstance(problem, InputError) and (problem.code == code or not code)


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
