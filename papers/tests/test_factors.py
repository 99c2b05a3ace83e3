"""Factors against a loop that draws the same random numbers, and against what is known of the losses."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.said import refuses

import unskew as us
from papers.tests.factor_loop import PAIRWISE, Loop, log_of
from unskew import InputError
from unskew.log import Ids, Log
from unskew.models import MostPopular, make
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


@pytest.mark.parametrize("loss", ["logistic", "squared", "bpr"])
def test_the_first_step_goes_down_the_gradient(loss: str) -> None:
    """Users 0 and 1 like items 0 and 1: one pass moves parameters along −gradient, taken by differences.

    Exactly so for one row. Two rows of bpr share their items and pull their offsets to and fro, the second time with a
    shorter step (Adagrad): there the direction of the factors is compared.
    """
    liked = np.eye(2, dtype=np.bool_) & ((np.arange(2) == 0) | (loss == "bpr"))
    log = log_of(liked)
    model = Factors(dim=2, loss=loss, rate=1e-3, epochs=1).fit(log)
    loop = Loop(model, log)
    before = np.array([*loop.users, *loop.items])

    def cost(x: npt.NDArray[np.float64]) -> float:
        users, items = x[:2], x[2:]
        z = users[:, :2] @ items[:, :2].T + users[:, 2:] + items[:, 2] + loop.level
        if loss == "squared":
            return 0.5 * float((z[0, 0] - 1.0) ** 2)
        if loss == "logistic":
            return math.log1p(math.exp(-z[0, 0]))
        return math.log1p(math.exp(z[0, 1] - z[0, 0])) + math.log1p(math.exp(z[1, 0] - z[1, 1]))

    slope = np.zeros_like(before)
    for place in np.ndindex(before.shape):
        up, down = before.copy(), before.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        slope[place] = (cost(up) - cost(down)) / 2e-6
    moved = np.vstack([model.user_, model.item_]) - before
    if loss == "bpr":
        moved, slope = moved[:, :2], slope[:, :2]
        assert -(moved * slope).sum() > 0.999 * np.linalg.norm(moved) * np.linalg.norm(slope)
    else:
        moved[1] = 0.0  # a user without rows has no factors
        np.testing.assert_allclose(moved, -1e-3 * slope, atol=1e-8)  # numbers of single precision


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


def test_factors_hold_all_scores_and_lists_follow_them() -> None:
    """user @ item.T are the scores of pairs and recommend sorts by, seen items left out."""
    log = log_of(blocks(50, 30))
    model = Factors(dim=4, epochs=5).fit(log)
    left, right = model.factors()
    scores = left @ right.T
    pairs = np.nonzero(np.ones_like(scores))
    np.testing.assert_allclose(model.scores(pairs[0].tolist(), pairs[1].tolist()), scores.ravel(), rtol=1e-12)
    lists = model.recommend(log.users, 6, seen=log)
    for u in range(50):
        open_ones = np.setdiff1d(np.arange(30), log.item[log.indptr[u] : log.indptr[u + 1]])
        best = open_ones[np.argsort(-scores[u, open_ones])][:6]
        assert list(lists.item[lists.indptr[u] : lists.indptr[u + 1]]) == list(best)


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


def test_strangers_are_ranked_for_by_the_offsets_of_items() -> None:
    """Users that training did not have, and users without a positive."""
    liked = blocks(50, 30)
    liked[7] = False
    log = log_of(liked)
    model = Factors(dim=4, epochs=5).fit(log)
    lists = model.recommend(Ids.of(pl.Series([7, 1000])), 30)
    order = np.argsort(-model.item_[:, -1])
    assert list(lists.item[:30]) == list(order) == list(lists.item[30:])


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


def test_the_penalty_shrinks() -> None:
    """More of it, smaller factors; a huge one folds the running factor in and stays finite."""
    log = log_of(blocks(60, 40))
    sizes = [np.abs(Factors(dim=4, l2=l2, epochs=5).fit(log).item_).mean() for l2 in (0.0, 0.01, 1.0, 100.0)]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3] and np.isfinite(sizes).all()


@pytest.mark.parametrize("texts", [False, True])
def test_saved_and_loaded(tmp_path: Path, texts: bool) -> None:
    """The same scores and lists, numbers or texts as ids, without anything that could run."""
    frame = log_of(blocks(30, 20)).to_frame().drop("value")
    if texts:
        frame = frame.select(pl.format("user {}", "user").alias("user"), pl.format("ä{}", "item").alias("item"))
    log = Log.from_frame(frame)
    model = Factors(dim=3, loss="warp-kos", l2=1e-3, item_l2=0.01, epochs=2).fit(log)
    model.save(tmp_path / "model.npz")
    again = Factors.load(tmp_path / "model.npz")
    assert str(again) == str(model) and again.losses_ == model.losses_
    lists = [m.recommend(log.users, 4, seen=log).to_frame() for m in (model, again)]
    assert lists[0].equals(lists[1])


def test_files_that_are_no_models(tmp_path: Path) -> None:
    """Absent, text, cut off, another archive, pickled objects, parts that are missing or do not fit: one sentence."""
    with refuses("missing-file"):
        Factors.load(tmp_path / "absent.npz")
    path = tmp_path / "model.npz"
    Factors(dim=3, epochs=1).fit(log_of(blocks(30, 20))).save(path)
    good, whole = dict(np.load(path)), path.read_bytes()
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_text("")
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    np.savez(tmp_path / "other.npz", format=1, a=np.ones(2))
    np.savez(tmp_path / "objects.npz", header=np.array([{}], dtype=object))
    np.savez(tmp_path / "short.npz", **{**good, "user": good["user"][:5]})
    np.savez(tmp_path / "nan.npz", **{**good, "item": good["item"] * np.nan})
    np.savez(tmp_path / "lacking.npz", **{name: array for name, array in good.items() if name != "losses"})
    header = good["header"].tobytes()
    for name, old, new in (
        ("badly", b"loss=warp", b"loss=wrap"),
        ("badder", b"factors(", b"factors["),
        ("mf", b"unskew factors", b"unskew mf"),
    ):
        np.savez(
            tmp_path / f"{name}.npz", **{**good, "header": np.frombuffer(header.replace(old, new), dtype=np.uint8)}
        )
    damaged = dict.fromkeys(("short", "nan", "lacking", "badly", "badder"), "damaged-file")
    foreign = dict.fromkeys(("text", "empty", "cut", "array", "other", "objects", "mf"), "unknown-format")
    for name, code in (damaged | foreign).items():
        with refuses(code) as caught:
            Factors.load(tmp_path / f"{name}.npz")
        assert f"{name}.npz" in str(caught.value)
    with refuses("not-fitted"):
        Factors().save(tmp_path / "unfitted.npz")


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


def test_progress_is_told() -> None:
    """After every epoch: its number, how many, the loss."""
    told: list[tuple[int, int, float]] = []
    model = Factors(dim=2, epochs=3).fit(log_of(blocks(30, 20)), progress=lambda *news: told.append(news))
    assert told == [(i + 1, 3, loss) for i, loss in enumerate(model.losses_)]


def test_models_print_what_they_parse() -> None:
    """The canonical string names every option and makes the same model again."""
    text = "factors(dim=30, loss=warp, rate=0.05, l2=0, epochs=20, schedule=adagrad, max_sampled=10, k=5, n=10, seed=0)"
    assert str(make("factors")) == text == str(make(text)) == repr(Factors())
    kos = str(Factors(loss="warp-kos", item_l2=0.5))
    assert "loss=warp-kos" in kos and "item_l2=0.5" in kos and str(make(kos)) == kos


IMPOSSIBLE = "loss=wrap schedule=adam dim=0 rate=0 l2=-1 item_l2=-1 epochs=0 max_sampled=0 k=11 seed=-1"


@pytest.mark.parametrize("text", IMPOSSIBLE.split())
def test_impossible_options_are_refused(text: str) -> None:
    """When the model is fitted, as with every model here."""
    with pytest.raises(InputError) as caught:
        make(f"factors({text})").fit(TINY)
    assert caught.value.fields["option"] == text.split("=")[0]


def test_a_rate_that_explodes_is_told() -> None:
    """Squared loss with a huge step leaves all bounds, and says so."""
    frame = pl.DataFrame({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1], "value": [1e29, 3e29, 2e29, 9e29]})
    with refuses("diverged"):
        Factors(loss="squared", rate=1e29, epochs=5).fit(Log.from_frame(frame, feedback="ratings"))
