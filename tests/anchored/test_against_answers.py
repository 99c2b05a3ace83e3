"""The log held against answers: right propensities and shares of exposure are left alone, wrong ones are named."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.anchored.exposure_worlds import ITEMS, USERS, ExposureWorld
from tests.said import only
from tests.worlds import listed, monte_carlo_error, worlds
from unskew.core.notice import codes
from unskew.inference.profiles import WeighedRows, compare, gap
from unskew.judging.log_and_answers import LogAndAnswers
from unskew.judging.path_range import PathRange, path_range
from unskew.judging.propensity_check import check_propensity
from unskew.kernels.arrays import Floats
from unskew.result import Result

K = 8


@given(st.integers(0, 10_000))
def test_two_averages_against_a_loop(seed: int) -> None:
    """θ and its error from dicts, stratum by stratum, the answers' residuals around the log's average."""
    rng = np.random.default_rng(seed)
    users, sizes = 9, rng.integers(1, 40, 2)
    strata = rng.integers(0, 3, users)
    rows = [
        WeighedRows(rng.integers(0, users, n), rng.exponential(size=n), rng.integers(0, 3, n).astype(float))
        for n in sizes
    ]
    value, means, parts = 0.0, [0.0, 0.0], dict.fromkeys(range(users), 0.0)
    kept = []
    for s in range(3):
        mine, theirs = ([n for n in range(len(r.user)) if strata[r.user[n]] == s] for r in rows)
        if mine and len(theirs) >= 5:
            kept.append((s, mine, theirs, sum(rows[0].weight[n] for n in mine)))
    whole = sum(weight for *_, weight in kept)
    for _, mine, theirs, weight in kept:
        total = sum(rows[1].weight[n] for n in theirs)
        averages = [
            sum(r.weight[n] * r.value[n] for n in own) / sum(r.weight[n] for n in own)
            for r, own in zip(rows, (mine, theirs), strict=True)
        ]
        means = [m + weight / whole * a for m, a in zip(means, averages, strict=True)]
        value += weight / whole * (averages[0] - averages[1])
        for r, own, below, sign in ((rows[0], mine, weight, 1.0), (rows[1], theirs, total, -1.0)):
            for n in own:
                part = weight / whole * r.weight[n] * (r.value[n] - averages[0]) / below
                parts[int(r.user[n])] += sign * part
    found = gap(rows[0], rows[1], strata)
    told = compare(rows[0], rows[1], strata)
    if not kept:
        assert told is None
        return
    assert told is not None
    assert (told.log, told.answers) == pytest.approx(means)
    assert told.log - told.answers == pytest.approx(value)
    nonzero = [e for e in parts.values() if abs(e) > 1e-15]
    if len(nonzero) > 1 and math.isfinite(found.error):
        m = np.count_nonzero(told.of_users)
        assert found.error == pytest.approx(math.sqrt(m / (m - 1) * sum(e * e for e in nonzero)))


def counts(world: ExposureWorld) -> Floats:
    return np.asarray(world.train.sum(axis=0), dtype=np.float64)


@pytest.mark.study
def test_the_right_share_is_left_as_often_as_promised() -> None:
    """At an error of 5 %, also where active users like other items; narrower than the path at many answers."""
    number = worlds(40, 400)
    for a, questions in ((0.0, 4000), (0.3, 4000), (0.5, 4000)):
        found = []
        for seed in range(number):
            world = ExposureWorld.draw(seed, a, questions)
            found.append(path_range(world.both(), world.halves(seed), world.groups(), 0.05))
        lost = sum(bool(each.refuted) or not each.keeps(a) for each in found) / number
        assert lost <= 0.05 + 3.0 * monte_carlo_error(0.05, number), (a, questions)
        assert sum(each.narrows for each in found) > number / 8


@pytest.mark.study
def test_right_propensities_are_hardly_ever_contradicted_and_wrong_ones_are() -> None:
    """1 % of all checks may fail; a level that is off, or propensities of other items, do."""
    number, failed, found = worlds(40, 400), 0, 0
    for seed in range(number):
        world = ExposureWorld.draw(seed, 0.5, 1500)
        both = world.both()
        failed += bool(check_propensity("p", both, counts(world), None, absolute=True).contradiction())
        other = replace(both, propensity=np.maximum(world.chance[both.user, ITEMS - 1 - both.item], 0.02))
        found += bool(check_propensity("p", other, counts(world), None, absolute=False).contradiction())
    assert failed / number <= 0.02 + 3.0 * monte_carlo_error(0.02, number)
    assert found > 0.8 * number


def test_exposure_against_popularity_refutes_the_path() -> None:
    """Later what training hardly showed is shown most: no share of popularity explains that, and it is said."""
    world = ExposureWorld.draw(3, 0.5, 8_000, against=True)
    found = path_range(world.both(), world.halves(3), world.groups(), 0.01)
    assert codes([found.refuted]) == ("not-popular-enough",)
    assert not found.narrows
    assert found.plain()["low"] is None


def test_few_answers_leave_everything() -> None:
    """Twenty positive answers are the least; nothing is narrowed, contradicted or refuted by fewer."""
    world = ExposureWorld.draw(1, 0.3, 100)
    found = path_range(world.both(), world.halves(1), world.groups(), 0.05)
    assert (found.low, found.high) == (0.0, 1.0)
    assert codes([found.unasked]) == ("few-answers",)
    assert [PathRange(0.2, 0.5, 0.01).keeps(a) for a in (0.1, 0.2, 0.5, 0.6)] == [False, True, True, False]
    wrong: LogAndAnswers = replace(world.both(), propensity=np.full(int(world.test.sum()), 1e-3))
    checked = check_propensity("p", wrong, counts(world), None, absolute=True)
    assert checked.unasked
    assert not checked.contradiction()
    many = ExposureWorld.draw(1, 0.3, 4000)
    only("nothing-to-compare", [check_propensity("p", many.both(), None, None, absolute=False).unasked])


@cache
def evaluated(a: float = 0.0, questions: int = 8000, against: bool = False, **more: Any) -> Result:
    """Two models, one of popular and one of rare items."""
    world = ExposureWorld.draw(1, a, questions, against=against)
    rng, frames, popular = np.random.default_rng(0), world.frames(), -np.arange(ITEMS) / ITEMS
    models = {}
    for name, sign in (("popular", 1.0), ("rare", -1.0)):
        score = 0.5 * world.liked + sign * popular + rng.normal(0, 0.5, world.liked.shape)
        best = np.argsort(-np.where(world.train, -9.0, score), axis=1)[:, :K]
        models[name] = listed(best)
    test = frames["test"]
    scale, answered = more.pop("scale", None), more.pop("answered", True)
    if scale is not None:
        p = world.chance[test["user"].to_numpy(), test["item"].to_numpy()]
        test = test.with_columns(propensity=pl.Series(scale * p))
        more = {"estimators": ("naive", "snips", "ips"), "refused": "skip"} | more
    return us.evaluate(
        test, models, metrics=[f"recall@{K}"], target=more.pop("target", "pooled"), train=frames["train"],
        answers=frames["answers"] if answered else None, users=pl.DataFrame({"user": np.arange(USERS)}),
        items=pl.DataFrame({"item": np.arange(ITEMS)}), **more,
    )  # fmt: skip


def verdict(result: Result, estimator: str) -> Any:
    return next(v for v in result.verdicts_ if v.estimator == estimator)


def test_the_path_is_put_together_over_the_range_that_answers_leave() -> None:
    """Fewer points decide, all are shown, and the assumption, the table and the JSON say so."""
    result = evaluated()
    (table,) = result.scenarios
    assert table.left is not None and table.left[0] == 0.0 and table.left[1] < 1.0
    kept = [n for n, point in enumerate(table.points) if point[0] <= table.left[1] + 1e-9]
    assert len(table.points) == 11
    (row,) = table.differences
    said = verdict(result, "exposure_path")
    assert said.low == min(row.low[n] for n in kept) and said.high == max(row.high[n] for n in kept)
    assert said.difference == pytest.approx(float(np.mean([row.difference[n] for n in kept])))
    assert f" 0 to {100 * table.left[1]:.0f} %" in said.assumption
    only("exposure-range", result.warnings, low=0.0, high=table.left[1])
    stored = json.loads(json.dumps(result.to_dict()))
    assert stored["inputs"]["answers"]["exposure_by_answers"]["high"] == table.left[1]
    assert stored["scenarios"][0]["left"] == list(table.left)


def test_the_error_is_split_between_the_range_and_the_path() -> None:
    """At each point intervals hold at 0.96: the range may miss the right share in 1 % of all cases."""
    (table,) = evaluated().scenarios
    (plain,) = evaluated(level=0.96, answered=False, estimators=("exposure_path(at=0)",)).verdicts_
    (row,) = table.differences
    assert (row.low[0], row.high[0]) == pytest.approx((plain.low, plain.high), rel=1e-9)
    assert evaluated().inputs["answers"]["exposure_by_answers"]["error"] == pytest.approx(0.01)


def test_a_refuted_path_decides_nothing() -> None:
    result = evaluated(a=0.5, against=True)
    said = verdict(result, "exposure_path")
    assert said.verdict == "undecided"
    assert all(codes([e.trust]) == codes([said.trust]) == ("not-popular-enough",) for e in result.estimates
               if e.estimator == "exposure_path")  # fmt: skip


def test_contradicted_propensities_decide_nothing() -> None:
    """A wrong level is no matter for snips; propensities that are wrong about items are for all."""
    right, level = (evaluated(a=0.5, scale=scale) for scale in (1.0, 0.3))
    only("uncontradicted-propensity", [right.inputs["answers"]["propensities_by_answers"]["said"]])
    assert not verdict(level, "snips").trust and "contradicted-propensity" in codes(level.warnings)
    wrong = evaluated(propensity="popularity(gamma=1)", estimators=("snips",))
    assert verdict(wrong, "snips").verdict == "undecided"
    assert all(codes([e.trust]) == ("contradicted-propensity",) for e in (*wrong.estimates, verdict(wrong, "snips")))
