"""Parts cut by time have no share, and neither have their parts; a propensity of the whole log has no level there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from tests.worlds import listed, pairs_of
from unskew.core.errors import RefusedError
from unskew.log import Log
from unskew.split import holdout, k_fold

USERS, ITEMS = 500, 30


def whole(seed: int = 0) -> tuple[Log, pl.DataFrame, float]:
    """Relevant pairs, seen with P by the end; when is chance. One list for everybody, and its true recall sum."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, (USERS, ITEMS))
    relevant = rng.random((USERS, ITEMS)) < 0.4
    frame = pairs_of((rng.random((USERS, ITEMS)) < p) & relevant, propensity=p)
    frame = frame.with_columns(time=pl.Series(rng.permutation(len(frame))))
    return Log.from_frame(frame), listed([0, 1, 2], USERS), float(relevant[:, :3].sum(axis=1).mean())


def evaluate(test: Any, lists: pl.DataFrame, estimators: list[str] | None, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": ["recall@3"], "propensity": "known", "target": "per_user_sum"}
    asked |= {"candidates": "all"} | options
    return us.evaluate(test, {"m": lists}, estimators=estimators, **asked)


@pytest.fixture
def logged() -> tuple[Log, pl.DataFrame, float]:
    return whole()


def refused(code: str, *args: Any, **options: Any) -> None:
    with refuses(code, RefusedError):
        evaluate(*args, **options)


def test_a_column_of_the_whole_log_has_no_level_on_a_part_cut_by_time(logged: tuple[Log, pl.DataFrame, float]) -> None:
    """ips would give .3 of the truth; the alternatives that the refusal names are accepted."""
    log, lists, truth = logged
    train, test = holdout(log, 0.3, by="time")
    refused("wrong-period", test, lists, ["ips"], train=train)
    refused("no-level", test, lists, ["clipped(snips, at=0.1)"], train=train, target="pooled")
    only("level-lost", evaluate(test, lists, ["snips"], train=train, target="pooled").warnings)
    period = Log.from_frame(test.to_frame().with_columns(propensity=pl.col("propensity") * 0.3))  # of that period
    for own, propensity in ((period, "known"), (replace(test, propensity=period.propensity), "known(part=test)")):
        (one,) = evaluate(own, lists, ["ips"], train=train, propensity=propensity).estimates
        assert one.low < truth < one.high


def test_parts_of_parts_have_no_share(logged: tuple[Log, pl.DataFrame, float]) -> None:
    """The later half, split again: .3 of it is no .3 of the whole; nor is a random part that time cuts."""
    log, lists, _ = logged
    later = holdout(log, 0.5, by="time").test
    for train, test in (holdout(later, 0.3), k_fold(later, 3)[0]):
        assert test.share is None and train.share is None and test.cut_by_time and train.cut_by_time
        refused("wrong-period", test, lists, ["ips"], train=train)
    for part in holdout(holdout(log, 0.4).train, 0.5, by="time"):
        assert part.share is None and part.cut_by_time
        refused("wrong-period", part, lists, ["ips"])


def test_splits_of_a_cut_part_are_independent_of_earlier_splits(logged: tuple[Log, pl.DataFrame, float]) -> None:
    """The same seed before and after the cut, and twice after it: parts of about the right size (6 standard errors)."""
    log, _, _ = logged
    rest = holdout(log, 0.4, seed=0).train
    part = holdout(rest, 0.5, by="time").test
    for _ in range(2):
        inner = holdout(part, 0.4, seed=0)
        assert abs(len(inner.test) - 0.4 * len(part)) < 6 * np.sqrt(len(part) * 0.24)
        part = inner.train


def test_training_that_time_has_cut(logged: tuple[Log, pl.DataFrame, float]) -> None:
    """A random test part keeps its level over all candidates; outside such training P given training is not known."""
    log, lists, truth = logged
    rest, test = holdout(log, 0.3)
    older = holdout(rest, 0.5, by="time").train
    (one,) = evaluate(test, lists, ["ips"], train=older).estimates
    assert one.low < truth < one.high
    refused("wrong-period", test, lists, ["ips"], train=older, candidates="unseen")


def test_a_share_of_a_part_cut_by_time_is_an_error(logged: tuple[Log, pl.DataFrame, float]) -> None:
    """share=0.3 of the last 30 %, said by option: a contradiction, as is a share of a column of the test rows."""
    log, lists, _ = logged
    train, test = holdout(log, 0.3, by="time")
    with refuses("share-of-time-cut"):
        evaluate(test, lists, ["ips"], train=train, share=0.3)
    with refuses("conflicting-arguments"):
        evaluate(test.to_frame(), lists, ["ips"], share=0.3, propensity="known(part=test)")
    with refuses("conflicting-arguments"):
        us.propensity.make("known(part=test, share=0.3)")
    with refuses("unknown-name"):
        us.propensity.make("known(part=train)")
    assert str(us.propensity.make("known(part = test)")) == "known(part=test)"
