"""Lists that are missing or short lose by it: the verdict says so where it is read, in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from unskew.engine.data import EvaluationData
from unskew.engine.places import ListPlaces
from unskew.result import Result, Verdict

USERS, ITEMS, K = 400, 60, 5
BETTER = f"full better than other on recall@{K}"


def lists(score: Any, length: int = K) -> pl.DataFrame:
    best = np.argsort(-score, axis=1)[:, :length]
    user = np.repeat(np.arange(USERS), length)
    return pl.DataFrame({"user": user, "item": best.ravel(), "rank": np.tile(np.arange(1, length + 1), USERS)})


def world(pull: float = 1.0) -> dict[str, Any]:
    """Two rankers alike, with known propensities; ``pull`` is how much they know."""
    rng = np.random.default_rng(2)
    liked = rng.random((USERS, ITEMS)) < 0.25
    early = liked & (rng.random((USERS, ITEMS)) < 0.3)
    user, item = np.nonzero(liked & ~early & (rng.random((USERS, ITEMS)) < 0.4))
    known = pull * (liked & ~early)
    train_user, train_item = np.nonzero(early)
    return {
        "train": pl.DataFrame({"user": train_user, "item": train_item}),
        "test": pl.DataFrame({"user": user, "item": item, "propensity": np.full(len(user), 0.4)}),
        "full": lists(known - 9.0 * early + rng.random(liked.shape)),
        "other": lists(known - 9.0 * early + rng.random(liked.shape)),
        "cut": lists(known + early + rng.random(liked.shape)),  # to five items, before training items are dropped
    }


def evaluate(other: pl.DataFrame, **options: Any) -> Result:
    made = world()
    asked: dict[str, Any] = {"train": made["train"], "metrics": [f"recall@{K}"], "propensity": "known(part=test)"}
    return us.evaluate(made["test"], {"full": made["full"], "other": other}, **(asked | options))


def snips(result: Result, segment: str | None = None) -> Verdict:
    (found,) = [v for v in result.verdicts_ if v.estimator == "snips" and v.segment == segment]
    return found


def missing(kept: pl.DataFrame, side: int | None = None) -> str:
    """What is to be said of lists that some users lack; only users with held-out rows count."""
    counted = set(world()["test"]["user"]) if side is None else {u for u in world()["test"]["user"] if u % 2 == side}
    return (
        f"other has no list for {len(counted - set(kept['user'])) / len(counted):.0%} of users, who count as 0 for it"
    )


def about_other(result: Result) -> list[str]:
    return [w for w in result.warnings if w.startswith("other: ")]


def test_lists_of_one_length_need_no_word() -> None:
    result = evaluate(world()["other"])
    assert not about_other(result) and "list" not in snips(result).trust
    half = {name: world()[name].filter(pl.col("rank") < 4) for name in ("full", "other")}
    made = world()
    even = us.evaluate(made["test"], half, metrics=[f"recall@{K}"], propensity="known(part=test)")
    assert "empty" not in snips(even).trust


def test_places_that_dropping_training_items_leaves_empty_are_said() -> None:
    """The remedy that warnings name, followed: the lists are short now, and the verdict says so."""
    result = evaluate(world()["cut"], drop_seen=True)
    (warning,) = about_other(result)
    found = snips(result)
    empty = 1.0 - result.inputs["models"]["other"]["dropped"]["already seen"] / (USERS * K)
    assert 0.2 < empty < 0.95
    assert "of the places up to rank 5 empty, those of full 0%" in warning and "other loses by them" in warning
    assert "training items are dropped" in warning
    assert found.verdict == "ahead"
    assert "the lists of other leave" in found.trust and found.trust in result.summary().replace("\n  ", " ")
    assert found.trust.rstrip(".") in result.require(BETTER).items[0].reason


def test_training_items_that_only_one_model_lists_are_said_where_all_items_are_candidates() -> None:
    """The other remedy, followed by one model alone: held-out rows repeat no training pair, its places are lost."""
    found = snips(evaluate(world()["cut"], candidates="all"))
    assert found.verdict == "ahead"
    assert "of what other lists was in the user's training data, and full leaves such items out" in found.trust
    assert "training" not in snips(evaluate(world()["other"], candidates="all")).trust


def test_some_short_lists_are_said_with_their_share() -> None:
    """Half of the lists end at rank 3: a fifth of all places is empty."""
    short = world()["other"].filter((pl.col("rank") <= 3) | (pl.col("user") % 2 == 0))
    result = evaluate(short)
    (warning,) = about_other(result)
    assert "leave 20% of the places up to rank 5 empty" in warning and "at least 5 items." in warning
    assert "the lists of other leave 20% of the places up to rank 5 empty" in snips(result).trust
    shallow = evaluate(short, metrics=["recall@3"])
    assert not about_other(shallow) and "empty" not in snips(shallow).trust
    cut = evaluate(world()["other"].filter(pl.col("rank") <= 3))
    assert "no list goes beyond rank 3" in "".join(about_other(cut)) and len(about_other(cut)) == 1
    assert "leave 40% of the places up to rank 5 empty" in snips(cut).trust


def test_missing_lists_are_said_with_verdict_and_requirement() -> None:
    """The answer stays; whoever reads it reads why it may not be the model's."""
    some = world()["other"].filter(pl.col("user") % 5 > 0)
    result = evaluate(some)
    assert snips(result).verdict == "ahead"
    said = missing(some)
    assert said in snips(result).trust
    (found,) = result.require(BETTER).items
    assert found.answer == "yes" and said in found.reason
    (margin,) = result.require(f"full not worse than other by 0.2 on recall@{K}").items
    assert margin.answer == "yes" and said in margin.reason


def test_a_margin_that_is_kept_says_it_too_where_nobody_is_named() -> None:
    """The verdict is open, and the answer to a margin is not."""
    some = world()["other"].filter(pl.col("user") % 50 > 0)
    result = evaluate(some)
    assert snips(result).verdict == "undecided"
    (found,) = result.require(f"full not worse than other by 0.2 on recall@{K}").items
    assert found.answer == "yes" and missing(some) in found.reason
    (found,) = result.require(BETTER).items
    assert found.answer == "undecided" and found.reason.startswith("the difference may be 0: ")
    assert missing(some) in found.reason


def test_segments_speak_of_their_own_lists() -> None:
    made = world()
    some = made["other"].filter((pl.col("user") % 2 == 0) | (pl.col("user") % 10 < 5))
    users = pl.DataFrame({"user": np.arange(USERS), "side": np.where(np.arange(USERS) % 2 == 0, "even", "odd")})
    result = evaluate(some, users=users, by="side")
    assert "list" not in snips(result, "side=even").trust
    assert missing(some, side=1) in snips(result, "side=odd").trust
    assert missing(some) in snips(result).trust


def test_what_depends_says_it_too() -> None:
    """Over scenarios: ahead, open or depending, lists that are missing stand with the verdict."""
    made = world()
    some = {"full": made["full"], "other": made["other"].filter(pl.col("user") % 5 > 0)}
    result = us.evaluate(made["test"].drop("propensity"), some, train=made["train"], metrics=[f"recall@{K}"])
    (found,) = [v for v in result.verdicts_ if v.estimator == "exposure_path"]
    assert missing(some["other"]) in found.trust


@pytest.mark.parametrize("drop_seen", [False, True])
def test_a_stream_says_the_same(drop_seen: bool, tmp_path: Path) -> None:
    made = world()
    given = {"full": made["full"], "other": made["cut"].filter((pl.col("user") % 9 > 0) & (pl.col("rank") != 2))}
    for name, table in (given | {"test": made["test"], "train": made["train"]}).items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    metrics, known = [f"recall@{K}", "dcg"], "known(part=test)"
    asked: dict[str, Any] = {"metrics": metrics, "drop_seen": drop_seen, "propensity": known}
    found = [
        us.evaluate(
            str(tmp_path / "test.parquet"),
            {name: str(tmp_path / f"{name}.parquet") for name in given},
            train=str(tmp_path / "train.parquet"),
            engine=engine,
            **asked,
        )
        for engine in ("memory", "stream")
    ]
    assert [v.trust for v in found[0].verdicts_] == [v.trust for v in found[1].verdicts_]
    assert found[0].warnings == found[1].warnings
    assert any("empty" in v.trust for v in found[0].verdicts_)


given_lists = st.lists(st.lists(st.integers(1, 9), unique=True, max_size=6).map(sorted), min_size=1, max_size=12)


@given(given_lists, st.data())
def test_places_are_what_loops_count_in_any_division(ranks: list[list[int]], data: st.DataObject) -> None:
    """Lists with gaps or without, of users with held-out rows alone."""
    depth = data.draw(st.integers(1, 8))
    rows = data.draw(st.lists(st.integers(0, 2), min_size=len(ranks), max_size=len(ranks)))
    cut = data.draw(st.integers(0, len(ranks)))
    indptr, starts = (np.cumsum([0, *sizes]).astype(np.int64) for sizes in (rows, map(len, ranks)))
    flat = np.array([rank for own in ranks for rank in own], dtype=np.int32)
    made = us.Recommendations(
        us.log.Ids(pl.Series(range(len(ranks)))), us.log.Ids(pl.Series([0])), starts, np.zeros_like(flat), flat
    )
    number = int(indptr[-1])
    held = EvaluationData(
        hashes=np.zeros(len(ranks), dtype=np.uint64), indptr=indptr, item=np.zeros(number, dtype=np.int32),
        value=np.ones(number), propensity=None, relevant=None, candidates=None, counted=None, lists=(made, made),
        predicted=(None, None), rating=None,
    )  # fmt: skip
    counted = [own for own, size in zip(ranks, rows, strict=True) if size]
    wanted = [sum(bool(own) for own in counted), *(sum(r in own for own in counted) for r in range(1, depth + 1))]
    parts = [(low, high) for low, high in ((0, cut), (cut, len(ranks))) if low < high]
    first, *others = [ListPlaces.of(held, low, high, depth) for low, high in parts]
    for other in others:
        first = other.merge(first)
    assert first.users == len(counted) and first.filled.tolist() == [wanted, wanted]
