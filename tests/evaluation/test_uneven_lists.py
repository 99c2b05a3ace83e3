"""Lists that are missing or short lose by it: the verdict says so where it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import better, kept, said
from tests.said import only
from tests.worlds import listed, pairs_of
from unskew.core.notice import codes
from unskew.result import Result, Verdict

USERS, ITEMS, K = 400, 60, 5
BETTER = better("full", "other", f"recall@{K}")


def lists(score: Any, length: int = K) -> pl.DataFrame:
    return listed(np.argsort(-score, axis=1)[:, :length])


def world(pull: float = 1.0) -> dict[str, Any]:
    """Two rankers alike, with known propensities; ``pull`` is how much they know."""
    rng = np.random.default_rng(2)
    liked = rng.random((USERS, ITEMS)) < 0.25
    early = liked & (rng.random((USERS, ITEMS)) < 0.3)
    seen = liked & ~early & (rng.random((USERS, ITEMS)) < 0.4)
    known = pull * (liked & ~early)
    return {
        "train": pairs_of(early),
        "test": pairs_of(seen, propensity=0.4),
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


def missing(some: pl.DataFrame, trust: str, side: int | None = None) -> bool:
    """Whether it is said of lists that some users lack; only users with held-out rows count."""
    counted = {u for u in world()["test"]["user"] if side is None or u % 2 == side}
    share = f"{len(counted - set(some['user'])) / len(counted):.0%}"
    return "missing-lists" in codes([trust]) and f" {share} " in trust


def about_other(result: Result) -> list[str]:
    return [text for text in result.warnings if text.startswith("other: ")]


def test_places_that_dropping_training_items_leaves_empty_are_said() -> None:
    """The remedy that warnings name, followed: the lists are short now, and the verdict says so."""
    result = evaluate(world()["cut"], drop_seen=True)
    (warning,), found = about_other(result), snips(result)
    empty = 1.0 - result.inputs["models"]["other"]["dropped"]["already seen"] / (USERS * K)
    assert 0.2 < empty < 0.95 and said(result, "uneven-lists") == [warning] and " full 0%" in warning
    assert found.verdict == "ahead" and only("short-lists", [found.trust], model="other")
    assert found.trust in result.summary().replace("\n  ", " ")
    assert "short-lists" in codes([result.require(BETTER).items[0].reason])


def test_training_items_that_only_one_model_lists_are_said_where_all_items_are_candidates() -> None:
    """The other remedy, followed by one model alone: held-out rows repeat no training pair, its places are lost."""
    found = snips(evaluate(world()["cut"], candidates="all"))
    assert found.verdict == "ahead" and only("training-items", [found.trust], model="other")
    assert "training-items" not in codes([snips(evaluate(world()["other"], candidates="all")).trust])


@pytest.mark.parametrize(
    ("gone", "metric", "share", "warned"),
    [
        (lambda user, rank: rank > K, "recall@5", "", ""),
        (lambda user, rank: (rank > 3) & (user % 2 == 1), "recall@5", "20%", "uneven-lists"),
        (lambda user, rank: (rank > 3) & (user % 2 == 1), "recall@3", "", ""),
        (lambda user, rank: rank > 3, "recall@5", "40%", "short-lists"),
    ],
    ids=["none", "half of them", "below", "all"],
)
def test_short_lists_are_said_with_their_share(gone: Any, metric: str, share: str, warned: str) -> None:
    result = evaluate(world()["other"].filter(~gone(pl.col("user"), pl.col("rank"))), metrics=[metric])
    assert codes(about_other(result)) == ((warned,) if warned else ())
    if share:
        assert f" {share} " in only("short-lists", [snips(result).trust], model="other")
    else:
        assert "short-lists" not in codes([snips(result).trust])


@pytest.mark.parametrize(("one_in", "verdict", "answer"), [(5, "ahead", "yes"), (50, "undecided", "undecided")])
def test_missing_lists_are_said_with_verdict_and_requirement(one_in: int, verdict: str, answer: str) -> None:
    """The answer stays, also that to a margin; whoever reads it reads why it may not be the model's."""
    some = world()["other"].filter(pl.col("user") % one_in > 0)
    result = evaluate(some)
    assert snips(result).verdict == verdict and missing(some, snips(result).trust)
    found, margin = result.require(BETTER, kept("full", "other", "0.2", f"recall@{K}"))
    assert (found.answer, margin.answer) == (answer, "yes")
    share = snips(result).trust.split("%")[0].rsplit(" ")[-1]
    assert f" {share}%" in found.reason and f" {share}%" in margin.reason


def test_segments_speak_of_their_own_lists() -> None:
    made = world()
    some = made["other"].filter((pl.col("user") % 2 == 0) | (pl.col("user") % 10 < 5))
    users = pl.DataFrame({"user": np.arange(USERS), "side": np.where(np.arange(USERS) % 2 == 0, "even", "odd")})
    result = evaluate(some, users=users, by="side")
    assert "missing-lists" not in codes([snips(result, "side=even").trust])
    assert missing(some, snips(result, "side=odd").trust, side=1) and missing(some, snips(result).trust)
