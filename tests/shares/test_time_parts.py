"""Parts cut by time have no share, and neither have their parts; a propensity of the whole log has no level there."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.errors import InputError, RefusedError
from unskew.log import Log
from unskew.split import holdout, k_fold

USERS, ITEMS = 500, 30


def whole(seed: int = 0) -> tuple[Log, pl.DataFrame, float]:
    """Relevant pairs, seen with P by the end; when is chance. One list for everybody, and its true recall sum."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, (USERS, ITEMS))
    relevant = rng.random((USERS, ITEMS)) < 0.4
    user, item = np.nonzero((rng.random((USERS, ITEMS)) < p) & relevant)
    frame = pl.DataFrame({"user": user, "item": item, "propensity": p[user, item]})
    frame = frame.with_columns(time=pl.Series(rng.permutation(len(frame))))
    lists = pl.DataFrame({"user": np.repeat(np.arange(USERS), 3), "item": [0, 1, 2] * USERS, "rank": [1, 2, 3] * USERS})
    return Log.from_frame(frame), lists, float(relevant[:, :3].sum(axis=1).mean())


def evaluate(test: Any, lists: pl.DataFrame, estimators: list[str] | None, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": ["recall@3"], "propensity": "known", "target": "per_user_sum"}
    asked |= {"candidates": "all"} | options
    return us.evaluate(test, {"m": lists}, estimators=estimators, **asked)


def refused(*args: Any, **options: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        evaluate(*args, **options)
    return str(caught.value)


def test_a_column_of_the_whole_log_has_no_level_on_a_part_cut_by_time() -> None:
    """ips would give .3 of the truth; the alternatives that the refusal names are accepted."""
    log, lists, truth = whole()
    train, test = holdout(log, 0.3, by="time")
    said = refused(test, lists, ["ips"], train=train)
    assert "propensities of the test period" in said and "known(part=test)" in said
    assert "snips under target pooled" in said
    result = evaluate(test, lists, ["snips"], train=train, target="pooled")
    assert any("time decided which rows are in the test log" in text for text in result.warnings)
    assert "clipped(snips, at=0.1)" in (said := refused(test, lists, ["clipped(snips, at=0.1)"], target="pooled"))
    assert "quantile" in said
    period = Log.from_frame(test.to_frame().with_columns(propensity=pl.col("propensity") * 0.3))  # of that period
    for own, propensity in ((period, "known"), (_with(test, period), "known(part=test)")):
        (one,) = evaluate(own, lists, ["ips"], train=train, propensity=propensity).estimates
        assert one.low < truth < one.high


def _with(log: Log, other: Log) -> Log:
    """A log with the column of another one."""
    from dataclasses import replace

    return replace(log, propensity=other.propensity)


@pytest.mark.parametrize("way", ["holdout", "k_fold"])
def test_a_random_part_of_a_part_without_a_share_has_none(way: str) -> None:
    """The later half, split again: .3 of it is no .3 of the whole (ips would give half of the truth)."""
    log, lists, _ = whole()
    later = holdout(log, 0.5, by="time").test
    train, test = holdout(later, 0.3) if way == "holdout" else k_fold(later, 3)[0]
    assert test.share is None and train.share is None and test.cut_by_time and train.cut_by_time
    assert "propensities of the test period" in refused(test, lists, ["ips"], train=train)


def test_a_part_of_a_random_part_that_time_cuts_has_none() -> None:
    """Shares do not survive a cut by time, on either side of it."""
    log, lists, _ = whole()
    rest = holdout(log, 0.4).train
    for part in holdout(rest, 0.5, by="time"):
        assert part.share is None and part.cut_by_time
        assert "propensities of the test period" in refused(part, lists, ["ips"])


def test_splits_of_a_cut_part_are_independent_of_earlier_splits() -> None:
    """The same seed before and after the cut, and twice after it: parts of about the right size (6 standard errors)."""
    log, _, _ = whole()
    rest = holdout(log, 0.4, seed=0).train
    part = holdout(rest, 0.5, by="time").test
    for _ in range(2):
        inner = holdout(part, 0.4, seed=0)
        assert abs(len(inner.test) - 0.4 * len(part)) < 6 * np.sqrt(len(part) * 0.24)
        part = inner.train


def test_training_that_time_has_cut() -> None:
    """A random test part keeps its level over all candidates; outside such training P given training is not known."""
    log, lists, truth = whole()
    rest, test = holdout(log, 0.3)
    older = holdout(rest, 0.5, by="time").train
    (one,) = evaluate(test, lists, ["ips"], train=older).estimates
    assert one.low < truth < one.high
    assert "propensities of the test period" in refused(test, lists, ["ips"], train=older, candidates="unseen")


def test_a_share_of_a_part_cut_by_time_is_an_error() -> None:
    """share=0.3 of the last 30 %, said by option: a contradiction, as is a share of a column of the test rows."""
    log, lists, _ = whole()
    train, test = holdout(log, 0.3, by="time")
    with pytest.raises(InputError, match=r"cut off by time, so it is no random share[^\0]*known\(part=test\)"):
        evaluate(test, lists, ["ips"], train=train, share=0.3)
    with pytest.raises(InputError, match="Leave one of them out"):
        evaluate(test.to_frame(), lists, ["ips"], share=0.3, propensity="known(part=test)")


@pytest.mark.parametrize("text", ["known(part=test)", "known(part = test)"])
def test_the_part_is_in_the_canonical_string(text: str) -> None:
    """Parses and prints back; nonsense is an error."""
    assert str(us.propensity.make(text)) == "known(part=test)"
    with pytest.raises(InputError, match="part must be test, not 'train'"):
        us.propensity.make("known(part=train)")
    with pytest.raises(InputError, match="Leave one of them out"):
        us.propensity.make("known(part=test, share=0.3)")


def test_fitted_propensities_of_another_period_have_no_level() -> None:
    """Fitted on the earlier part: snips serves, ips does not, whatever is fitted."""
    log, lists, _ = whole()
    frame = log.to_frame().with_columns(value=pl.Series(np.resize([0.0, 1.0, 1.0], len(log))))
    train, test = holdout(Log.from_frame(frame, feedback="conversions"), 0.3, by="time")
    options: dict[str, Any] = {"train": train, "propensity": "popularity(gamma=1, level=absolute)"}
    said = refused(test, lists, ["ips"], **options)
    assert "describe the training log" in said and "Or use snips" in said
    assert evaluate(test, lists, ["snips"], **options).estimates
