"""Every model with factors makes lists by the screen, and gives the ranks that its lists have."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hard_factors import ITEMS, USERS, World, worlds
from tests.said import refuses

import unskew as us
from unskew.kernels.topk import SEED, top_k
from unskew.log import Ids, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import Recommendations
from unskew.models import GivenFactors, Model, make
from unskew.models.by_factors import ByFactors, Scored, ranks_of
from unskew.models.family import FAMILY
from unskew.models.screen import Screen

FITTED = {
    "biased_mf(dim=3, epochs=2)",
    "bpr(dim=3, epochs=2)",
    "factors(dim=3, epochs=2)",
    "mf(dim=3)",
    "mmmf(dim=3, epochs=2)",
    "nmf(dim=3, epochs=2)",
    "plain_mf(dim=3, epochs=2)",
    "pmf(dim=3, epochs=2)",
    "svd(dim=3)",
    "wmf(dim=3, rounds=2)",
}
WITHOUT_FACTORS = {"average_rating", "item_knn", "most_popular", "random", "recently_popular", "user_knn"}


@pytest.fixture(scope="module")
def log() -> Log:
    """Ratings of 40 users, and of some items that were rated by nobody."""
    rng = np.random.default_rng(0)
    pairs = rng.permutation(40 * 90)[:600]
    rows = {"user": pairs // 90, "item": pairs % 90, "value": rng.integers(1, 6, 600).astype(float)}
    return Log.from_frame(pl.DataFrame(rows), feedback="ratings")


def test_all_models_are_known_here() -> None:
    """A new model with factors belongs among them."""
    with_factors = {text.split("(")[0] for text in FITTED}
    assert {name for name in FAMILY.names() if issubclass(FAMILY.class_of(name), ByFactors)} == with_factors
    assert set(FAMILY.built_in) <= with_factors | WITHOUT_FACTORS


def fitted(text: str, log: Log) -> Any:
    """A fitted model; given factors know half of the users only."""
    if text != "given":
        model = make(text)
        assert isinstance(model, Model)
        return model.fit(log if model.learns_values else log.positives(">2"))
    rng = np.random.default_rng(1)
    users, items = log.users.values[::2], log.items.values
    return GivenFactors(users, items, rng.normal(size=(len(users), 3)), rng.normal(size=(len(items), 3)))


@pytest.mark.parametrize("text", [*sorted(FITTED), "given"])
def test_lists_and_ranks_of_every_model(text: str, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen is asked, its lists are the exhaustive ones, and ranks are those of lists of the whole catalogue."""
    model = fitted(text, log)
    screens: list[Screen] = []

    def recorded(*given: Any) -> Screen:
        screens.append(Screen(*given))
        return screens[-1]

    exhaustive = model.recommend(log.users, 5, seen=log)
    monkeypatch.setattr("unskew.models.base.worthwhile", lambda *_: True)
    monkeypatch.setattr("unskew.models.base.Screen", recorded)
    screened = model.recommend(log.users, 5, seen=log)
    assert len(screens) == 1 and screened.tied == exhaustive.tied
    np.testing.assert_array_equal(screened.item, exhaustive.item)
    monkeypatch.undo()
    held_out, seen = log, log.positives(">3")
    whole = model.recommend(log.users, len(log.items), seen=seen).to_frame()
    rows = pl.DataFrame({"user": log.users.values[log.user], "item": log.items.values[log.item]})
    wanted = rows.join(whole, on=["user", "item"], how="left", maintain_order="left")["rank"].fill_null(0)
    np.testing.assert_array_equal(model.ranks(held_out, seen=seen), wanted)
    assert (wanted > 0).any() and (wanted == 0).any()


@settings(max_examples=40)
@given(world=worlds(), seed=st.integers(0, 2**32))
def test_ranks_are_exact(world: World, seed: int) -> None:
    """As in the whole order of items by all scores, ties included; 0 for seen items and for those of no catalogue."""
    rng = np.random.default_rng(seed)
    users, items = Ids.of(pl.Series(range(USERS))), Ids.of(pl.Series(range(ITEMS)))
    chosen = [np.sort(rng.choice(ITEMS + 3, rng.choice([0, 1, 8]), replace=False)) for _ in range(USERS)]
    indptr, held = starts_of(np.array([len(c) for c in chosen])), np.concatenate(chosen).astype(np.int32)
    held_out = Log(users, Ids.of(pl.Series(range(ITEMS + 3))), indptr, held)
    seen = Log(users, items, world.indptr, world.excluded)
    order = np.empty((USERS, ITEMS), dtype=np.int32)
    top_k(world.scores, ITEMS, users.hashes, items.hashes, SEED, world.indptr, world.excluded, order)
    place = np.zeros((USERS, ITEMS + 4), dtype=np.int32)  # −1 is where nothing is listed
    np.put_along_axis(place, order.astype(np.int64), np.arange(1, ITEMS + 1)[None], axis=1)
    place[:, ITEMS:] = 0
    found = ranks_of(Scored(world.rows, (world.left, world.right), world.offsets, items), held_out, seen)
    np.testing.assert_array_equal(found, place[np.repeat(np.arange(USERS), np.diff(indptr)), held])


def test_ranks_by_scores_that_are_no_numbers_are_refused() -> None:
    """Infinite scores would all be tied."""
    users, items = Ids.of(pl.Series(range(2))), Ids.of(pl.Series(range(3)))
    held_out = Log(users, items, np.array([0, 1, 2]), np.array([0, 2], dtype=np.int32))
    scored = Scored(np.arange(2, dtype=np.int32), (np.full((2, 1), 1e200), np.full((3, 1), 1e200)), np.zeros(3), items)
    with refuses("factors-too-large"):
        ranks_of(scored, held_out, None)


def test_one_pass_for_the_longest_list_serves_all_metrics(log: Log) -> None:
    """An evaluation asks a model once, for as many places as the metric of the largest k needs."""
    rng = np.random.default_rng(2)
    model = GivenFactors(
        log.users, log.items, rng.normal(size=(len(log.users), 3)), rng.normal(size=(len(log.items), 3))
    )
    asked: list[int] = []

    class Counting:
        def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
            asked.append(k)
            return model.recommend(users, k, seen=seen)

    asking: dict[str, Any] = {"relevant": ">2", "estimators": ["naive"]}
    both = us.evaluate(log, {"a": Counting()}, metrics=["recall@3", "recall@10", "ndcg@7"], **asking)
    assert asked == [10]
    for name in ("recall@3", "ndcg@7"):
        alone = us.evaluate(log, {"a": Counting()}, metrics=[name], **asking)
        values = [[e.value for e in result.estimates if str(e.metric) == name] for result in (both, alone)]
        assert values[0] == values[1] and len(values[0]) > 0
