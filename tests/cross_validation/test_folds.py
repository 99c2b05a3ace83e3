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
from unskew import split
from unskew.cross_validation.fold_logs import codes_of, fold_logs
from unskew.inference.verdict import Outcome

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


def test_logs_of_a_fold_hold_the_rows_of_its_split() -> None:
    """Compact vocabularies, the same rows."""
    log = logs.log()
    for each in split.make_splits(log, logs.WEEKS):
        train, test = each.train, each.test
        found = fold_logs(train, test, codes_of(train, test))
        assert found.train.to_frame().equals(train.to_frame())
        assert found.fitted.to_frame().equals(train.to_frame())
        assert found.test.to_frame().equals(test.to_frame())
        assert set(found.judged.values) == set(test.to_frame()["user"].unique())
        assert (found.train.users.hashes == us.log.Ids(found.train.users.values).hashes).all()
        seen = found.seen_by(found.judged)
        mine = train.to_frame().filter(pl.col("user").is_in(found.judged.values.implode()))
        assert seen.to_frame().equals(mine)


def test_skipped_windows_are_listed_with_the_reason() -> None:
    """Those of the splitter, and folds of which nothing is left to judge."""
    frame = logs.frame()
    last = frame["time"].max()
    assert isinstance(last, int)
    quiet = frame.filter(~pl.col("time").is_between(last - 2 * logs.WEEK, last - logs.WEEK))
    found = us.cross_validate(us.Log.from_frame(quiet), NAMES, split=logs.WEEKS)
    assert len(found.folds_) == 3
    (skipped,) = found.skipped
    assert skipped.reason == "no row falls into it"
    ratings = quiet.with_columns(value=pl.when(pl.col("time") > last - logs.WEEK).then(1.0).otherwise(5.0))
    low = us.Log.from_frame(ratings, feedback="ratings")
    found = us.cross_validate(low, NAMES, split=logs.WEEKS, relevant=">=4")
    assert [s.reason for s in found.skipped][-1] == "no relevant interaction is left to judge"
    assert len(found.folds_) == 2


def test_splits_by_chance_time_and_users() -> None:
    """Levels need a share: ips is refused on windows, given on random folds; users may be held out whole."""
    log = logs.conversions()
    rows = len(log) / (150 * 60)
    level = us.Log.from_frame(log.to_frame().with_columns(propensity=pl.lit(rows)), feedback="conversions")
    asked: dict[str, Any] = {"propensity": "known", "estimators": ["ips"], "metrics": ["dcg@5"]}
    random = us.cross_validate(level, NAMES, split="k_fold(folds=3)", **asked)
    assert random.table()["folds"].to_list() == [0, 3, 3]  # what is shown most has more than lists can hold by one P
    assert "cannot be more than 2.95 here" in random.pooled.estimates[0].trust
    with pytest.raises(
        us.RefusedError, match=r"(?s)fold .* ips under per_user_sum needs propensities of the test period"
    ):
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


def test_verdicts_of_both_averages() -> None:
    """``verdicts`` gives macro by default, or pooled, and finds estimators by name."""
    found = us.cross_validate(logs.log(), NAMES, split=logs.WEEKS)
    assert found.verdicts().equals(found.macro.verdicts())
    assert found.verdicts(average="pooled").equals(found.pooled.verdicts())
    assert found.verdicts("recall@10", estimator="naive")["estimator"].unique().to_list() == ["naive"]
    with pytest.raises(us.InputError, match="average"):
        found.verdicts(average="median")
    words = {Outcome(v) for v in found.verdicts()["verdict"]}
    assert not words & {Outcome.BETTER, Outcome.WORSE}  # nothing here is known


def test_bad_input_is_told() -> None:
    """Models that cannot be fitted, lists made in advance, splits of another log, estimators without errors."""
    log = logs.log()
    with pytest.raises(us.InputError, match="lists that were made in advance have seen the future"):
        us.cross_validate(log, {"a": pl.DataFrame({"user": [1], "item": [1], "rank": [1]})}, split=logs.WEEKS)
    with pytest.raises(us.InputError, match="a list of canonical strings"):
        us.cross_validate(log, "most_popular", split=logs.WEEKS)
    with pytest.raises(us.InputError, match="two models are called"):
        us.cross_validate(log, ["most_popular", "most_popular"], split=logs.WEEKS)
    with pytest.raises(us.InputError, match="of another log"):
        us.cross_validate(log, NAMES, split=split.make_splits(logs.log(seed=1), logs.WEEKS))
    with pytest.raises(us.InputError, match="at least 1"):
        us.cross_validate(log, NAMES, split=logs.WEEKS, workers=0)
    with pytest.raises(us.RefusedError, match="fits a model of all pairs in each fold"):
        us.cross_validate(logs.conversions(), NAMES, split=logs.WEEKS, estimators=["tilted"])
    with pytest.raises(us.InputError, match="every score of every model is 0"):
        shelf = pl.DataFrame({"user": [1, 2, 1, 2, 3, 3] * 2, "item": range(12), "time": range(12)})
        us.cross_validate(shelf, ["random", "most_popular"], split="holdout(share=0.5, by=time)", metrics=["recall@1"])


def test_splits_that_are_there_already() -> None:
    """The splits of a log serve as well as their string."""
    log = logs.log()
    one = us.cross_validate(log, NAMES, split=split.make_splits(log, logs.WEEKS), estimators=["naive"]).to_dict()
    assert one == us.cross_validate(log, NAMES, split=logs.WEEKS, estimators=["naive"]).to_dict()


def test_folds_of_one_name_are_numbered() -> None:
    """A splitter of one's own need not name its folds; they are told apart all the same."""
    log = logs.log()
    first, second, *_ = split.make_splits(log, "k_fold(folds=3)")
    alike = split.Splits(log, "mine", (replace(first, label=""), replace(second, label="")))
    found = us.cross_validate(log, NAMES, split=alike, estimators=["naive"])
    assert [fold.fold for fold in found.folds_] == ["1.", "2."]
    assert len(found.folds()) == 6


class Given:
    """Ten items for everybody, whatever was learnt."""

    def __init__(self, first: int) -> None:
        self.items = np.arange(first, first + 10, dtype=np.int32)

    def fit(self, log: us.Log) -> Given:
        return self

    def recommend(self, users: us.log.Ids, k: int, *, seen: us.Log | None = None) -> us.Recommendations:
        places = np.arange(1, 11, dtype=np.int32)
        ids, many = us.log.Ids(pl.Series("id", np.arange(100))), len(users)
        ends = np.arange(0, 10 * many + 1, 10)
        return us.Recommendations(users, ids, ends, np.tile(self.items, many), np.tile(places, many))


def shown_by_popularity(seed: int, rows: int = 50, users: int = 300) -> us.Log:
    """All items are equally liked and shown by popularity; few rows come before the first of four windows."""
    rng = np.random.default_rng(seed)
    shown = 1.0 / np.arange(1, 101)
    earlier = rng.choice(100, rows, p=shown / shown.sum())
    parts = [pl.DataFrame({"user": 10_000 + np.arange(rows), "item": earlier, "time": rng.integers(0, 900, rows)})]
    for window in range(4):
        chosen = (rng.random((users, 100)) < 0.3) & (rng.random((users, 100)) < 0.5 * shown)
        user, item = np.nonzero(chosen)
        own = users * window + np.arange(users)
        times = 1_000 + 100 * window + rng.integers(0, 100, len(user))
        parts.append(pl.DataFrame({"user": own, "item": np.full(users, 1_000), "time": np.full(users, 950)}))
        parts.append(pl.DataFrame({"user": own[user], "item": item, "time": times}))
    return us.Log.from_frame(pl.concat(parts).unique(["user", "item"], keep="first", maintain_order=True))


def test_thin_training_counts_decide_nothing_over_folds() -> None:
    """Without the chance of counts, popular items are ahead on the whole path in most of these worlds."""
    pair = {"popular": Given(0), "middle": Given(40)}
    windows = "sliding_window(width=100, folds=4, min_users=5, until=1400)"
    for seed in range(4):
        found = us.cross_validate(shown_by_popularity(seed), pair, split=windows, estimators=["exposure_path"])
        for result in (found.macro, found.pooled):
            (verdict,) = result.verdicts_
            assert verdict.verdict == Outcome.DEPENDS
