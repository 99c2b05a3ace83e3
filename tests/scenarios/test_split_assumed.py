"""Weights by popularity after a random split assume that chances to be seen were small, and verdicts say so."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.scenarios.split_at_random import SHARE, evaluate, of_path, world

ALONE = "how likely a relevant item was to be seen depends on its popularity alone"
SMALL = "all chances to be seen were small"
NOT_CORRECTED = "are not corrected for the split"


def test_a_verdict_after_a_random_split_names_what_it_assumes_of_it() -> None:
    """Equal models, and the one that lists what was shown often is ahead: only if chances were small, which is said."""
    result = evaluate(world(1, keep=False))
    found = of_path(result)
    assert found.verdict == "ahead"
    assert found.assumption == f"{ALONE}, and {SMALL} before the split"
    assert sum(NOT_CORRECTED in w for w in result.warnings) == 1
    (asked,) = result.require("often better than rarely on recall@1").items
    assert f"{SMALL} before the split" in asked.reason and f"{SMALL} before the split" in asked.assumption
    assert f"{SMALL} before the split" in " ".join(result.headline()["sentences"])
    assert all(SMALL in e.assumption for e in result.estimates if e.estimator == "exposure_path")


@pytest.mark.parametrize("estimator", ["exposure_path(at=1)", "snips"])
def test_points_and_relative_propensities_say_it_too(estimator: str) -> None:
    options: dict[str, Any] = {"propensity": "popularity(gamma=1)"} if estimator == "snips" else {}
    result = evaluate(world(1, keep=False), estimators=[estimator], **options)
    assert all(v.assumption.endswith(f"of popularity, and {SMALL} before the split") for v in result.verdicts_)
    assert sum(NOT_CORRECTED in w for w in result.warnings) == 1


def test_a_split_that_nobody_told_may_be_a_random_one() -> None:
    made = world(1, keep=False)
    frames = {name: made[name].to_frame().select("user", "item") for name in ("train", "test")}
    result = evaluate(made | frames)
    assert of_path(result).assumption == f"{ALONE}, and {SMALL} unless time split the log"
    assert sum("if it was made at random" in w for w in result.warnings) == 1
    told = evaluate(made | frames, share=SHARE)
    assert of_path(told).assumption == f"{ALONE}, and {SMALL} before the split"


def divided(*, overlap: bool = False, drop: str = "") -> dict[str, Any]:
    """The same files with times, those of the test log later; ``overlap``: its first row is as late as the last."""
    made = world(1, keep=False)
    frames = {name: made[name].to_frame().select("user", "item") for name in ("train", "test")}
    train = frames["train"].with_columns(time=pl.int_range(pl.len()))
    first = len(train) - (1 if overlap else 0)
    test = frames["test"].with_columns(time=first + pl.int_range(pl.len()))
    return made | {"train": train.drop(drop, strict=False), "test": test.drop(drop, strict=False)}


def test_files_whose_times_do_not_overlap_were_divided_by_time() -> None:
    """Nothing is assumed of the split then; one test row as early as the last of training leaves it open again."""
    cut = evaluate(divided())
    assert of_path(cut).assumption == ALONE and not any(NOT_CORRECTED in w for w in cut.warnings)
    for made in (divided(overlap=True), divided(drop="time")):
        result = evaluate(made)
        assert of_path(result).assumption == f"{ALONE}, and {SMALL} unless time split the log"
        assert sum("if it was made at random" in w for w in result.warnings) == 1


def test_of_a_handful_of_rows_times_say_nothing() -> None:
    """They may come apart by chance."""
    made = divided()
    for rows, said in ((9, True), (10, False)):
        result = evaluate(made | {"test": made["test"].head(rows)})
        assert (SMALL in of_path(result).assumption) is said


def test_propensities_whose_level_is_lost_by_time_are_told_so() -> None:
    """No advice to say which share the test log is: it is none."""
    made = divided()
    train = made["train"].with_columns(value=1.0 + pl.int_range(pl.len()) % 5)
    test = made["test"].with_columns(value=5.0)
    options = {"propensity": "popularity(gamma=1, level=absolute)", "estimators": ["snips"], "relevant": ">=4"}
    result = evaluate(made | {"train": train, "test": test}, **options)
    (said,) = [w for w in result.warnings if "level means nothing here" in w]
    assert "time decided which rows are in the test log" in said and "share=" not in said


def test_the_remedies_hold() -> None:
    """All items as candidates, with lists that keep training items; the split by time assumes nothing of the kind."""
    named = 0
    for seed in range(6):
        result = evaluate(world(seed, keep=True), candidates="all")
        assert of_path(result).assumption == ALONE and not any(NOT_CORRECTED in w for w in result.warnings)
        named += of_path(result).verdict in ("ahead", "behind")
    assert named <= 1
    made = world(1, keep=False)
    train, test = us.split.holdout(made["log"], share=SHARE, by="time")
    cut = evaluate(made | {"train": train, "test": test})
    assert of_path(cut).assumption == ALONE and not any(NOT_CORRECTED in w for w in cut.warnings)


def test_folds_at_random_say_it_over_all_of_them() -> None:
    made = world(1, keep=False)
    found = us.cross_validate(
        made["log"], {"popular": "most_popular", "chance": "random"}, split="k_fold(folds=2)", metrics=["recall@1"]
    )
    verdicts = [v for v in found.pooled.verdicts_ if v.estimator == "exposure_path"]
    assert verdicts and all(SMALL in v.assumption for v in verdicts)
