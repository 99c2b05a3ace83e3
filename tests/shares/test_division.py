"""Two logs that cannot be training and test of one another are errors that say why, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from unskew.log import Log

USERS = 30


def log(users: range = range(USERS), times: range = range(100), seed: int = 0) -> pl.DataFrame:
    """Four rows for each user, at times within a range."""
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.permutation(20)[:4] for _ in users])
    time = rng.integers(times.start, times.stop, len(item))
    return pl.DataFrame({"user": np.repeat([*users], 4), "item": item, "time": time})


LISTS = pl.DataFrame({"user": [*range(3 * USERS)], "item": [1] * 3 * USERS, "rank": [1] * 3 * USERS})


def evaluate(test: Any, train: Any, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": ["recall@1"], "estimators": ["naive"], "candidates": "all"}
    return us.evaluate(test, {"m": LISTS}, train=train, **(asked | options))


ONE, TWO, BOTH = log(range(USERS)), log(range(USERS, 2 * USERS)), log(range(29, 2 * USERS))
EARLY, LATE = log(times=range(100)), log(times=range(100, 200), seed=1)
SAME = log().with_columns(time=pl.lit(7))
EVERYBODY = pl.DataFrame({"user": range(2 * USERS)})
SPREAD = log(times=range(1000)).with_columns(time=pl.col("time") + 1000 * (pl.col("user") % 3)).unique(["user", "time"])
LAST = pl.col("time") == pl.col("time").max().over("user")
OWN_SHARE: dict[str, Any] = {"propensity": "known(share=0.5)", "estimators": ["snips"]}
CASES: dict[str, tuple[str, pl.DataFrame, pl.DataFrame, dict[str, Any]]] = {
    "no common user": ("no-common-users", TWO, ONE, {}),
    "strangers, a share": ("no-common-users", TWO, ONE, {"share": 0.5}),  # no random split does that
    "no common user, a population": ("no-common-users", TWO, ONE, {"users": EVERYBODY}),
    "no common user, and that was meant": ("", TWO, ONE, {"share": "users"}),
    "one common user": ("", BOTH, ONE, {}),
    "test first": ("test-before-training", EARLY, LATE, {}),
    "test first, a share": ("test-before-training", EARLY, LATE, {"share": 0.5}),
    "test first, other users": ("test-before-training", EARLY, LATE, {"share": "users"}),
    "test last": ("", LATE, EARLY, {}),
    "test last, a share": ("share-of-time-cut", LATE, EARLY, {"share": 0.5}),
    "test last, known": ("share-of-time-cut", LATE.with_columns(propensity=0.5), EARLY, OWN_SHARE),
    "times that overlap": ("", log(seed=1), log(), {}),
    "equal times": ("", SAME, SAME, {}),
    "no times in training": ("", log(), log(times=range(500, 600)).drop("time"), {}),
    "leave-last-out": ("", SPREAD.filter(LAST), SPREAD.filter(~LAST), {}),
    "leave-last-out, swapped": ("test-before-training", SPREAD.filter(~LAST), SPREAD.filter(LAST), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_logs_that_cannot_be_training_and_test(name: str) -> None:
    """An error with its code, for one propensity and for several; ordinary logs are left in peace."""
    code, test, train, options = CASES[name]
    if not code:
        assert evaluate(test, train, **options).estimates
        return
    with refuses(code):
        evaluate(test, train, **options)
    if not options:
        with refuses(code):
            us.compare_propensities(test, {"m": LISTS}, propensities=["popularity(gamma=1)", "uniform"], train=train)


def test_splits_of_ours_are_not_doubted() -> None:
    """Parts of one log know all its users, and those with rows count; a random split of three rows may separate all."""
    whole = Log.from_frame(log())
    first = whole.user < USERS // 2
    with refuses("no-common-users"):
        evaluate(whole.take(~first), whole.take(first))
    train, test = us.split.holdout(whole, 0.3)
    assert evaluate(test, train).estimates
    tiny = Log.from_frame(pl.DataFrame({"user": [0, 1, 2], "item": [1, 1, 1]}))
    seed = next(s for s in range(20) if 0 < us.split.holdout(tiny, 0.4, seed=s).held_out.sum() < 3)
    train, test = us.split.holdout(tiny, 0.4, seed=seed)
    assert evaluate(test, train).estimates
    assert evaluate(test.to_frame(), train.to_frame(), share=0.4).estimates
    with refuses("no-common-users"):
        evaluate(test.to_frame(), train.to_frame())


def _dates(frame: pl.DataFrame) -> pl.DataFrame:
    start = datetime(2024, 1, 1)
    return frame.with_columns(time=pl.Series([start + timedelta(days=int(t)) for t in frame["time"]]))


@pytest.mark.parametrize("write", [pl.DataFrame.write_csv, pl.DataFrame.write_parquet], ids=["csv", "parquet"])
def test_times_of_training_files_are_read_under_their_names(write: Callable[..., Any], tmp_path: Path) -> None:
    """--columns time=when: read from the training file where it has such a column, and not missed where it has none."""
    ending = "csv" if write is pl.DataFrame.write_csv else "parquet"
    early, late = (_dates(log(times=range(a, a + 50), seed=a)).rename({"time": "when"}) for a in (0, 50))
    paths = [tmp_path / f"{name}.{ending}" for name in ("early", "late", "bare")]
    for frame, path in zip((early, late, early.drop("when")), paths, strict=True):
        write(frame, path)
    for swapped in (paths[:2], (early, late)):
        with refuses("test-before-training"):
            evaluate(*swapped, columns={"time": "when"})
    assert evaluate(paths[1], paths[0], columns={"time": "when"}).estimates
    assert evaluate(paths[1], paths[2], columns={"time": "when"}).estimates
