"""Ways to be confidently wrong with exactly right formulas (MATHS §13): each has a world of its own.

In each the answer must be right within its interval, refused, or marked where the verdict stands. Shares of false
verdicts over many worlds are in ``tests/inference/false_verdicts.py``; here a few worlds show that each rule works, and
that the plain test would have been wrong.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.inference.verdict_worlds import KINDS, K, Pairs
from tests.said import only
from tests.worlds import listed, pairs_of
from unskew.core.notice import codes
from unskew.estimators import Strata, Stratified
from unskew.result import Verdict

RECALL = f"recall@{K}"


def the(result: us.Result, estimator: str = "snips", target: str = "pooled") -> Verdict:
    """The only verdict of a cell."""
    (found,) = (v for v in result.verdicts_ if v.estimator == estimator and v.target == target and v.segment is None)
    return found


def wrong(verdict: Verdict, better: str) -> bool:
    """Whether a verdict names the other model."""
    if verdict.verdict == "undecided":
        return False
    return (verdict.a if verdict.verdict in ("better", "ahead") else verdict.b) != better


def z(verdict: Verdict) -> float:
    """How sure the usual test would be."""
    return abs(verdict.difference) / verdict.se


def agree(result: us.Result) -> None:
    """A verdict is given exactly where its interval excludes 0."""
    for v in result.verdicts_:
        assert (v.verdict != "undecided") == (v.low > 0.0 or v.high < 0.0)
        assert v.verdict == "undecided" or v.p_adjusted < 0.05


@pytest.mark.parametrize("clicks", [2.0, 4.0, 8.0])
def test_few_clicks(clicks: float) -> None:
    """Right propensities: ratios inside users lean towards naive and would name the worse model, surely."""
    fooled = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, round(clicks)])
        world = Pairs.draw(rng, 1_500, clicks, 1.5)
        models = {"often": world.lists(rng, 1.0), "better": world.lists(rng, -0.5, 0.6)}
        result = us.evaluate(
            world.rows(world.liked & world.seen), models, metrics=[RECALL, f"ndcg@{K}"],
            estimators=["snips", "gs(strata=5)"], target=["per_user", "pooled"], refused="skip", users=world.population,
        )  # fmt: skip
        agree(result)
        assert not any(wrong(v, "better") for v in result.verdicts_)
        inside = the_metric(result, RECALL, "snips", "per_user")
        assert inside.few_clicks is not None and inside.few_clicks > 0.0
        fooled += z(inside) > 1.96 and inside.difference > 0.0
        assert result.headline()["target"] == "pooled" and result.headline()["estimator"] == "snips"
    assert fooled >= 5 or clicks > 4.0


def the_metric(result: us.Result, metric: str, estimator: str, target: str) -> Verdict:
    (found,) = (v for v in result.verdicts_ if (v.metric, v.estimator, v.target) == (metric, estimator, target))
    return found


def few_hits(seed: int, hits: int) -> us.Result:
    """Both lists are worth the same; one holds items that are hardly ever shown, and was seen to hit so many times."""
    rng = np.random.default_rng(seed)
    users = 2_000
    exposure = np.concatenate([np.full(50, 0.4), np.full(50, 0.001)])
    liked = rng.random((users, 100)) < 0.1
    often = np.argsort(rng.random((users, 50)), axis=1)[:, :K]
    rarely = np.argsort(rng.random((users, 50)), axis=1)[:, :K] + 50
    user, item = np.nonzero(liked[:, :50] & (rng.random((users, 50)) < 0.4))
    there = [(u, int(i)) for u in range(hits) for i in rarely[u][:1]]
    spare = [(u, next(i for i in range(50, 100) if i not in rarely[u])) for u in range(users - 5, users)]  # not listed
    rows = pl.DataFrame(
        {
            "user": np.concatenate([user, [u for u, _ in there + spare]]).astype(np.int64),
            "item": np.concatenate([item, [i for _, i in there + spare]]).astype(np.int64),
        }
    ).unique(maintain_order=True)
    rows = rows.with_columns(pl.Series("propensity", exposure[rows["item"].to_numpy()]))
    people = pl.DataFrame({"user": np.arange(users)})
    catalogue = pl.DataFrame({"item": np.arange(100)})
    return us.evaluate(
        rows, {"often": listed(often), "rarely": listed(rarely)}, metrics=[RECALL], users=people, items=catalogue
    )


@pytest.mark.parametrize("hits", [0, 1, 3])
def test_few_hits(hits: int) -> None:
    """A value that rests on no, one or three hits decides nothing, however small the usual p."""
    result = few_hits(1, hits)
    found = the(result)
    assert found.verdict == "undecided"
    if hits == 0:
        assert z(found) > 5.0
        assert "few-wins" in codes([found.trust])
    value = next(e for e in result.estimates if e.model == "rarely" and e.estimator == "snips")
    assert value.hits == hits and value.ess == pytest.approx(hits)
    assert value.high > 0.01
    if hits == 0:
        assert value.value == 0.0 and value.low == 0.0 and math.isnan(value.se)
    agree(result)


def test_places_that_were_never_shown() -> None:
    """40 % of one model's places hold items outside the logs: equal models, told apart surely by the usual test."""
    decided, fooled = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        world = Pairs.draw(rng, 1_000, 8.0, 0.3)
        one, other = (world.lists(rng, 0.0) for _ in range(2))
        new = np.where(other["rank"].to_numpy() % 5 < 2, 1_000 + other["item"].to_numpy(), other["item"].to_numpy())
        models = {"one": one, "new": other.with_columns(pl.Series("item", new))}
        result = us.evaluate(world.rows(world.liked & world.seen), models, metrics=[RECALL], users=world.population)
        found = the(result)
        decided += found.verdict != "undecided"
        fooled += z(found) > 4.0
        shares = {e.model: e.unsupported for e in result.estimates}
        assert shares == {"one": 0.0, "new": pytest.approx(0.4)}
        if found.verdict == "undecided":
            assert "40%" in only("unsupported-items", [found.trust])
    assert fooled == 8
    assert decided <= 1


def test_stratified_is_a_ratio_inside_users_too() -> None:
    """Column strata and few clicks: the worse model is not named, and the reason stands beside the verdict."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = Pairs.draw(rng, 1_500, 2.0, 1.5)
        log = world.rows(world.liked & world.seen)
        half = np.where(world.exposure > np.median(world.exposure), "often", "rarely")
        log = log.with_columns(pl.Series("shown", half[log["item"].to_numpy()]))
        models = {"often": world.lists(rng, 1.0), "better": world.lists(rng, -0.5, 0.8)}
        even = Stratified(Strata("column", 0, "shown"), shares={"often": 0.5, "rarely": 0.5})
        options: dict[str, Any] = {"estimators": [even], "target": "per_user", "users": world.population}
        result = us.evaluate(log, models, metrics=[RECALL], **options)
        (found,) = result.verdicts_
        assert not wrong(found, "better")
        assert "single-clicks" in codes([found.trust])


def test_what_promises_less_does_not_contradict_what_promises_more() -> None:
    """gs leans towards naive inside strata; where pooled snips names the other model, gs is withheld and says so."""
    rng = np.random.default_rng(6)
    users, items = 4_000, 60
    exposure = np.geomspace(0.9, 0.02, items)
    liked = rng.random((users, items)) < 0.5
    seen = rng.random((users, items)) < exposure
    rows = pairs_of(liked & seen, propensity=exposure)
    head = np.argsort(rng.random((users, items // 2)), axis=1)[:, :K]
    score = 1.0 * liked[:, items // 2 :] + rng.gumbel(size=(users, items // 2))
    tail = np.argsort(-score, axis=1)[:, :K] + items // 2
    result = us.evaluate(
        rows,
        {"head": listed(head), "tail": listed(tail)},
        metrics=[RECALL],
        estimators=["naive", "snips", "gs(strata=1)"],
    )
    assert the(result).verdict == "behind"
    assert the(result, "naive").verdict == "ahead"
    one_stratum = the(result, "gs(strata=1)")
    assert one_stratum.difference > 0.0
    assert one_stratum.verdict == "undecided"
    assert {"unconfirmed", "biased-on-purpose"} <= {*codes([one_stratum.trust])}
    assert codes([result.headline()["agreement"]]) == ("disagree",)


@pytest.mark.parametrize("kind", ["a logger with favourites", "conversions, favourites"])
def test_a_list_that_was_hardly_ever_shown_is_not_beaten(kind: str) -> None:
    """Equal models; the log shows one of them all the time and the other hardly ever: no verdict, with the reason."""
    reasons = []
    for seed in range(8):
        case = KINDS[kind](np.random.default_rng(seed), 400, 4.0, 1.0, 0.0)
        result = case.run()
        agree(result)
        for v in result.verdicts_:
            if v.standing != "not debiased":
                assert v.verdict == "undecided", (v.estimator, v.difference, v.low, v.high)
                reasons.append(v.trust)
        first = result.headline()
        value = next(e for e in result.estimates if e.model == "seldom" and e.estimator == first["estimator"])
        assert value.low <= K / 50 <= value.high or value.trust
    assert sum("few-wins" in codes([reason]) for reason in reasons) >= len(reasons) / 3


@pytest.mark.parametrize("estimator", ["gs(strata=1)", "clipped(snips, at=0.2)"])
def test_what_is_biased_on_purpose_needs_consent(estimator: str) -> None:
    """Asked for alone, gs and clips would tell equal models apart: pooled snips, looked at beside them, does not."""
    fooled = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        world = Pairs.draw(rng, 1_500, 12.0, 1.2)
        models = {"often": world.lists(rng, 1.0), "rarely": world.lists(rng, -0.5)}
        options: dict[str, Any] = {"estimators": [estimator], "target": "pooled", "users": world.population}
        found = the(us.evaluate(world.rows(world.liked & world.seen), models, metrics=[RECALL], **options), estimator)
        fooled += z(found) > 3.0
        assert found.verdict == "undecided"
    assert fooled >= 3


def test_pairs_that_were_hardly_ever_seen_widen_errors_of_predictions() -> None:
    """8 % of the pairs are hardly ever seen, and one model errs there: its mae on seen pairs says nothing of them."""
    rng = np.random.default_rng(1)
    users, items = 300, 40
    hidden = rng.random((users, items)) < 0.08
    p = np.where(hidden, 0.0005, 0.3)
    stars = rng.integers(1, 6, (users, items)).astype(float)
    seen = (rng.random((users, items)) < p) & ~hidden  # of 960 such pairs none was seen, as happens in 2 of 3 worlds
    log = pairs_of(seen, value=stars, propensity=p)
    costs = {"hidden": np.where(hidden, 2.0, 0.1), "even": np.where(rng.random(stars.shape) < 0.5, 0.504, 0.0)}
    models = {name: pairs_of(stars > 0.0, prediction=stars + cost) for name, cost in costs.items()}
    result = us.evaluate(
        log,
        models,
        metrics=["mae"],
        feedback="ratings",
        propensity="known",  # a column of 0.3 in every row that was seen
        users=pl.DataFrame({"user": np.arange(users)}),
        items=pl.DataFrame({"item": np.arange(items)}),
    )
    found = the(result, "snips", "per_pair")
    assert z(found) > 20.0
    assert found.verdict == "undecided"
    assert "unseen-pairs" in codes([found.trust])
    for e in result.estimates:
        if e.estimator == "snips":
            assert e.low <= costs[e.model].mean() <= e.high
