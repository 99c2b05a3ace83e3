"""What a fold may know, and what is refused, skipped and said over folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.cross_validation import logs
from tests.said import refuses
from unskew import split
from unskew.core.notice import codes

NAMES = ("most_popular", "random", "item_knn(neighbours=10)")
UNTIL = f"sliding_window(width=1w, folds=3, min_users=5, until={logs.START + 6 * logs.WEEK})"


@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), window=st.integers(0, 2))
def test_nothing_after_a_window_changes_it(seed: int, window: int) -> None:
    """Deleting, permuting and adding rows after t + Δ, with users and items nobody knew, leaves fold t as it was."""
    rng = np.random.default_rng(seed)
    frame = logs.frame()
    end = logs.START + (4 + window) * logs.WEEK  # of this window
    before, after = frame.filter(pl.col("time") < end), frame.filter(pl.col("time") >= end)
    kept = after.filter(pl.Series(rng.random(len(after)) < 0.5))
    shuffled = kept.with_columns(item=pl.Series(rng.permutation(kept["item"].to_numpy())))
    times = rng.integers(end, logs.START + 8 * logs.WEEK, 300)
    strangers = pl.DataFrame({"user": rng.integers(500, 900, 300), "item": rng.integers(-40, 20, 300), "time": times})
    other = pl.concat([before, shuffled, strangers]).unique(["user", "item"], keep="first", maintain_order=True)
    values = []
    for rows in (frame, other):
        log = us.Log.from_frame(rows)
        found = us.cross_validate(log, NAMES, split=UNTIL, propensity="popularity(gamma=1)", workers=1)
        values.append([v for v in found.values_ if v.fold == found.folds_[window].fold])
    assert values[0] == values[1]


def test_models_know_nothing_but_their_training_rows() -> None:
    """The vocabulary of a fold's models are the users and items that train; lists hold nothing else."""
    log = logs.log()
    whole = us.cross_validate(log, {"spy": Spy(), "popular": "most_popular"}, split=logs.WEEKS, workers=1)
    assert len(Spy.known) == len(whole.folds_)
    for each, (users, items) in zip(split.make_splits(log, logs.WEEKS), Spy.known, strict=True):
        train = each.train.to_frame()
        assert set(users) == set(train["user"].unique())
        assert set(items) == set(train["item"].unique())


class Spy:
    """Remembers what it was shown."""

    known: ClassVar[list[tuple[list[int], list[int]]]] = []

    def fit(self, log: us.Log) -> Spy:
        self.known.append((log.users.values.to_list(), log.items.values.to_list()))
        self.model = us.models.MostPopular().fit(log)
        return self

    def recommend(self, users: Any, k: int, *, seen: us.Log | None = None) -> us.Recommendations:
        return self.model.recommend(users, k, seen=seen)


def test_skipped_windows_are_listed_with_the_reason() -> None:
    """Those of the splitter, and folds of which nothing is left to judge."""
    frame = logs.frame()
    last = frame["time"].max()
    assert isinstance(last, int)
    quiet = frame.filter(~pl.col("time").is_between(last - 2 * logs.WEEK, last - logs.WEEK))
    found = us.cross_validate(us.Log.from_frame(quiet), NAMES, split=logs.WEEKS)
    assert len(found.folds_) == 3
    (skipped,) = found.skipped
    assert skipped.reason.code == "empty-window"  # type: ignore[attr-defined]
    ratings = quiet.with_columns(value=pl.when(pl.col("time") > last - logs.WEEK).then(1.0).otherwise(5.0))
    low = us.Log.from_frame(ratings, feedback="ratings")
    found = us.cross_validate(low, NAMES, split=logs.WEEKS, relevant=">=4")
    assert codes(s.reason for s in found.skipped)[-1] == "nothing-to-judge"
    assert len(found.folds_) == 2


def test_splits_by_chance_time_and_users() -> None:
    """Levels need a share: ips is refused on windows, given on random folds; users may be held out whole."""
    log = logs.valued("conversions")
    rows = len(log) / (150 * 60)
    level = us.Log.from_frame(log.to_frame().with_columns(propensity=pl.lit(rows)), feedback="conversions")
    asked: dict[str, Any] = {"propensity": "known", "estimators": ["ips"], "metrics": ["dcg@5"]}
    random = us.cross_validate(level, NAMES, split="k_fold(folds=3)", **asked)
    assert random.table()["folds"].to_list() == [0, 3, 3]  # what is shown most has more than lists can hold by one P
    assert random.pooled.estimates[0].trust.code == "impossible-value"  # type: ignore[attr-defined]
    with refuses("wrong-period", us.RefusedError):
        us.cross_validate(level, NAMES, split=logs.WEEKS, **asked)
    found = us.cross_validate(logs.log(), ("most_popular", "random"), split="holdout(share=0.3, by=user)")
    assert found.table()["macro"].to_list() == found.table()["pooled"].to_list()


def test_repeated_leave_one_out_counts_each_user_once() -> None:
    """Ten repetitions ask the same users again: intervals do not shrink as if there were ten times as many."""
    log = logs.log()
    once = us.cross_validate(log, NAMES, split="leave_one_out(repeats=1)")
    often = us.cross_validate(log, NAMES, split="leave_one_out(repeats=8)")
    assert len(often.folds_) == 8
    users = int(np.count_nonzero(np.diff(log.indptr) > 1))
    assert {e.users for e in often.pooled.estimates} == {users}
    assert {v.standing for v in often.macro.estimates} == {
        "not debiased"
    }  # each user's row is drawn with its own chance
    for a, b in zip(once.macro.estimates, often.macro.estimates, strict=True):
        if a.model != "random":  # a lasting taste: more than one eighth of the variance stays
            assert b.se > 1.15 * a.se / np.sqrt(8)
    for e, p in zip(often.macro.estimates, often.pooled.estimates, strict=True):
        assert e.value == pytest.approx(p.value)  # as many users in each


SHELF = pl.DataFrame({"user": [1, 2, 1, 2, 3, 3] * 2, "item": range(12), "time": range(12)})
LISTS = {"a": pl.DataFrame({"user": [1], "item": [1], "rank": [1]})}


@pytest.mark.parametrize(
    ("code", "models", "options"),
    [
        ("not-a-model", LISTS, {}),  # made in advance, they have seen the future
        ("wrong-type", "most_popular", {}),
        ("repeated-name", ["most_popular", "most_popular"], {}),
        ("other-log", NAMES, {"split": split.make_splits(logs.log(seed=1), logs.WEEKS)}),
        ("out-of-range", NAMES, {"workers": 0}),
        ("in-folds", NAMES, {"log": logs.valued("conversions"), "estimators": ["tilted"]}),
        ("no-hits", ["random", "most_popular"],
         {"log": SHELF, "split": "holdout(share=0.5, by=time)", "metrics": ["recall@1"]}),
    ],
)  # fmt: skip
def test_bad_input_is_told(code: str, models: Any, options: dict[str, Any]) -> None:
    """Models that cannot be fitted, splits of another log, estimators without errors, scores that are all 0."""
    asked: dict[str, Any] = {"log": logs.log(), "split": logs.WEEKS} | options
    with refuses(code, us.UnskewError):
        us.cross_validate(asked.pop("log"), models, **asked)


def test_splits_that_are_there_already() -> None:
    """The splits of a log serve as well as their string; folds that have no names, or the same, are numbered."""
    log = logs.log()
    splits = split.make_splits(log, logs.WEEKS)
    asked: dict[str, Any] = {"estimators": ["naive"]}
    one = us.cross_validate(log, NAMES, split=splits, **asked).to_dict()
    assert one == us.cross_validate(log, NAMES, split=logs.WEEKS, **asked).to_dict()
    alike = split.Splits(log, "mine", tuple(replace(each, label="") for each in list(splits)[:2]))
    found = us.cross_validate(log, NAMES, split=alike, **asked)
    assert [fold.fold for fold in found.folds_] == ["1.", "2."] and len(found.folds()) == 6
