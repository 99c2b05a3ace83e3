"""The same list twice cannot be worse: no difference, in any engine, whatever debiases the log; lists that only score
the same can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import better, kept
from tests.stream.files import Layout, ask
from tests.worlds import listed
from unskew.result import Result, Verdict

USERS = 60
TEST = pl.DataFrame({"user": np.arange(USERS), "item": np.arange(USERS) % 3}).with_columns(time=pl.lit(2))
TRAIN = pl.DataFrame({"user": np.arange(USERS), "item": 3 + np.arange(USERS) % 4}).with_columns(time=pl.lit(1))
NOT_WORSE, BETTER = kept("new", "old", "2 %", "{}"), better("new", "old", "{}")


def lists(*items: int) -> pl.DataFrame:
    """The same list for everybody."""
    return listed(items, USERS)


def judged(old: pl.DataFrame, new: pl.DataFrame, metric: str = "recall@3", **options: Any) -> Result:
    return us.evaluate(TEST, {"old": old, "new": new}, metrics=[metric], **options)


def answer(result: Result, text: str) -> str:
    return result.require(text.format(result.estimates[0].metric)).items[0].answer


def carried(result: Result) -> list[Verdict]:
    return [v for v in result.verdicts_ if v.segment is None]


@pytest.mark.parametrize("options", [{}, {"train": TRAIN}, {"propensity": "uniform"}])
@pytest.mark.parametrize("metric", ["recall@3", "dcg@3", "ndcg@3"])
def test_the_same_list_twice_is_not_worse_and_not_better(metric: str, options: dict[str, Any]) -> None:
    same = lists(0, 1, 7)
    result = judged(same, same.sample(fraction=1.0, shuffle=True, seed=1), metric, **options)
    assert all((v.difference, v.low, v.high, v.no_margin) == (0.0, 0.0, 0.0, "") for v in carried(result))
    assert (answer(result, NOT_WORSE), answer(result, BETTER)) == ("yes", "no")
    (found,) = result.require(NOT_WORSE.format(metric))
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)


def test_lists_that_only_score_the_same_are_not_the_same() -> None:
    """Item 8 was never clicked, and nobody knows what it is worth."""
    result = judged(lists(0, 1, 7), lists(0, 1, 8), train=TRAIN)
    assert all(v.difference == 0.0 and np.isnan(v.low) for v in carried(result))
    assert (answer(result, NOT_WORSE), answer(result, BETTER)) == ("undecided", "undecided")


@pytest.mark.parametrize(
    ("metric", "same"), [("recall@3", True), ("recall@2", False), ("dcg@3", False), ("map@3", False)]
)
def test_lists_are_the_same_as_far_as_the_metric_looks(metric: str, same: bool) -> None:
    """7 and 8 are never hits, so that no score tells; to recall@3 their order is no matter."""
    result = judged(lists(0, 7, 8), lists(0, 8, 7), metric, train=TRAIN)
    assert all((v.low == 0.0) is same for v in carried(result))


def test_streams_know_the_same_lists(tmp_path: Path) -> None:
    """In parts of the users: every part must agree."""
    for result in ask("twins", Layout(parts=4), tmp_path):
        ends = {(v.low, v.high) for v in result.verdicts_ if {v.a, v.b} == {"near", "again"}}
        assert ends == {(0.0, 0.0)} and all(v.low != 0.0 for v in result.verdicts_ if v.b == "far")
