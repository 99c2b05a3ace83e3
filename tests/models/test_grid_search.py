"""A search finds what fitting and judging every candidate by hand finds, whatever the threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
import pytest
from tests.said import only, refuses

import unskew as us
from unskew.core.bounds import Whole
from unskew.core.parts import option
from unskew.core.threads import usual
from unskew.log import Ids, Log, Recommendations
from unskew.models import Model, grid_search, make, search
from unskew.models.base import from_shared_scores

GRID = {
    "item_knn": {"neighbours": [1, 5, 20], "shrink": [0, 5]},
    "wmf": {"dim": [2, 4], "penalty": [0.1]},
    "most_popular": {},
}


@pytest.fixture(scope="module")
def parts() -> tuple[Log, Log]:
    """Two halves of a log in which users of two kinds like items of two kinds."""
    rng = np.random.default_rng(0)
    kind = np.add.outer(np.arange(120), np.arange(40)) % 2
    user, item = np.nonzero(rng.random((120, 40)) < np.where(kind, 0.4, 0.05))
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item}))
    train, validation = us.split.holdout(log, share=0.5, seed=0)
    return train, validation


def recall(model: Model, train: Log, test: Log, k: int) -> float:
    """Share of a user's held-out items among the first k, averaged over users who have some; loops."""
    lists: dict[Any, list[Any]] = {}
    for user, item, _ in model.recommend(test.users, k, seen=train).to_frame().iter_rows():
        lists.setdefault(user, []).append(item)
    held: dict[Any, set[Any]] = {}
    for user, item in test.to_frame().select("user", "item").iter_rows():
        held.setdefault(user, set()).add(item)
    return float(np.mean([len(items & set(lists[user])) / len(items) for user, items in held.items()]))


def test_the_table_is_what_loops_give(parts: tuple[Log, Log]) -> None:
    """Values, order, options and the winner, which is fitted."""
    train, validation = parts
    found = search(train, validation, GRID, metric="recall@5")
    by_hand = {name: recall(make(name).fit(train), train, validation, 5) for name in found.table["model"]}
    assert len(by_hand) == 9 and "item_knn(neighbours=20, shrink=5)" in by_hand
    assert found.table["value"].to_list() == pytest.approx(list(by_hand.values()), abs=1e-12)
    assert found.table["value"].is_sorted(descending=True)
    assert found.best == max(by_hand, key=lambda name: by_hand[name]) == str(found.model)
    assert recall(found.model, train, validation, 5) == pytest.approx(by_hand[found.best])
    row = found.table.filter(model="item_knn(neighbours=20, shrink=5)").row(0, named=True)
    assert (row["neighbours"], row["shrink"], row["dim"]) == (20, 5.0, None)


def test_threads_and_order_of_finishing_change_nothing(parts: tuple[Log, Log], monkeypatch: pytest.MonkeyPatch) -> None:
    """One candidate after the other, four at once, and too little memory for two: the same table and winner."""
    one, four = (search(*parts, GRID, threads=threads) for threads in (1, 4))
    monkeypatch.setattr(grid_search, "available", lambda: 1)
    assert grid_search._at_once([make("random"), make("wmf")], parts[0], 4) == 1
    scarce = search(*parts, GRID)
    for other in (four, scarce):
        assert other.table.equals(one.table) and other.best == one.best


def test_of_equally_good_ones_the_first_of_the_grid_wins(parts: tuple[Log, Log]) -> None:
    """Neighbours beyond all there are change nothing, and the first is named, with the tie told."""
    for first, second in ((39, 40), (40, 39)):
        found = search(*parts, [f"item_knn(neighbours={n})" for n in (first, second, first)], threads=4)
        assert found.best == f"item_knn(neighbours={first})" and len(found.table) == 2
        assert only("tied-candidates", found.cautions)


def test_cautions_name_the_edge_of_the_grid(parts: tuple[Log, Log]) -> None:
    """An option whose best value is the last that was tried; one that was not varied is no edge."""
    found = search(*parts, {"item_knn": {"neighbours": [1, 30], "shrink": [3]}})
    assert found.best == "item_knn(neighbours=30, shrink=3)"
    only("edge-of-grid", found.cautions, option="neighbours", value=30)
    only("best-of-many", found.cautions, candidates=2)


def test_errors_are_best_where_they_are_least() -> None:
    """mae of predictions is searched downwards, and ratings need no threshold."""
    rng = np.random.default_rng(1)
    user, item = np.nonzero(rng.random((40, 20)) < 0.5)
    value = np.clip(np.round(3 + (item % 5 - 2) * 0.8 + rng.normal(size=len(user))), 1, 5)
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": value}), feedback="ratings")
    train, validation = us.split.holdout(log, share=0.3, seed=0)
    found = search(train, validation, {"mf": {"dim": [0], "penalty": [0.01, 1, 1000]}}, metric="mae")
    assert (
        found.lower_is_better
        and found.table["value"].is_sorted()
        and found.best != str(make("mf(dim=0, penalty=1000)"))
    )


def test_relevant_is_asked_of_both_logs() -> None:
    """With ratings, models learn from what is behind the threshold, and that is what counts in validation."""
    rng = np.random.default_rng(2)
    user, item = np.nonzero(rng.random((60, 20)) < 0.5)
    value = np.where(item < 5, 5.0, 1.0)  # items 0 to 4 are liked, the others seen as often
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": value}), feedback="ratings")
    train, validation = us.split.holdout(log, share=0.5, seed=0)
    found = search(train, validation, ["random", "most_popular"], metric="recall@5", relevant=">3")
    assert found.best == "most_popular" and found.table["value"][0] == 1.0
    with refuses("missing-argument"):
        search(train, validation, ["most_popular"])


@dataclass(eq=False, repr=False)
class Reversed(Model):
    """The least popular first; notes how many threads it may take."""

    skip: int = option(0, Whole(0, 10), "")
    name = "reversed_popularity"
    threads: list[int] = None  # type: ignore[assignment]

    def fit(self, log: Log) -> Self:
        self.items_, self.counts_ = log.items, -np.bincount(log.item, minlength=len(log.items)).astype(np.float64)
        if self.threads is not None:
            self.threads.append(usual())
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        return from_shared_scores(self.counts_, self.catalogue, users, k, seen)


def test_candidates_without_a_hit_have_the_value_0() -> None:
    """One that never hits is last, not an error; a search without any hit is one."""
    train = Log.from_frame(pl.DataFrame({"user": [1, 2, 3, 3, 3], "item": [1, 1, 1, 2, 3]}))
    validation = Log.from_frame(pl.DataFrame({"user": [4, 1, 5, 6], "item": [1, 2, 1, 1]}))
    found = search(train, validation, [Reversed(), "most_popular"], metric="recall@1")
    assert found.best == "most_popular" and found.table["value"].to_list()[1] < found.table["value"][0]
    validation = Log.from_frame(pl.DataFrame({"user": [4, 3, 1], "item": [1, 9, 9]}))
    with refuses("no-hits"):
        search(train, validation, [Reversed()], metric="recall@1")


@pytest.mark.parametrize(
    ("grid", "code"),
    [
        ("item_knn", "wrong-type"),
        ([], "missing-argument"),
        ({"item_knn": {"neighbours": 5}}, "wrong-type"),
        ({"item_knn": {"neighbors": [5]}}, "unknown-argument"),
        ({"item_kn": {}}, "unknown-name"),
        ({"item_knn": {"neighbours": [0]}}, "out-of-range"),
    ],
)
def test_mistakes_in_the_grid_are_told(grid: Any, code: str, parts: tuple[Log, Log]) -> None:
    """What is no grid, has no candidates, or names what there is not."""
    with refuses(code):
        search(*parts, grid)
