"""Right columns of propensities pass every test of them, ordinary mistakes do not, and signs are conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from tests.shares.logs import ITEMS, LISTS, RIGHT, USERS, WRONG, K, Shown, alone, column, evaluated
from unskew.core.notice import codes

SAME = {"slates": ("one visit", "without activity")}  # one page for everybody: these are no mistakes there


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", RIGHT)
def test_right_columns_pass(kind: str, seed: int) -> None:
    """Pairs by themselves, random pages drawn as a whole, and fixed numbers of rows: nothing is found, nothing odd."""
    found = column(RIGHT[kind](np.random.default_rng(seed)).frame())
    assert found["passed"] and found["zeros_logged"]
    assert (found["wrong"], found["untested"], found["signs"]) == ("", "", [])
    assert found["implied_relevance"] == pytest.approx(0.2, rel=0.2)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", RIGHT)
def test_wrong_columns_do_not_pass(kind: str, wrong: str, seed: int) -> None:
    """The same logs with another column: a test fails and nothing is decided, or a sign says what it looks like."""
    if wrong in SAME.get(kind, ()):
        return
    world = RIGHT[kind](np.random.default_rng(seed))
    result = evaluated(world.frame(WRONG[wrong](world)))
    found = result.inputs["propensity_column"]
    assert not found["passed"] and (found["wrong"] or found["signs"])
    (verdict,) = result.verdicts_
    if found["wrong"]:
        assert verdict.verdict == "undecided" and found["wrong"].rstrip(".") in verdict.trust
    assert verdict.verdict not in ("better", "worse")


def far_apart(world: Shown) -> pl.DataFrame:
    """The log where people like hardly anything but the first items, so that any column decides."""
    frame = world.frame()
    rare = (pl.col("item") < K) | (pl.int_range(pl.len()) % 3 == 0)
    return frame.with_columns(value=pl.when(rare).then(pl.col("value")).otherwise(0.0))


def test_what_a_verdict_may_say() -> None:
    """Passed: better, without a condition. Clicks alone, or a sign: ahead, if. Too few users: ahead, if."""
    frame = far_apart(alone(np.random.default_rng(0)))
    (sure,) = evaluated(frame).verdicts_
    assert (sure.verdict, sure.assumption) == ("better", "")
    clicks = frame.filter(pl.col("value") > 0).drop("value").rename({"propensity": "pscore"})
    (alone_,) = evaluated(clicks, feedback="implicit", columns={"propensity": "pscore"}).verdicts_
    assert alone_.verdict == "ahead" and alone_.assumption.startswith("`pscore`")  # the reader's own word
    (odd,) = evaluated(frame.with_columns(policy=pl.col("user") % 2)).verdicts_
    assert odd.verdict == "ahead" and odd.assumption.startswith("`propensity`")
    few = frame.filter(pl.col("user") < 8)
    result = evaluated(few, users=pl.DataFrame({"user": range(8)}))
    assert result.inputs["propensity_column"]["untested"]
    assert {v.verdict for v in result.verdicts_} <= {"ahead", "undecided"}


def certain(world: Shown) -> pl.DataFrame:
    """A third of the rows are said to be certain."""
    return world.frame(np.where(world.p > np.quantile(world.p[world.seen], 0.67), 1.0, world.p))


def floored(world: Shown) -> pl.DataFrame:
    """Raised to the lower third of what was seen."""
    return world.frame(np.maximum(world.p, np.quantile(world.p[world.seen], 0.33)))


def shares(world: Shown) -> pl.DataFrame:
    """The items' shares of what was shown."""
    shown = world.seen.sum(axis=0) / world.seen.sum()
    return world.frame(np.broadcast_to(shown, world.p.shape)).filter(pl.col("value") > 0).drop("value")


def policies(world: Shown) -> pl.DataFrame:
    return world.frame().with_columns(policy=pl.when(pl.col("user") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")))


def repeated(world: Shown) -> pl.DataFrame:
    """Three rows come twice."""
    frame = world.frame()
    return pl.concat([frame, frame[:3]])


def core(world: Shown) -> pl.DataFrame:
    """Items with fewer than seven rows were left out of a catalogue of many."""
    rng = np.random.default_rng(7)
    p = np.broadcast_to(np.geomspace(0.1, 0.004, 200), (USERS, 200))
    many = Shown(rng.random(p.shape) < p, p, p).frame()
    return many.filter(pl.len().over("item") >= 7)


def tail(world: Shown) -> pl.DataFrame:
    """The same catalogue, whole."""
    rng = np.random.default_rng(7)
    p = np.broadcast_to(np.geomspace(0.1, 0.004, 200), (USERS, 200))
    return Shown(rng.random(p.shape) < p, p, p).frame()


def liked_by_most(world: Shown) -> pl.DataFrame:
    """Seven in ten shown pairs are relevant."""
    liked = pl.Series(np.random.default_rng(3).random(int(world.seen.sum())) < 0.7)
    return world.frame().with_columns(value=liked.cast(pl.Float64))


TRAINED = pl.DataFrame({"user": [*range(20)], "item": [*range(20)]})


def likes(world: Shown) -> pl.DataFrame:
    """Clicks alone."""
    return world.frame().filter(pl.col("value") > 0).drop("value")


def drifted(world: Shown) -> pl.DataFrame:
    """Right, but one item in eight was there for half of the period."""
    there = np.where(np.arange(ITEMS) % 8 == 3, 0.5, 1.0)
    return Shown(world.seen & (np.random.default_rng(5).random(world.p.shape) < there), world.p, world.visit).frame()


def test_items_that_were_away_for_a_while_are_found() -> None:
    """They are spread over all tenths, so that no tenth is off by much, and the level neither."""
    for seed in range(5):
        found = column(drifted(alone(np.random.default_rng(seed), low=0.3)))
        assert not found["passed"] and found["wrong"]


SIGNS: dict[str, tuple[Callable[[Shown], pl.DataFrame], dict[str, Any]]] = {
    "certain-rows": (certain, {}),
    "raised-to-a-floor": (floored, {}),
    "share-of-items": (shares, {"feedback": "implicit"}),
    "several-policies": (policies, {}),
    "repeated-showings": (repeated, {"duplicates": "first"}),
    "few-rows-left-out": (core, {}),
    "implied-relevance": (liked_by_most, {}),
    "rated-by-value": (Shown.frame, {"feedback": "ratings", "relevant": ">=1"}),
    "share-not-given": (likes, {"feedback": "implicit", "train": TRAINED, "candidates": "all"}),
}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_is_a_condition(sign: str) -> None:
    """One clause each, in the account and in the sentence of a verdict, and no column with a sign passes."""
    make, options = SIGNS[sign]
    result = evaluated(make(alone(np.random.default_rng(1))), **options)
    found = result.inputs["propensity_column"]
    clause = only(sign, found["signs"])
    assert not found["passed"] and clause in result.estimates[0].assumption
    assert len(found["signs"]) == 1 or sign == "share-of-items"  # these make everything relevant, too


@pytest.mark.parametrize("make", [lambda world: world.frame(), tail, lambda world: world.frame(np.round(world.p, 2))])
def test_without_a_sign_there_is_none(make: Callable[[Shown], pl.DataFrame]) -> None:
    """Whole tails of items, columns of two digits, and clicks alone: no clause."""
    frame = make(alone(np.random.default_rng(1)))
    assert column(frame)["signs"] == []
    assert column(frame.filter(pl.col("value") > 0).drop("value"), feedback="implicit")["signs"] == []


def test_more_relevant_pairs_than_there_are() -> None:
    """Σ y/P beyond the number of pairs is impossible; clicks alone show that. Above one half it is a lot, and said."""
    world = alone(np.random.default_rng(2))
    found = {}
    for factor in (8.0, 4.0, 1.0):
        clicks = world.frame(world.p / factor).filter(pl.col("value") > 0).drop("value")
        found[factor] = evaluated(clicks, feedback="implicit")
    said = {factor: {"alarms", "implies-much"} & set(codes(each.warnings)) for factor, each in found.items()}
    assert said == {8.0: {"alarms"}, 4.0: {"implies-much"}, 1.0: set()}
    assert {v.verdict for v in found[8.0].verdicts_} == {"undecided"}
    assert 0.5 < found[4.0].inputs["propensity_column"]["implied_relevance"] < 1.0


def test_a_column_that_its_authors_estimated_never_carries_better() -> None:
    """As Coat's: it may pass, and verdict, warnings and audit say whose it is, also of a part of the log."""
    frame = far_apart(alone(np.random.default_rng(0)))
    log = replace(us.Log.from_frame(frame, feedback="conversions"), estimated_by="its authors")
    result = evaluated(log)
    (found,) = result.verdicts_
    assert found.verdict == "ahead" and "its authors" in found.assumption
    only("estimated-column", result.warnings, by="its authors")
    train, test = us.split.holdout(log, 0.5)
    only("estimated-column", evaluated(test, train=train).warnings)
    for bare in (evaluated(frame), evaluated(log, propensity="uniform")):
        assert "estimated-column" not in codes(bare.warnings)
    audited = us.audit(log).propensity
    assert audited is not None and audited.estimated_by == "its authors"


def with_new(models: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The second model lists an item first that no log has."""
    new = pl.when(pl.col("rank") == 1).then(999).otherwise(pl.col("item")).cast(pl.Int64)
    return models | {"next": models["next"].with_columns(item=new)}


def test_items_without_rows_were_never_shown_unless_a_column_says_so() -> None:
    """Named in items=, an item is a candidate; that it could be shown takes rows, or a propensity above 0."""
    frame = alone(np.random.default_rng(0)).frame()
    named = pl.DataFrame({"item": [*range(ITEMS), 999]})

    def unsupported(**options: Any) -> float | None:
        result = evaluated(frame, models=with_new(LISTS), **options)
        return next(e.unsupported for e in result.estimates if e.model == "next")

    assert unsupported(items=named) == pytest.approx(0.2)
    could = named.with_columns(propensity=pl.when(pl.col("item") == 999).then(0.1))
    assert unsupported(items=could) == 0.0
    for never in (0.0, None):
        column_ = pl.when(pl.col("item") == 999).then(pl.lit(never, dtype=pl.Float64)).otherwise(0.5)
        assert unsupported(items=named.with_columns(propensity=column_)) == pytest.approx(0.2)
    before = pl.DataFrame({"user": [0], "item": [999], "value": [0.0]})  # it may be gone by now
    for part, share in (({}, 0.2), ({"share": 0.5}, 0.0), ({"propensity": "uniform"}, 0.0)):
        assert unsupported(items=named, train=before, candidates="all", **part) == pytest.approx(share)


@pytest.mark.parametrize("zeros", [True, False])
def test_items_that_training_showed_and_the_test_log_did_not_decide_nothing(zeros: bool) -> None:
    """The catalogue lost its first items before the test log began; one list holds some of them, nobody is better."""
    world, rng = alone(np.random.default_rng(0), low=0.4), np.random.default_rng(1)
    frame = Shown(world.seen & (np.arange(ITEMS) >= 10), world.p, world.visit).frame()
    frame = frame.with_columns(value=pl.Series((rng.random(len(frame)) < 0.3).astype(float)))
    before = pl.DataFrame({"user": [*range(100)] * ITEMS, "item": np.repeat(np.arange(ITEMS), 100), "value": 1.0})
    options: dict[str, Any] = {"train": before, "candidates": "all"}
    if not zeros:
        frame, options = frame.filter(pl.col("value") > 0).drop("value"), options | {"feedback": "implicit"}
    lists = {"old": [0, 1, 20, 21, 22], "new": [10, 11, 12, 13, 14]}
    models = {name: LISTS["head"].with_columns(item=pl.Series(items * USERS)) for name, items in lists.items()}
    (verdict,) = evaluated(frame, models=models, **options).verdicts_
    assert verdict.verdict == "undecided" and "unsupported-items" in codes([verdict.trust])


def divided(world: Shown, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Three tenths of the rows by a coin, as people do it outside this library."""
    frame = world.frame()
    coin = pl.Series(np.random.default_rng(seed).random(len(frame)) < 0.3)
    return frame.filter(~coin), frame.filter(coin)


def test_a_share_is_asked_for_where_both_logs_have_the_column() -> None:
    """And not where it is told, or does not matter: users divided, times in order, naive alone, bare training rows."""
    train, test = divided(alone(np.random.default_rng(0)))
    with refuses("share-missing") as caught:
        evaluated(test, train=train)
    assert all(text in str(caught.value) for text in ("share=0.3", "known(part=test)", "share='users'"))
    assert evaluated(test, train=train, share=0.3).inputs["propensity_column"]["wrong"] == ""
    evaluated(test, train=train, propensity="known(part=test)")
    evaluated(test, train=train, propensity="known(share=0.3)")
    evaluated(test, train=train, propensity=None, estimators=["naive"])
    evaluated(test, train=train.drop("propensity"))
    timed = (frame.with_columns(time=pl.lit(day)) for frame, day in ((train, 1), (test, 2)))
    earlier, later = timed
    evaluated(later, train=earlier)
    with refuses("share-missing"):
        evaluated(later.with_columns(time=pl.lit(1)), train=earlier.with_columns(time=pl.col("user") % 3))
    own = us.split.holdout(us.Log.from_frame(pl.concat([train, test]), feedback="conversions"), 0.3, seed=0)
    assert evaluated(own.test, train=own.train).inputs["propensity_column"]["wrong"] == ""
