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
from unskew.errors import InputError
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


def test_no_common_user() -> None:
    """An error with both remedies; --share users is one of them, and is accepted."""
    train, test = log(range(USERS)), log(range(USERS, 2 * USERS))
    with pytest.raises(InputError) as caught:
        evaluate(test, train)
    said = str(caught.value)
    assert "none of its 30 users has a row in the training log" in said and "share='users'" in said
    assert "'30' in the test log" in said and "'0' in the training log" in said
    assert evaluate(test, train, share="users").inputs["users"]["population"] == USERS
    with pytest.raises(InputError, match="share='users'"):
        evaluate(test, train, share=0.5)  # no random split of 60 users leaves none in common
    with pytest.raises(InputError, match="share='users'"):
        evaluate(test, train, users=pl.DataFrame({"user": range(2 * USERS)}))


def test_one_log_divided_by_users() -> None:
    """Parts of one log know all its users; those with rows are what counts."""
    whole = Log.from_frame(log())
    first = whole.user < USERS // 2
    with pytest.raises(InputError, match="none of its 15 users"):
        evaluate(whole.take(~first), whole.take(first))
    assert evaluate(whole.take(~first), whole.take(first), share="users").estimates


def test_a_common_user_is_enough_and_splits_of_ours_are_not_doubted() -> None:
    """New users in the test log are ordinary; a random split of three rows may separate all users."""
    assert evaluate(log(range(29, 2 * USERS)), log(range(USERS))).estimates
    tiny = Log.from_frame(pl.DataFrame({"user": [0, 1, 2], "item": [1, 1, 1]}))
    seed = next(s for s in range(20) if 0 < us.split.holdout(tiny, 0.4, seed=s).held_out.sum() < 3)
    train, test = us.split.holdout(tiny, 0.4, seed=seed)
    assert evaluate(test, train).estimates
    assert evaluate(test.to_frame(), train.to_frame(), share=0.4).estimates
    with pytest.raises(InputError, match="share='users'"):
        evaluate(test.to_frame(), train.to_frame())


def swapped_error(test: Any, train: Any, **options: Any) -> str:
    with pytest.raises(InputError, match="the test log is earlier than the training log") as caught:
        evaluate(test, train, **options)
    return str(caught.value)


@pytest.mark.parametrize("share", [None, 0.5, "users"])
def test_a_test_log_before_its_training_log(share: Any) -> None:
    """Swapped logs, with the times of both; in the right order nothing is said."""
    early, late = log(times=range(100)), log(times=range(100, 200), seed=1)
    said = swapped_error(early, late, share=share)
    assert "swap the two logs" in said and "same unit" in said and "from 0 to 99" in said and "from 10" in said
    if share is None:
        assert evaluate(late, early).estimates


def test_times_that_overlap_or_touch_are_fine() -> None:
    """Random splits mix times; equal times are not earlier; a log without times says nothing."""
    assert evaluate(log(seed=1), log()).estimates
    same = log().with_columns(time=pl.lit(7))
    assert evaluate(same, same).estimates
    assert evaluate(log(), log(times=range(500, 600)).drop("time")).estimates
    train, test = us.split.holdout(Log.from_frame(log()), 0.3)
    assert evaluate(test, train).estimates


def test_the_last_row_of_every_user_taken_for_training() -> None:
    """Leave-last-out, swapped: the whole logs overlap in time, but inside every user test comes first."""
    frame = (
        log(times=range(1000)).with_columns(time=pl.col("time") + 1000 * (pl.col("user") % 3)).unique(["user", "time"])
    )
    last = pl.col("time") == pl.col("time").max().over("user")
    early, late = frame.filter(~last), frame.filter(last)
    assert early["time"].max() > late["time"].min()  # type: ignore[operator]
    swapped_error(early, late)
    assert evaluate(late, early).estimates


def test_a_share_of_logs_divided_by_time() -> None:
    """All test rows after all training rows: no random split does that, so a share is an error."""
    early, late = log(times=range(100)), log(times=range(100, 200), seed=1)
    with pytest.raises(InputError, match=r"no random share of both.\nLeave the share out"):
        evaluate(late, early, share=0.5)
    with pytest.raises(InputError, match="no random share of both"):
        evaluate(late.with_columns(propensity=0.5), early, propensity="known(share=0.5)", estimators=["snips"])


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
    said = swapped_error(paths[0], paths[1], columns={"time": "when"})
    assert "from 2024-01-01" in said and "early." in said and "late." in said
    swapped_error(early, late, columns={"time": "when"})
    assert evaluate(paths[1], paths[0], columns={"time": "when"}).estimates
    assert evaluate(paths[1], paths[2], columns={"time": "when"}).estimates


def test_numbers_are_not_compared_with_dates() -> None:
    """Seconds in one log, dates in the other: which is earlier cannot be said."""
    assert evaluate(log(), _dates(log(seed=1))).estimates


def test_comparing_propensities_says_the_same() -> None:
    """The error comes once, before any list is made."""
    train, test = log(range(USERS)), log(range(USERS, 2 * USERS))
    with pytest.raises(InputError, match="share='users'"):
        us.compare_propensities(test, {"m": LISTS}, propensities=["popularity(gamma=1)", "uniform"], train=train)
