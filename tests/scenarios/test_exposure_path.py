"""The exposure path against loops, and against the estimators that it consists of (MATHS §14)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from tests.scenarios.path_world import world
from unskew.core.errors import RefusedError
from unskew.result import Result

SHARES = [step / 10 for step in range(11)]
SETTINGS = {"metrics": ["recall@5", "dcg@3"], "estimators": ["exposure_path"]}


def evaluate(**options: Any) -> Result:
    made = world()
    return us.evaluate(made["test"], made["lists"], **({"train": made["train"]} | SETTINGS | options))


def by_loops(test: pl.DataFrame, counted: pl.DataFrame, lists: pl.DataFrame, a: float, k: int) -> float:
    """Σ w·1{listed} / Σ w over clicks, with weights (n + (1 + a)/2)^−a."""
    counts = Counter(counted["item"])
    listed = {(row["user"], row["item"]) for row in lists.iter_rows(named=True) if row["rank"] <= k}
    above = below = 0.0
    for row in test.iter_rows(named=True):
        weight = (counts[row["item"]] + (1.0 + a) / 2.0) ** -a
        above += weight * ((row["user"], row["item"]) in listed)
        below += weight
    return above / below


def test_every_point_is_what_loops_give() -> None:
    """Pooled recall with these weights, at each of eleven shares."""
    made, (table, _) = world(), evaluate().scenarios
    assert table.metric == "recall@5" and table.points == tuple((a,) for a in SHARES) and table.axes == ("exposure",)
    for row in table.values:
        wanted = [by_loops(made["test"], made["train"], made["lists"][row.model], a, 5) for a in SHARES]
        assert row.value == pytest.approx(wanted, rel=1e-12)


def test_the_path_begins_with_naive_and_holds_snips_with_its_weights() -> None:
    """a = 0 is pooled naive; each point pooled snips with P ∝ (n + (1 + a)/2)^a: value, interval and difference."""
    made, result = world(), evaluate(estimators=["naive", "exposure_path"])
    table = result.scenarios[0]
    counts = Counter(made["train"]["item"])
    for place, a in enumerate(SHARES):
        power = [(counts[item] + (1.0 + a) / 2.0) ** a for item in made["test"]["item"]]
        chance = pl.Series(power) / (2.0 * max(power))
        other = us.evaluate(
            made["test"].with_columns(propensity=chance), made["lists"], train=made["train"],
            metrics=["recall@5"], estimators=["snips"], target="pooled", propensity="known",
        )  # fmt: skip
        wanted = {e.model: e for e in other.estimates}
        for row in table.values:
            assert row.value[place] == pytest.approx(wanted[row.model].value, rel=1e-12)
        gaps = {(v.a, v.b): v.difference for v in other.verdicts_}
        for difference in table.differences:
            assert difference.difference[place] == pytest.approx(gaps[difference.a, difference.b], rel=1e-9, abs=1e-14)
    naive = {e.model: e for e in result.estimates if e.estimator == "naive" and e.metric == "recall@5"}
    for row in table.values:
        assert row.value[0] == pytest.approx(naive[row.model].value, rel=1e-12)
        assert row.low[0] == pytest.approx(naive[row.model].low, rel=1e-9)


def test_the_answer_covers_the_whole_path() -> None:
    """Intervals reach from the lowest end to the highest; p is the largest; a verdict needs every point."""
    result = evaluate(metrics=["recall@5"])
    (table,) = result.scenarios
    for row, e in zip(table.values, result.estimates, strict=True):
        assert (e.low, e.high) == (min(row.low), max(row.high))
        assert e.value == pytest.approx(sum(row.value) / 11)
    words = set()
    for gap, v in zip(table.differences, result.verdicts_, strict=True):
        signs = set(gap.sign)
        wanted = {frozenset({1}): "ahead", frozenset({-1}): "behind", frozenset({0}): "undecided"}
        assert v.verdict == wanted.get(frozenset(signs), "depends")
        assert bool(v.turns) == (v.verdict == "depends") and (v.turns_at is not None) == bool(v.turns)
        assert (v.low > 0 or v.high < 0) == (v.verdict in ("ahead", "behind"))
        words.add(str(v.verdict))
    assert "depends" in words and words & {"ahead", "behind"}


def test_a_lead_on_the_whole_path_has_a_tipping_point_that_holds_everywhere() -> None:
    """min over a of Γ*(a), and of its lower limits."""
    result = evaluate(metrics=["recall@5"])
    decided = [v for v in result.verdicts_ if v.verdict in ("ahead", "behind")]
    points = [evaluate(metrics=["recall@5"], estimators=[f"exposure_path(at={a})"]) for a in SHARES]
    for v in decided:
        there = [next(w for w in p.verdicts_ if (w.a, w.b) == (v.a, v.b)) for p in points]
        assert v.tipping == pytest.approx(min(w.tipping for w in there if w.tipping is not None))
        assert v.tipping_low == pytest.approx(min(w.tipping_low for w in there if w.tipping_low is not None))
    assert decided and all(v.tipping is None for v in result.verdicts_ if v not in decided)


def test_seen_zeros_count_as_exposure() -> None:
    """n counts all seen training rows where these hold what was not liked."""
    made = world()
    result = us.evaluate(
        made["test_ratings"], made["lists"], train=made["train_ratings"], feedback="ratings", relevant=">=4",
        metrics=["recall@5"], estimators=["exposure_path"],
    )  # fmt: skip
    relevant = made["test_ratings"].filter(pl.col("value") >= 4)
    for row in result.scenarios[0].values:
        wanted = [by_loops(relevant, made["train_ratings"], made["lists"][row.model], a, 5) for a in SHARES]
        assert row.value == pytest.approx(wanted, rel=1e-12)


def test_it_is_the_default_without_propensities() -> None:
    """Clicks with a training log: naive and the path, which makes the headline; ratios inside users stay naive."""
    made = world()
    result = us.evaluate(made["test"], made["lists"], train=made["train"], metrics=["recall@5", "ndcg@5"])
    cells = {(e.metric, e.estimator) for e in result.estimates}
    assert cells == {("recall@5", "naive"), ("recall@5", "exposure_path"), ("ndcg@5", "naive")}
    assert result.headline()["estimator"] == "exposure_path" and result.headline()["debiased"]
    assert not result.inputs["refused"]
    bare = us.evaluate(made["test"], made["lists"], metrics=["recall@5"])
    assert {e.estimator for e in bare.estimates} == {"naive"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"train": None}, "no-training-log"),
        ({"target": "per_user"}, "wrong-target"),
        ({"metrics": ["ndcg@5"], "target": "pooled"}, "wrong-target"),
    ],
)
def test_what_it_cannot_do_is_refused(options: dict[str, Any], code: str) -> None:
    with refuses(code, RefusedError):
        evaluate(**options)


def test_a_point_that_is_asked_for_besides_is_the_same_comparison() -> None:
    """The level is over pairs of models: asking for a point of the path by itself, too, widens no interval."""
    alone, besides = evaluate(), evaluate(estimators=["exposure_path", "exposure_path(at=0.5)"])
    for before, after in zip(alone.scenarios, besides.scenarios, strict=True):
        assert before.differences == after.differences
    point = {(v.metric, v.a, v.b): (v.low, v.high) for v in besides.verdicts_ if v.estimator != "exposure_path"}
    there = {(t.metric, d.a, d.b): (d.low[5], d.high[5]) for t in alone.scenarios for d in t.differences}
    assert point == there and len(point) > 2
