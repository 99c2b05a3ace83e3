"""Weights by popularity after a random split assume that chances to be seen were small, and verdicts say so."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.said import only
from tests.scenarios.split_at_random import SHARE, evaluate, of_path, world
from unskew.core.notice import codes


def assumed(result: us.Result) -> tuple[str, bool]:
    """What the verdict of the path assumes, and whether a warning tells that the split is not corrected for."""
    return of_path(result).assumption, "split-not-corrected" in codes(result.warnings)


def bare_frames(made: dict[str, Any]) -> dict[str, Any]:
    return made | {name: made[name].to_frame().select("user", "item") for name in ("train", "test")}


def divided(*, overlap: bool = False, drop: str = "") -> dict[str, Any]:
    """The same files with times, those of the test log later; ``overlap``: its first row is as late as the last."""
    made = world(1, keep=False)
    frames = bare_frames(made)
    train = frames["train"].with_columns(time=pl.int_range(pl.len()))
    first = len(train) - (1 if overlap else 0)
    test = frames["test"].with_columns(time=first + pl.int_range(pl.len()))
    return made | {"train": train.drop(drop, strict=False), "test": test.drop(drop, strict=False)}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What is assumed: of popularity alone, of a random split besides, and where nobody told how the log was split."""
    made = world(1, keep=False)
    by_time, ours, unknown = (assumed(evaluate(each)) for each in (divided(), made, bare_frames(made)))
    assert (by_time[1], ours[1], unknown[1]) == (False, True, True)
    assert len({by_time[0], ours[0], unknown[0]}) == 3
    assert all(text.startswith(by_time[0]) for text in (ours[0], unknown[0]))
    return {"by time": by_time[0], "ours": ours[0], "unknown": unknown[0]}


def test_a_verdict_after_a_random_split_names_what_it_assumes_of_it(said: dict[str, str]) -> None:
    """Equal models, and the one that lists what was shown often is ahead: only if chances were small, which is said."""
    result, split = evaluate(world(1, keep=False)), said["ours"].removeprefix(said["by time"])
    assert of_path(result).verdict == "ahead"
    (asked,) = result.require("often better than rarely on recall@1").items
    for text in (asked.reason, asked.assumption, " ".join(result.headline()["sentences"])):
        assert split.removeprefix(", and ") in text
    assert all(split in e.assumption for e in result.estimates if e.estimator == "exposure_path")


@pytest.mark.parametrize("estimator", ["exposure_path(at=1)", "snips"])
def test_points_and_relative_propensities_say_it_too(estimator: str, said: dict[str, str]) -> None:
    options: dict[str, Any] = {"propensity": "popularity(gamma=1)"} if estimator == "snips" else {}
    result = evaluate(world(1, keep=False), estimators=[estimator], **options)
    split = said["ours"].removeprefix(said["by time"])
    assert all(v.assumption.endswith(split) for v in result.verdicts_)
    assert "split-not-corrected" in codes(result.warnings)


def test_who_divided_the_files_is_told_or_seen_in_their_times(said: dict[str, str]) -> None:
    """A share that is told; one test row as early as the last of training leaves it open; so does a handful of rows."""
    assert assumed(evaluate(bare_frames(world(1, keep=False)), share=SHARE))[0] == said["ours"]
    for made in (divided(overlap=True), divided(drop="time")):
        assert assumed(evaluate(made)) == (said["unknown"], True)
    made = divided()
    for rows, which in ((9, "unknown"), (10, "by time")):
        assert of_path(evaluate(made | {"test": made["test"].head(rows)})).assumption == said[which]


def test_propensities_whose_level_is_lost_by_time_are_told_so() -> None:
    """No advice to say which share the test log is: it is none."""
    made = divided()
    train = made["train"].with_columns(value=1.0 + pl.int_range(pl.len()) % 5)
    test = made["test"].with_columns(value=5.0)
    options = {"propensity": "popularity(gamma=1, level=absolute)", "estimators": ["snips"], "relevant": ">=4"}
    result = evaluate(made | {"train": train, "test": test}, **options)
    assert "share=" not in only("level-lost", result.warnings)


def test_the_remedies_hold(said: dict[str, str]) -> None:
    """All items as candidates, with lists that keep training items; the split by time assumes nothing of the kind."""
    results = [evaluate(world(seed, keep=True), candidates="all") for seed in range(6)]
    assert sum(of_path(result).verdict in ("ahead", "behind") for result in results) <= 1
    made = world(1, keep=False)
    train, test = us.split.holdout(made["log"], share=SHARE, by="time")
    for result in (*results, evaluate(made | {"train": train, "test": test})):
        assert assumed(result) == (said["by time"], False)
