"""Factors made elsewhere: lists against sorting by a loop's scores, ids in any order, files, and what is refused."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_models import lists_of
from tests.said import only, refuses

import unskew as us
from unskew.kernels.hashing import mix
from unskew.kernels.topk import SEED
from unskew.log import Ids, Log
from unskew.models import GivenFactors, base
from unskew.models.by_length import ByLength
from unskew_papers.models import Factors

Floats = npt.NDArray[np.float64]


def sum_of(v: list[float], w: list[float], offset: float) -> float:
    """b + v_1 w_1 + v_2 w_2 + …, one after the other."""
    for a, b in zip(v, w, strict=True):
        offset += a * b
    return offset


def hash_of(one: Any) -> Any:
    return Ids.of(pl.Series([one])).hashes[0]


@st.composite
def worlds(draw: st.DrawFn, numbers: tuple[float, ...]) -> dict[str, Any]:
    """Few distinct factors (many ties), ids out of order, users without factors, and items that were seen."""
    name = draw(st.sampled_from([lambda n: n, lambda n: f"ü{n}"]))
    users = [name(n) for n in draw(st.lists(st.integers(0, 30), min_size=1, max_size=6, unique=True))]
    items = [name(n) for n in draw(st.lists(st.integers(0, 40), min_size=1, max_size=20, unique=True))]
    strangers = [name(n) for n in draw(st.lists(st.integers(31, 40), max_size=3, unique=True))]
    dim, number = draw(st.integers(0, 9)), st.sampled_from(numbers)
    rows = st.lists(number, min_size=dim, max_size=dim)
    return {
        "users": users,
        "items": items,
        "asked": [*strangers, *draw(st.lists(st.sampled_from(users), min_size=1, unique=True))],
        "user_factors": [draw(rows) for _ in users],
        "item_factors": [draw(rows) for _ in items],
        "item_offsets": draw(st.none() | st.lists(number, min_size=len(items), max_size=len(items))),
        "seen": draw(st.lists(st.tuples(st.sampled_from([*users, name(99)]), st.sampled_from([*items, name(99)])))),
        "k": draw(st.integers(1, 25)),
    }


def model_of(p: dict[str, Any]) -> GivenFactors:
    user, item = (
        np.array(p[side], dtype=np.float64).reshape(len(p[side]), -1) for side in ("user_factors", "item_factors")
    )
    return GivenFactors(p["users"], p["items"], user, item, item_offsets=p["item_offsets"])


@settings(deadline=None)
@given(p=worlds((-1.5, 0.0, 0.1, 1.0)))
def test_lists_are_sorted_by_the_sums_of_a_loop(p: dict[str, Any]) -> None:
    """(−score, hash) over the unseen items, whatever the order of ids; who has no factors has no list."""
    seen = Log.from_frame(pl.DataFrame(sorted(set(p["seen"])), ["user", "item"], orient="row")) if p["seen"] else None
    found = model_of(p).recommend(Ids.of(pl.Series(p["asked"])), p["k"], seen=seen)
    offsets, hashes = p["item_offsets"] or [0.0] * len(p["items"]), [hash_of(item) for item in p["items"]]
    expected: dict[Any, list[Any]] = {}
    tied = 0
    for user in p["asked"]:
        expected[user] = []
        if user not in p["users"]:
            continue
        v, salt = p["user_factors"][p["users"].index(user)], mix(hash_of(user) ^ SEED)
        keyed = sorted(
            (-sum_of(v, w, offset), int(mix(salt ^ key)), item)
            for item, w, offset, key in zip(p["items"], p["item_factors"], offsets, hashes, strict=True)
            if (user, item) not in p["seen"]
        )
        expected[user] = [item for _, _, item in keyed[: p["k"]]]
        tied += len(keyed) > p["k"] and keyed[p["k"] - 1][0] == keyed[p["k"]][0]
    assert lists_of(found) == expected
    assert found.tied == tied


def repeated(rng: np.random.Generator, users: int, items: int, dim: int) -> tuple[Floats, Floats, Floats]:
    """Factors of any size; a third of the items are there thrice."""
    distinct = rng.normal(size=(-(-items // 3), dim + 1))
    rows = np.tile(distinct, (3, 1))[:items]
    return rng.normal(size=(users, dim)), rows[:, :-1].copy(), rows[:, -1].copy()


@pytest.mark.parametrize("kind", ["given", "fitted"])
def test_neither_threads_nor_blocks_nor_company_change_a_list(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """One thread or two, blocks of one user or of all, one user asked for alone: the same lists and ties."""
    left, right, offsets = repeated(np.random.default_rng(1), 90, 300, 13)
    model: Any = GivenFactors(range(90), range(300), left, right, item_offsets=offsets)
    if kind == "fitted":
        fitted = Factors(dim=13)
        fitted.users_, fitted.items_ = model.users, model.items
        fitted.user_ = np.column_stack([left, np.zeros(90)])
        fitted.item_ = np.column_stack([right, offsets])
        model = fitted
    everyone = Ids.of(pl.Series(range(90)))
    whole = model.recommend(everyone, 7)
    for block, threads in ((1, 1), (1, 2), (7, 2), (1000, 1)):
        monkeypatch.setattr(ByLength, "block", block)
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        again = model.recommend(everyone, 7)
        assert again.to_frame().equals(whole.to_frame()) and again.tied == whole.tied
    alone = model.recommend(Ids.of(pl.Series([41])), 7)
    assert alone.to_frame().equals(whole.to_frame().filter(pl.col("user") == 41))


def test_no_users_by_items_matrix_is_ever_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Peak memory is a few blocks and the lists, a small part of all scores."""
    monkeypatch.setattr(base, "CELLS", 1 << 16)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    rng = np.random.default_rng(0)
    model = GivenFactors(range(4000), range(2000), rng.normal(size=(4000, 4)), rng.normal(size=(2000, 4)))
    users = Ids.of(pl.Series(range(4000)))
    model.recommend(users, 5)  # compiled
    tracemalloc.start()
    try:
        model.recommend(users, 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * (8 * 4000 * 2000)


def test_scores_of_pairs() -> None:
    """v·w + a + b by id; NaN for what has no factors."""
    model = GivenFactors(["b", "a"], [7, 5], [[1, 2], [3, 4]], [[1, 0], [0, 1]], [10, 20], [100, 200])
    found = model.scores(["a", "b", "b", "c", "a"], [7, 5, 7, 7, 6])
    np.testing.assert_array_equal(found, [3 + 20 + 100, 2 + 10 + 200, 1 + 10 + 100, np.nan, np.nan])
    with refuses("wrong-shape"):
        model.scores(["a"], [7, 5])
    assert str(model) == repr(model) == "given_factors(users=2, items=2, dim=2)"


def test_ids_and_factors_of_every_kind_mean_the_same() -> None:
    """Lists, arrays, Series of polars and pandas, vocabularies, whole floats, texts of numbers; single precision."""
    factors = np.arange(6, dtype=np.float32).reshape(3, 2)
    asked = Ids.of(pl.Series([10, 9, 2]))
    first = GivenFactors([10, 9, 2], [1, 2, 3], factors, factors[::-1]).recommend(asked, 2).to_frame()
    kinds: list[Any] = [
        np.array([10, 9, 2], dtype=np.uint8),
        np.array([10.0, 9.0, 2.0]),
        pl.Series([10, 9, 2]),
        pd.Series([10, 9, 2]),
        pd.Index([10, 9, 2]),
        np.array(["10", "9", "2"]),
        np.array(["10", "9", "2"], dtype=object),
        pd.Series(["10", "9", "2"], dtype="category"),
        pl.Series(["10", "9", "2"], dtype=pl.Categorical),
        ("10", "9", "2"),
    ]
    for ids in kinds:
        model = GivenFactors(ids, range(1, 4), factors.tolist(), np.asfortranarray(factors[::-1]))
        assert model.recommend(asked, 2).to_frame().equals(first), type(ids)
    vocabulary = Ids.of(pl.Series([2, 9, 10]))
    model = GivenFactors(vocabulary, [1, 2, 3], factors[::-1], factors[::-1])
    assert model.recommend(asked, 2).to_frame().equals(first)


ONE = np.ones((2, 3))
WRONG: dict[str, tuple[dict[str, Any], str, str | None]] = {  # what is given, the code, and the argument it names
    "rows": ({"user_factors": np.ones((4, 3))}, "wrong-shape", "user_factors"),
    "transposed": ({"item_factors": np.ones((3, 2))}, "wrong-shape", "item_factors"),
    "widths": ({"item_factors": np.ones((2, 4))}, "wrong-shape", None),
    "one dimension": ({"user_factors": np.ones(2)}, "wrong-shape", "user_factors"),
    "offsets twice": ({"item_offsets": np.ones((2, 1))}, "wrong-shape", "item_offsets"),
    "offsets short": ({"user_offsets": [1.0]}, "wrong-shape", "user_offsets"),
    "nan": ({"user_factors": [[1, 2, 3], [1, np.nan, 3]]}, "not-finite", "user_factors"),
    "inf": ({"item_offsets": [np.inf, 1]}, "not-finite", "item_offsets"),
    "texts": ({"item_factors": [["a"] * 3] * 2}, "not-a-number", "item_factors"),
    "ragged": ({"item_factors": [[1, 2], [3]]}, "not-a-number", "item_factors"),
    "complex": ({"item_factors": ONE * 1j}, "not-a-number", "item_factors"),
    "huge": ({"user_factors": ONE * 1e200, "item_factors": ONE * 1e200}, "factors-too-large", None),
    "twice": ({"users": ["a", "a"]}, "repeated-id", "users"),
    "none": ({"users": [], "user_factors": np.ones((0, 3))}, "empty-ids", "users"),
    "null": ({"items": [1, None]}, "missing-id", "items"),
    "half": ({"items": [1.5, 2.0]}, "wrong-type", "items"),
    "nan id": ({"items": [1.0, np.nan]}, "wrong-type", "items"),
    "mixed": ({"items": [1, "b"]}, "wrong-type", "items"),
    "mixed objects": ({"items": np.array([1, "b"], dtype=object)}, "wrong-type", "items"),
    "one text": ({"users": "ab"}, "wrong-type", "users"),
    "no ids": ({"users": None}, "wrong-type", "users"),
    "bytes": ({"users": np.array([b"a", b"b"])}, "wrong-type", "users"),
    "nested": ({"users": [[1], [2]]}, "wrong-type", "users"),
    "a number": ({"users": 2}, "wrong-type", "users"),
    "three dimensions": ({"item_factors": ONE[None]}, "wrong-shape", "item_factors"),
    "dates": ({"users": np.zeros(2, dtype="datetime64[s]")}, "wrong-type", "users"),
    "structured": ({"users": np.zeros(2, dtype=[("a", "i4")])}, "wrong-type", "users"),
}


@pytest.mark.parametrize(("change", "code", "argument"), WRONG.values(), ids=WRONG.keys())
def test_wrong_factors_are_refused(change: dict[str, Any], code: str, argument: str | None) -> None:
    """Shapes, ids and numbers, each by name."""
    good: dict[str, Any] = {"users": ["a", "b"], "items": [1, 2], "user_factors": ONE, "item_factors": ONE}
    GivenFactors(**good)
    with refuses(code) as caught:
        GivenFactors(**good | change)
    assert argument in (None, caught.value.fields.get("argument"))


def log() -> Log:
    """Thirty users, each with some of twelve items."""
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((30, 12)) < 0.3)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item}))


def test_evaluate_takes_factors_and_counts_users_without(tmp_path: Path) -> None:
    """The numbers of the same lists as a file; users without factors score 0, with a warning and a count."""
    train, test = us.split.holdout(log(), 0.4, seed=0)
    rng = np.random.default_rng(1)
    model = GivenFactors(range(25), range(12), rng.normal(size=(25, 3)), rng.normal(size=(12, 3)))
    model.recommend(test.users, 5, seen=train).to_frame().write_parquet(tmp_path / "lists.parquet")
    asked = {"given": model, "listed": tmp_path / "lists.parquet"}
    result = us.evaluate(test, asked, metrics=["recall@5"], estimators=["naive"], train=train)
    values = {row.model: row.value for row in result.estimates}
    assert values["given"] == values["listed"] > 0.0
    without = int(np.count_nonzero(np.diff(test.indptr)[25:]))
    assert without and result.inputs["models"]["given"]["users_without_list"] == without
    only("users-unserved", result.warnings)
    strangers = GivenFactors([f"u{n}" for n in range(3)], range(12), np.ones((3, 3)), np.ones((12, 3)))
    with refuses("unknown-users"):
        us.evaluate(test, {"given": strangers}, estimators=["naive"])
    assert len(strangers.recommend(Ids.of(pl.Series([], dtype=pl.Int64)), 3).item) == 0
