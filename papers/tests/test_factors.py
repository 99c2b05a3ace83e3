"""Factors against a loop that draws the same random numbers, and against what is known of the losses."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.said import refuses

import unskew as us
from papers.tests.factor_loop import PAIRWISE, Loop, log_of
from unskew.log import Log
from unskew.models import MostPopular
from unskew_papers.models import Factors, fit_all
from unskew_papers.models.factors import LOSSES

RNG = np.random.default_rng(0)
SEEN = RNG.random((7, 6)) < 0.7
LIKED = SEEN & (RNG.random((7, 6)) < 0.6)
LIKED[2] = SEEN[2] = True  # likes everything
LIKED[4] = SEEN[4] = False  # was never there
TINY = log_of(LIKED, SEEN)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("schedule", ["adagrad", "adadelta"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_every_step_is_the_loops(loss: str, schedule: str, l2: float) -> None:
    """Three epochs with the same random stream end in the same numbers."""
    model = Factors(
        dim=3, loss=loss, rate=0.2, l2=l2, item_l2=0.1 if l2 else None, epochs=3, schedule=schedule, k=2, n=3, seed=5
    ).fit(TINY)
    loop = Loop(model, TINY)
    for _ in range(3):
        loop.epoch()
    users = np.array(loop.users)
    users[4] = 0.0  # no rows, no factors
    np.testing.assert_allclose(model.user_, users, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(model.item_, np.array(loop.items), rtol=2e-5, atol=2e-6)


def blocks(users: int = 200, items: int = 100, kinds: int = 4, seed: int = 0) -> npt.NDArray[np.bool_]:
    """Users of a kind like items of their kind."""
    rng = np.random.default_rng(seed)
    same = np.arange(users)[:, None] % kinds == np.arange(items) % kinds
    return np.asarray(rng.random((users, items)) < np.where(same, 0.4, 0.02))


@pytest.mark.parametrize("loss", PAIRWISE)
@pytest.mark.parametrize("schedule", ["adagrad", "adadelta"])
def test_it_learns_what_most_popular_cannot(loss: str, schedule: str) -> None:
    """The loss falls, and held-out positives come first far more often than by popularity (about chance here)."""
    liked = blocks()
    held = liked & (np.random.default_rng(1).random(liked.shape) < 0.3)
    train = log_of(liked & ~held)

    def hits(model: Factors | MostPopular) -> float:
        lists = model.recommend(train.users, 5, seen=train)
        user = np.repeat(np.arange(200), np.diff(lists.indptr))
        return float(held[user, lists.item].mean())

    model = Factors(dim=8, loss=loss, epochs=30, schedule=schedule).fit(train)
    assert model.losses_[-1] < 0.8 * model.losses_[0]
    assert hits(model) > 3.0 * hits(MostPopular().fit(train))


def test_squared_and_logistic_predict() -> None:
    """Squared loss recovers values, logistic loss the zeros of the log, both better than their mean."""
    rng = np.random.default_rng(0)
    truth = 3.0 + rng.normal(size=(80, 3)) @ rng.normal(0.0, 0.5, (3, 60))
    user, item = np.nonzero(rng.random((80, 60)) < 0.5)
    frame = pl.DataFrame({"user": user, "item": item, "value": np.maximum(truth[user, item], 0.0)})
    model = Factors(dim=5, loss="squared", rate=0.1, epochs=60).fit(Log.from_frame(frame, feedback="ratings"))
    everywhere = model.predict(np.repeat(np.arange(80), 60), np.tile(np.arange(60), 80)).reshape(80, 60)
    assert ((everywhere - truth) ** 2).mean() < 0.3 * truth.var()
    liked = frame.with_columns(value=(pl.col("value") > 3.0).cast(pl.Float64))
    log = Log.from_frame(liked, feedback="conversions")
    odds = Factors(dim=5, loss="logistic", rate=0.1, epochs=30).fit(log).scores(user.tolist(), item.tolist())
    assert ((odds > 0.0) == (liked["value"].to_numpy() > 0.0)).mean() > 0.8


@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_every_time(loss: str) -> None:
    """The same seed gives the same bits, alone or beside others; another seed does not."""
    log = log_of(blocks(60, 40))
    models = fit_all([Factors(dim=4, loss=loss, epochs=3, seed=seed) for seed in (0, 1, 0, 2)], log, threads=4)
    alone = Factors(dim=4, loss=loss, epochs=3).fit(log)
    first, second, again, _ = (model.item_ for model in models if isinstance(model, Factors))
    assert (first == alone.item_).all() and (again == first).all() and (second != first).any()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_factors_hold_the_level_and_the_offsets_of_users(loss: str) -> None:
    """user @ item.T are the values that are predicted, not values less their mean, pair by pair by a loop."""
    log = Log.from_frame(
        TINY.to_frame().with_columns(value=pl.col("value") + (3.0 if loss == "squared" else 0.0)),
        feedback="ratings" if loss == "squared" else "conversions",
    )
    model = Factors(dim=3, loss=loss, rate=0.2, epochs=3).fit(log)
    left, right = model.factors()
    assert (model.level_ > 3.0) == (loss == "squared") and np.abs(model.user_[:, -1]).max() > 0.01
    for (u, user), (i, item) in product(enumerate(log.users), enumerate(log.items)):
        v, w = model.user_[u], model.item_[i]
        by_hand = sum(v[j] * w[j] for j in range(3)) + v[3] + w[3] + model.level_
        assert left[u] @ right[i] == pytest.approx(by_hand, rel=1e-12)
        assert model.scores([user], [item])[0] == pytest.approx(by_hand, rel=1e-12)


HOSTILE = {
    "no positive": np.zeros((3, 4), dtype=np.bool_),
    "one item": np.ones((3, 1), dtype=np.bool_),
    "one user": np.ones((1, 4), dtype=np.bool_) & (np.arange(4) < 2),
    "all positive": np.ones((3, 4), dtype=np.bool_),
    "one positive": np.eye(3, 4, dtype=np.bool_) & (np.arange(4) == 1),
}


@pytest.mark.parametrize("liked", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("loss", LOSSES)
def test_hostile_data(loss: str, liked: npt.NDArray[np.bool_]) -> None:
    """It ends, with finite numbers, and lists are whole."""
    log = log_of(liked, np.ones_like(liked))
    model = Factors(dim=3, loss=loss, epochs=3).fit(log)
    assert np.isfinite(model.user_).all() and np.isfinite(model.item_).all()
    assert (np.diff(model.recommend(log.users, 2).indptr) == min(2, liked.shape[1])).all()


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "squared"])
def test_scores_that_are_no_values_are_not_judged_as_such(loss: str) -> None:
    """Errors of predictions are refused for losses that learn an order or log-odds; ranks are judged."""
    log = log_of(blocks(30, 20), np.ones((30, 20), dtype=np.bool_))
    model = Factors(dim=3, loss=loss, epochs=1).fit(log)
    for metrics in (["mae"], ["rmse", "recall@3"]):
        with refuses("not-supported"):
            us.evaluate(log, {"m": model}, metrics=metrics, estimators=["naive"], feedback="ratings", relevant=">=1")
    result = us.evaluate(log, {"m": model}, metrics=["recall@3"], estimators=["naive"], relevant=">=1")
    assert result.estimates[0].value > 0.0


def test_a_rate_that_explodes_is_told() -> None:
    """Squared loss with a huge step leaves all bounds, and says so."""
    frame = pl.DataFrame({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1], "value": [1e29, 3e29, 2e29, 9e29]})
    with refuses("diverged"):
        Factors(loss="squared", rate=1e29, epochs=5).fit(Log.from_frame(frame, feedback="ratings"))
