"""A told share that the logs contradict is told, with both numbers; where rows say nothing of it, nothing is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said
from unskew.log import Log

USERS, ITEMS = 100, 60


def whole(values: bool = False) -> Log:
    """Half of all pairs, about 3,000 rows."""
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((USERS, ITEMS)) < 0.5)
    frame = pl.DataFrame({"user": user, "item": item, "propensity": np.full(len(user), 0.5)})
    if not values:
        return Log.from_frame(frame)
    return Log.from_frame(frame.with_columns(value=pl.Series(rng.integers(0, 2, len(user)))), feedback="conversions")


LISTS = pl.DataFrame({"user": np.arange(USERS), "item": np.arange(USERS) % ITEMS, "rank": [1] * USERS})


def told(test: Any, train: Any, **options: Any) -> list[str]:
    """What is said of shares."""
    result = us.evaluate(test, {"m": LISTS}, metrics=["recall@1"], estimators=["naive"], train=train, **options)
    return said(result, "doubtful-share")


def forget(*parts: Log) -> list[pl.DataFrame]:
    """As from files, which do not remember."""
    return [part.to_frame() for part in parts]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.3, 0.5, 0.1])
def test_a_share_that_fits_is_not_remarked_upon(seed: int, share: float) -> None:
    """Random hold-outs, whose sizes vary: none of fifteen is doubted."""
    train, test = forget(*us.split.holdout(whole(), share, seed=seed))
    assert told(test, train, share=share) == []


def test_rows_are_counted_as_they_were_split() -> None:
    """Repeated pairs that are dropped on reading were split like all others."""
    train, test = forget(*us.split.holdout(whole(), 0.5))
    doubled = pl.concat([train, train])
    assert told(test, doubled, share=1 / 3, duplicates="first") == []
    assert len(told(test, doubled, share=0.5, duplicates="first")) == 1


def test_nested_splits() -> None:
    """Of the whole 0.3 is tested and 0.35 trained on: 46 % of the rows of both; a file cannot say that it is 0.35."""
    rest, test = us.split.holdout(whole(), 0.3)
    train = us.split.holdout(rest, 0.5).train
    bare = test.to_frame()
    assert told(bare, train, share=0.3) == []
    assert len(told(bare, train.to_frame(), share=0.3)) == 1
    (found,) = told(bare, train, share=0.1)
    assert all(number in found for number in ("0.1 ", "0.35", "0.222"))


def test_parts_that_rows_say_nothing_of() -> None:
    """Other users; no training log; rows of one log that were chosen by their values."""
    train, test = forget(*us.split.holdout(whole(), 0.5))
    assert told(test, train, share="users") == []
    assert told(test, None, share=0.1) == []
    valued = us.split.holdout(whole(values=True), 0.3)
    clicks = valued.test.to_frame().filter(pl.col("value") > 0).drop("value")
    assert told(clicks, valued.train, share=0.3) == []


def test_a_split_knows_better() -> None:
    """A part of a split of ours remembers its share, and a share that is told beside it is not used."""
    train, test = us.split.holdout(whole(), 0.3)
    assert told(test, train, share=0.3) == []
    (found,) = told(test, train, share=0.5)
    assert found.startswith("share=0.5 ") and " 0.3 " in found
    (found,) = told(test.to_frame(), train.to_frame(), propensity="known(share=0.3)", share=0.5)
    assert found.startswith("share=0.5 ") and "known(share=0.3)" in found
