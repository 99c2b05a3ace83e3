"""The level of propensities: where inverse propensities do not add up to what there is, ips and dr are refused.

A world of 400 users and 40 items, P from 0.1 to 0.9 by pair: Σ 1/P over some 8,000 seen pairs is known to about 1 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from tests.worlds import listed, pairs_of
from unskew.core.errors import RefusedError
from unskew.log import Log

USERS, ITEMS, K = 400, 40, 5


def world(seed: int = 0, users: int = USERS, low: float = 0.1) -> tuple[pl.DataFrame, pl.DataFrame, float]:
    """All seen pairs with outcomes and propensities, one list for everybody, and the true dcg@5 per user."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(low, 0.9, (users, ITEMS))
    y = (rng.random((users, ITEMS)) < rng.uniform(0.1, 0.6, ITEMS)).astype(float)
    frame = pairs_of(rng.random((users, ITEMS)) < p, value=y, propensity=p)
    return frame, listed(np.arange(K), users), float((y[:, :K] @ (1.0 / np.log2(np.arange(2, K + 2)))).mean())


def divided(frame: pl.DataFrame, share: float, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Training and test rows by a coin of one's own, as people divide a log outside this library."""
    coin = pl.Series(np.random.default_rng(seed).random(len(frame)) < share)
    return frame.filter(~coin), frame.filter(coin)


def evaluate(test: Any, lists: pl.DataFrame, estimators: list[str], **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": ["dcg@5"], "propensity": "known", "feedback": "conversions"}
    return us.evaluate(test, {"m": lists}, estimators=estimators, **(asked | options))


def refused(*args: Any, **options: Any) -> str:
    """What the error says, for the options and estimators that it names."""
    with refuses("wrong-level", RefusedError) as caught:
        evaluate(*args, **options)
    return str(caught.value)


def about_level(result: us.Result) -> list[str]:
    return [w for w in result.warnings if w.code == "level-unconfirmed"]


@pytest.mark.parametrize("seed", range(4))
def test_a_right_level_is_left_alone(seed: int) -> None:
    """Whole logs, and parts with their share: never refused in four worlds each, and never remarked upon."""
    frame, lists, truth = world(seed)
    found = evaluate(frame, lists, ["ips"])
    assert about_level(found) == [] and abs(found.estimates[0].value - truth) < 4 * found.estimates[0].se
    train, test = divided(frame, 0.3, seed)
    for candidates in ("all", "unseen"):
        assert about_level(evaluate(test, lists, ["ips"], train=train, share=0.3, candidates=candidates)) == []


@pytest.mark.parametrize("candidates", ["all", "unseen"])
def test_a_forgotten_share_is_refused_named_and_mended(candidates: str) -> None:
    """A 70/30 split outside the library: without --share ips would be .3 of the truth; the advice is right.

    Both logs have the column and no times, so that the share is asked for; whoever says that the column is of the test
    log is told that its level is wrong.
    """
    frame, lists, truth = world()
    train, test = divided(frame, 0.3)
    with refuses("share-missing"):
        evaluate(test, lists, ["ips"], train=train, candidates=candidates)
    bare = train.drop("propensity")
    said = refused(test, lists, ["ips"], train=bare, candidates=candidates)
    assert "share=0.3" in said and "snips" in said
    assert "share=…" in refused(test, lists, ["ips"])  # nothing tells how large without the training log
    mended = evaluate(test, lists, ["ips"], train=train, candidates=candidates, share=0.3)
    if candidates == "all":
        (one,) = mended.estimates
        assert one.low < truth < one.high
    other = evaluate(test, lists, ["snips"], train=bare, candidates=candidates)  # the alternative that was named
    assert about_level(other)


def test_dr_is_refused_and_sndr_named() -> None:
    """Every estimator that needs the level; by default what does without it is shown."""
    frame, lists, _ = world()
    test = divided(frame, 0.3)[1]
    for estimator, other in {"dr": "sndr", "switch(tau=20)": "sndr", "clipped(ips, at=0.2)": "snips"}.items():
        said = refused(test, lists, [estimator], outcome="means(shrink=10)")
        assert f" {other}" in said, said
        assert evaluate(test, lists, [other], outcome="means(shrink=10)").estimates
    said = refused(test, lists, ["clipped(snips, at=0.2)"])
    assert "clipped(snips, quantile=0.01)" in said
    shown = us.evaluate(test, {"m": lists}, metrics=["dcg@5"], propensity="known", feedback="conversions",
                        outcome="means(shrink=10)")  # fmt: skip
    assert {e.estimator for e in shown.estimates} == {"naive", "snips(over=list)", "sndr"}
    assert {r["estimator"] for r in shown.inputs["refused"]} == {"ips", "dr"}


def test_silent_users_that_are_missing_are_named() -> None:
    """Half of the users are seldom shown anything: the logs' users alone make sums too large, and --users mends it."""
    rng = np.random.default_rng(3)
    users = 1500
    p = np.where(np.arange(users) < 500, 0.5, 0.01)[:, None] * np.ones(ITEMS)
    y = (rng.random((users, ITEMS)) < 0.4).astype(float)
    frame = pairs_of(rng.random((users, ITEMS)) < p, value=y, propensity=p)
    lists = pl.DataFrame({"user": range(users), "item": [0] * users, "rank": [1] * users})
    assert "users=" in refused(frame, lists, ["ips"])
    (one,) = evaluate(frame, lists, ["ips"], users=pl.DataFrame({"user": range(users)})).estimates
    assert one.low < y[:, 0].mean() < one.high


def test_items_that_nobody_saw_do_not_matter_to_sums() -> None:
    """A long tail, half of it never seen: Σ 1/P exceeds the seen catalogue, and every P is right; averages over all
    pairs do mind, and naming the catalogue mends them.
    """
    rng = np.random.default_rng(4)
    users, tail = 300, 600
    p = np.concatenate([np.full(20, 0.5), np.full(tail, 0.6 / users)])
    y = (rng.random((users, 20 + tail)) < 0.4).astype(float)
    frame = pairs_of(rng.random((users, 20 + tail)) < p, value=y, propensity=p)
    lists = pl.DataFrame({"user": range(users), "item": [0] * users, "rank": [1] * users})
    assert frame["item"].n_unique() < 0.75 * (20 + tail)
    (one,) = evaluate(frame, lists, ["ips"]).estimates
    assert one.low < y[:, 0].mean() < one.high
    said = refused(frame, lists, ["ips"], target="per_pair")
    assert "items=" in said and "snips" in said
    items = pl.DataFrame({"item": range(20 + tail)})
    (two,) = evaluate(frame, lists, ["ips"], target="per_pair", items=items).estimates
    assert two.value == pytest.approx(y[:, 0].mean(), abs=4 * two.se)


def clicks(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The positives of a world, lists, and the true numbers of relevant items."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, (USERS, ITEMS))
    relevant = rng.random((USERS, ITEMS)) < 0.4
    frame = pairs_of((rng.random((USERS, ITEMS)) < p) & relevant, propensity=p)
    lists = pl.DataFrame({"user": range(USERS), "item": [0] * USERS, "rank": [1] * USERS})
    return frame, lists, pl.DataFrame({"user": range(USERS), "relevant": relevant.sum(axis=1).astype(float)})


def test_numbers_of_relevant_items_check_logs_of_positives() -> None:
    """n_u known: right where it is right, refused where a share was forgotten."""
    frame, lists, users = clicks()
    options: dict[str, Any] = {"feedback": None, "target": "pooled", "users": users, "metrics": ["recall@1"]}
    assert about_level(evaluate(frame, lists, ["ips"], **options)) == []
    train, test = divided(frame, 0.3)
    said = refused(test, lists, ["ips"], train=train.drop("propensity"), candidates="all", **options)
    assert "share=" in said and "snips" in said
    assert evaluate(test, lists, ["snips"], train=train.drop("propensity"), candidates="all", **options).estimates
    assert about_level(evaluate(test, lists, ["ips"], train=train, candidates="all", share=0.3, **options)) == []


def test_numbers_of_relevant_items_that_count_training_items() -> None:
    """Candidates are outside training, n_u was counted on everything: refused for ips over n_u, not for sums."""
    frame, lists, users = clicks()
    train, test = divided(frame, 0.3)
    options: dict[str, Any] = {"feedback": None, "users": users, "metrics": ["recall@1"], "train": train, "share": 0.3}
    said = refused(test, lists, ["ips"], target="pooled", **options)
    assert "candidates='all'" in said
    assert evaluate(test, lists, ["ips"], target="per_user_sum", **options).estimates
    assert evaluate(test, lists, ["ips"], target="pooled", candidates="all", **options).estimates


def test_what_cannot_be_checked_is_said() -> None:
    """Positives without n_u; a fitted P; too few rows. Estimators that need no level are shown without a word."""
    frame, lists, _ = clicks()
    clicked: dict[str, Any] = {"feedback": None, "target": "per_user_sum"}
    assert len(about_level(evaluate(frame, lists, ["ips"], **clicked))) == 1
    assert about_level(evaluate(frame, lists, ["snips"], **clicked | {"target": "pooled"})) == []
    train, test = divided(frame, 0.3)
    for options, asked in (({"train": train.drop("propensity")}, True), ({"train": train, "share": 0.3}, False)):
        (said,) = about_level(evaluate(test, lists, ["ips"], **clicked, **options))
        assert ("share=0.3" in said) == asked
    valued, lists, _ = world()
    parts = us.split.holdout(Log.from_frame(valued, feedback="conversions"), 0.3)
    fitted = evaluate(parts.test, lists, ["ips"], train=parts.train, propensity="popularity(gamma=1, level=absolute)")
    small = evaluate(valued.filter(pl.col("user") < 4), lists, ["ips"])
    assert [len(about_level(each)) for each in (fitted, small)] == [1, 1] and "4 " in about_level(small)[0]
