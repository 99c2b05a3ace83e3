"""Absolute propensities are fitted to everybody who could have been seen, and to what a training log is a part of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import unskew as us
from tests.propensity.worlds import Bools, Floats, LogisticWorld, features_of, log_of, matrix_of
from unskew import propensity
from unskew.core.errors import RefusedError
from unskew.core.notice import codes
from unskew.propensity import FitInputs, Logistic

USERS, ITEMS, PLACES = 3_000, 40, 8


def by_item(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Everybody has the same chances, about 1.5 rows in all, so that half of the users have no training row."""
    p = np.broadcast_to(expit(rng.normal(-3.5, 0.8, ITEMS)), (USERS, ITEMS))
    return p, (rng.random(p.shape) < 0.4).astype(np.float64)


def by_value(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """What is liked is seen three times as often."""
    likes = (rng.random((USERS, ITEMS)) < 0.4).astype(np.float64)
    return np.where(likes > 0.0, 0.06, 0.02), likes


def frame(rows: Bools, likes: Floats) -> pl.DataFrame:
    """A file of these pairs: users and items without rows are not in it."""
    user, item = np.nonzero(rows)
    return pl.DataFrame({"user": user, "item": item, "value": likes[user, item]})


def evaluated(text: str, seed: int, **options: Any) -> tuple[float, float, us.Result, float]:
    """ips over the truth, its standard error, the result, and the share of users with training rows."""
    rng = np.random.default_rng(seed)
    p, likes = (by_value if text == "naive_bayes" else by_item)(rng)
    seen, half = rng.random(p.shape) < p, rng.random(p.shape) < 0.5
    best = np.argsort(-rng.gumbel(size=p.shape) - likes - 5.0 * p, axis=1)[:, :PLACES]
    lists = pl.DataFrame({"user": np.repeat(np.arange(USERS), PLACES), "item": best.ravel()})
    x, z = rng.random((USERS, 1)), np.log(p[:1]).T + 0.0
    result = us.evaluate(
        frame(seen & half, likes),
        {"m": lists.with_columns(rank=pl.Series(np.tile(np.arange(1, PLACES + 1), USERS)))},
        metrics=[f"recall@{PLACES}"],
        estimators=["ips"],
        target="per_user_sum",
        propensity=text,
        train=frame(seen & ~half, likes),
        share=0.5,
        mcar=frame(rng.random(p.shape) < 0.05, likes),
        users=pl.DataFrame({"user": np.arange(USERS)}),
        items=pl.DataFrame({"item": np.arange(ITEMS)}),
        user_features=features_of(x, "user"),
        item_features=features_of(z, "item"),
        feedback="conversions",
        candidates="all",
        **options,
    )
    truth = float(np.take_along_axis(likes, best, axis=1).sum(axis=1).mean())
    found = result.estimates[0]
    return found.value / truth, found.se / truth, result, float(((seen & ~half).sum(axis=1) > 0).mean())


@pytest.mark.parametrize(
    "text",
    [
        "naive_bayes",
        "popularity(gamma=1, level=absolute)",
        "logistic(features=plain)",
        "logistic(features=none, offsets=item)",
        "logistic_mf(dim=2)",
        "calibrated(popularity(gamma=1), method=platt)",
        "calibrated(logistic(features=none, offsets=item), method=platt, over=users)",
    ],
)
def test_users_without_training_rows_count(text: str) -> None:
    """Half of the users have no training row; over three worlds ips meets the truth within three standard errors.

    5 points are left to the noise of counts, as 1/P̂ is convex; fitted to users with rows only ips is about half.
    """
    found = [evaluated(text, seed) for seed in range(3)]
    assert 0.4 < np.mean([active for *_, active in found]) < 0.7
    ratio, error = np.mean([r for r, *_ in found]), np.sqrt(np.sum([e**2 for _, e, *_ in found])) / len(found)
    assert abs(ratio - 1.0) < 3.0 * error + 0.05 < 0.3


def test_rows_outside_the_population_are_left_out_of_the_fit() -> None:
    """With --users naming half of the users, ips is that of a training log without the others, and it says so."""
    rng = np.random.default_rng(3)
    p, likes = by_item(rng)
    seen, half = rng.random(p.shape) < p, rng.random(p.shape) < 0.5
    inner = np.arange(USERS) < USERS // 2
    lists = pl.DataFrame({"user": np.flatnonzero(inner), "item": 0, "rank": 1})

    def ips(train: Bools) -> us.Result:
        return us.evaluate(
            frame(seen & half & inner[:, None], likes),
            {"m": lists},
            metrics=["recall@1"],
            estimators=["ips"],
            target="per_user_sum",
            propensity="logistic(features=none, offsets=item)",
            train=frame(train, likes),
            share=0.5,
            users=pl.DataFrame({"user": np.flatnonzero(inner)}),
            feedback="conversions",
            candidates="all",
        )

    whole, part = ips(seen & ~half), ips(seen & ~half & inner[:, None])
    assert whole.estimates[0].value == pytest.approx(part.estimates[0].value, rel=1e-9)
    assert "rows-outside-population" in codes(whole.warnings)
    assert "rows-outside-population" not in codes(part.warnings)


def test_other_peoples_training_log_is_fitted_to_its_own_users() -> None:
    """--share users: test users are no silent users of training, also where one log was divided and names them all."""
    rng = np.random.default_rng(4)
    p = np.broadcast_to(rng.uniform(0.2, 0.5, ITEMS), (400, ITEMS))
    likes = (rng.random(p.shape) < 0.4).astype(np.float64)
    log = log_of(rng.random(p.shape) < p, likes)
    mine = log.user < 200
    train, test = log.take(mine), log.take(~mine)
    lists = pl.DataFrame({"user": np.arange(200, 400), "item": 0, "rank": 1})
    options: dict[str, Any] = {"metrics": ["recall@1"], "estimators": ["ips"], "target": "per_user_sum"}
    for text in ("logistic(features=none, offsets=item)", "popularity(gamma=-1, level=absolute)"):
        found = us.evaluate(
            test, {"m": lists}, train=train, share="users", propensity=text, candidates="all", **options
        ).estimates[0]
        seen = np.bincount(train.item, minlength=ITEMS)
        chance = seen[0] / 200 if text.startswith("logistic") else seen.sum() / (200 * ITEMS)
        clicks = np.bincount(test.item[np.asarray(test.value) > 0.0], minlength=ITEMS)[0]
        assert found.value == pytest.approx(clicks / chance / 200, rel=1e-6)


def test_a_propensity_fitted_in_advance_to_fewer_users_is_marked() -> None:
    """It cannot know the population; a warning says what that does and what to do."""
    rng = np.random.default_rng(5)
    p, likes = by_item(rng)
    seen, half = rng.random(p.shape) < p, rng.random(p.shape) < 0.5
    train = us.Log.from_frame(frame(seen & ~half, likes), feedback="conversions")
    lists = pl.DataFrame({"user": np.arange(USERS), "item": 0, "rank": 1})
    options: dict[str, Any] = {"metrics": ["recall@1"], "estimators": ["ips"], "target": "per_user_sum", "share": 0.5}
    for model, said in ((Logistic("none", "item").fit(train), True), ("logistic(features=none, offsets=item)", False)):
        result = us.evaluate(
            frame(seen & half, likes), {"m": lists}, train=train, propensity=model, feedback="conversions",
            candidates="all", users=pl.DataFrame({"user": np.arange(USERS)}), **options,
        )  # fmt: skip
        assert said == ("fitted-to-fewer" in codes(result.warnings))


def often_shown(seed: int) -> tuple[Floats, Bools, FitInputs]:
    """Chances up to 0.97: a training half holds t·σ(η), which is not logistic."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1.0, 1.0, (500, 1)), rng.uniform(-1.0, 1.0, (60, 1))
    p = expit(3.5 * z.T + 0.0 * x)
    return (
        p,
        rng.random(p.shape) < p,
        FitInputs(user_features=features_of(x, "user"), item_features=features_of(z, "item")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "logistic(features=plain)",
        "logistic(features=plain, negatives=1)",
        "calibrated(logistic(features=plain), method=platt)",
    ],
)
def test_the_share_is_part_of_the_likelihood(text: str) -> None:
    """P of the whole log, P̂ over the share, needs no cap, and comes nearer to the truth by a factor of two and more."""
    p, seen, side = often_shown(0)
    train = us.split.holdout(log_of(seen), 0.5, seed=1).train
    errors = []
    for share in (0.5, None):
        whole = matrix_of(propensity.make(text).fit(replace(train, share=share), inputs=side), p.shape) / 0.5
        assert share is None or whole.max() <= 1.0
        errors.append(float(np.abs(np.minimum(whole, 1.0) / p - 1.0).mean()))
    assert errors[0] < 0.05 and 3.0 * errors[0] < errors[1]


@pytest.mark.parametrize("text", ["logistic_mf(dim=0)", "logistic_mf(dim=0, negatives=1)", "logistic_mf(dim=2)"])
def test_factors_know_the_share(text: str) -> None:
    """Users and items who differ, chances up to 1: P̂ over the share is at most 1, and right in every range of P̂."""
    rng = np.random.default_rng(0)
    eta = 1.0 + rng.normal(size=(500, 1)) + rng.normal(size=200)
    if "dim=2" in text:
        eta = eta + rng.normal(size=(500, 2)) @ rng.normal(size=(2, 200))
    p = expit(eta)
    train = us.split.holdout(log_of(rng.random(p.shape) < p), 0.5, seed=1).train
    off = []
    for share in (0.5, None):
        whole = matrix_of(propensity.make(text).fit(replace(train, share=share)), p.shape) / 0.5
        assert share is None or whole.max() <= 1.0
        place = np.digitize(whole, (0.2, 0.4, 0.6, 0.8)).ravel()
        ratio = np.bincount(place, weights=p.ravel()) / np.bincount(place, weights=whole.ravel())
        off.append(float(np.abs(ratio - 1.0).max()))
    assert off[0] < 0.15 and 1.5 * off[0] < off[1]


def test_the_penalty_is_chosen_by_held_out_pairs() -> None:
    """Strong covariates: with c = 0.1 rarely shown pairs seem three times as likely as they are; auto finds c ≥ 10.

    Covariates that say nothing are penalised away, which is said. What was chosen is printed and can be given.
    """
    ratios = {}
    for c in (0.1, "auto"):
        world = LogisticWorld.draw(600, 60, 0, level=-2.5, effect=6.0)
        fitted = Logistic(c=c).fit(log_of(world.seen), inputs=world.side)
        rare = np.argsort(world.p, axis=1)[:, :10]
        p, truth = (np.take_along_axis(m, rare, axis=1) for m in (matrix_of(fitted, world.p.shape), world.p))
        ratios[c] = float((truth / p).mean())
    assert ratios[0.1] < 0.5 and abs(ratios["auto"] - 1.0) < 0.15
    assert fitted.state is not None and fitted.state.c is not None and fitted.state.c >= 10.0
    assert str(fitted) == f"logistic(features=outer, offsets=none, c={fitted.state.c:g})"
    again = propensity.make(str(fitted)).fit(log_of(world.seen), inputs=world.side)
    np.testing.assert_allclose(matrix_of(again, world.p.shape), matrix_of(fitted, world.p.shape), rtol=1e-6)
    nothing = LogisticWorld.draw(200, 40, 1, effect=0.0)
    log = log_of(nothing.seen)
    assert "strongest-penalty" in codes(Logistic().fit(log, inputs=nothing.side).doubts(log))


@pytest.mark.parametrize(
    "text",
    [
        "logistic(features=none, offsets=user+item)",
        "logistic_mf(dim=1)",
        "calibrated(logistic(features=none, offsets=item), method=platt)",
        "calibrated(popularity(gamma=1), method=platt)",
    ],
)
@pytest.mark.parametrize("fitted", [False, True])
def test_clicks_are_no_exposure(text: str, fitted: bool) -> None:
    """A model of P(click) is refused on positives; both that the refusal names are accepted."""
    rng = np.random.default_rng(7)
    log = log_of(rng.random((80, 20)) < 0.3, feedback="implicit")
    log = replace(log, propensity=np.full(len(log), 0.5))
    train, test = us.split.holdout(log, 0.5)
    models = {"m": pl.DataFrame({"user": np.arange(80), "item": 0, "rank": 1})}
    model = propensity.make(text)
    with pytest.raises(RefusedError) as refused:
        us.evaluate(test, models, train=train, propensity=model.fit(train) if fitted else model)
    (instead,) = [part for part in str(refused.value).split("'") if part.startswith("popularity(")]
    for accepted in (instead, "known"):
        assert us.evaluate(test, models, train=train, propensity=accepted).estimates
