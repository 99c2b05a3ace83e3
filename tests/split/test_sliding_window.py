"""Sliding windows against loops, and what must hold whatever the log (MATHS §6, §10.11)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.said import refuses
from tests.split.reference import Row, log_of, pairs_of, windows
from unskew.core.errors import InputError
from unskew.core.notice import codes
from unskew.report.fold_warnings import skipped_folds
from unskew.split import Split, Splits, sliding_window
from unskew.split.rows import Between

compiled = settings(deadline=None, max_examples=40)
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.integers(0, 40)), min_size=2, max_size=50)
WIDTHS = st.integers(1, 12)
HISTORIES = st.one_of(st.none(), st.integers(1, 30))


def split(rows: list[Row], width: int, folds: int = 4, *, history: int | None = None, **options: Any) -> Splits:
    """Windows in which one user is enough; a log in which there is none is no example."""
    try:
        back = "expanding" if history is None else history
        return sliding_window(log_of(rows), width, folds, **{"min_users": 1, "history": back} | options)
    except InputError as error:
        assume(error.code != "few-users")
        raise


@compiled
@given(ROWS, WIDTHS, st.integers(1, 6), HISTORIES, st.integers(1, 3))
def test_windows_are_those_of_the_loops(
    rows: list[Row], width: int, folds: int, history: int | None, least: int
) -> None:
    """Who trains, who is judged and what is skipped, also with a history that ends."""
    found = split(rows, width, folds, history=history, min_users=least)
    expected = windows(rows, width, folds, history)
    judged = [fold for fold in expected if len(fold.users) >= least]
    assert [(pairs_of(train), pairs_of(test)) for train, test in found] == [(f.train, f.test) for f in judged]
    assert [(s.train_count, s.test_count) for s in found] == [(len(f.train), len(f.test)) for f in judged]
    assert [sum(s.left_out.values()) for s in found] == [len(f.inside - f.test) for f in judged]
    skipped = [fold for fold in expected if len(fold.users) < least]
    assert [(s.users, s.rows) for s in found.skipped] == [(len(f.users), len(f.inside)) for f in skipped]
    assert all(s.reason for s in found.skipped)


@compiled
@given(ROWS, WIDTHS, HISTORIES, st.booleans())
def test_nothing_as_late_as_a_window_trains_it(rows: list[Row], width: int, history: int | None, first: bool) -> None:
    """No training time ≥ t, no test time < t; equal times never lie on both sides; time gives no share."""
    for fold in split(rows, width, history=history, first_only=first):
        train, test = fold
        assert fold.window and train.time is not None and test.time is not None
        assert train.time.max() < fold.window.start <= test.time.min() and test.time.max() < fold.window.end
        assert train.share is None and test.share is None and train.cut_by_time and test.cut_by_time
        assert set(test.user) <= set(train.user) and fold.share is None


@compiled
@given(ROWS, WIDTHS, HISTORIES, st.booleans(), st.data())
def test_a_fold_does_not_know_what_comes_after_it(
    rows: list[Row], width: int, history: int | None, first: bool, data: st.DataObject
) -> None:
    """Deleting, changing and adding whatever lies at or after t + Δ leaves fold t as it was."""
    options: dict[str, Any] = {"history": history, "first_only": first, "until": 45}
    found = split(rows, width, **options)
    fold = data.draw(st.sampled_from(list(found)))
    assert fold.window
    end = fold.window.end
    after = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(end, 60))
    changed = [row for row in rows if row[2] < end] + data.draw(st.lists(after, max_size=10))
    again = next(other for other in split(changed, width, **options) if other.label == fold.label)
    assert [pairs_of(part) for part in again] == [pairs_of(part) for part in fold]
    assert again.window == fold.window and again.left_out == fold.left_out


@compiled
@given(ROWS, WIDTHS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Row], width: int, first: bool, random: Any) -> None:
    """Also where pairs repeat and times tie."""
    shuffled = random.sample(rows, len(rows))
    one, other = split(rows, width, first_only=first), split(shuffled, width, first_only=first)
    assert one.table().equals(other.table()) and one.skipped == other.skipped
    for mine, theirs in zip(one, other, strict=True):
        assert [pairs_of(part) for part in mine] == [pairs_of(part) for part in theirs]


@compiled
@given(ROWS, WIDTHS, HISTORIES)
def test_first_only_leaves_the_first_item_of_each_user(rows: list[Row], width: int, history: int | None) -> None:
    """One row per user and window, none of the window's rows of that user being earlier; the others are counted."""
    every, first = split(rows, width, history=history), split(rows, width, history=history, first_only=True)
    for all_rows, ones in zip(every, first, strict=True):
        kept, whole = ones.test, all_rows.test
        assert kept.time is not None and whole.time is not None
        assert (np.diff(kept.indptr) == (np.diff(whole.indptr) > 0)).all()
        assert all(kept.time[kept.user == u] == whole.time[whole.user == u].min() for u in set(kept.user))
        assert sum(ones.left_out.values()) - sum(all_rows.left_out.values()) == len(whole) - len(kept)
        assert pairs_of(ones.train) == pairs_of(all_rows.train)


@compiled
@given(ROWS, WIDTHS)
def test_an_update_brings_a_model_to_the_next_fold(rows: list[Row], width: int) -> None:
    """Training rows of a fold are those of the one before, and what was added; a history that ends forgets some."""
    found = split(rows, width)
    for before, now in pairwise(found):
        added = now.added(before)
        assert added is not None and len(added) == now.train_count - before.train_count
        assert pairs_of(before.train) | pairs_of(added) == pairs_of(now.train)
        if now.train_count > before.train_count:
            assert before.added(now) is None


def test_a_split_that_leaks_is_refused() -> None:
    """The check is made on the training rows themselves, whatever chose them."""
    rows = [(user, item, item) for user in range(3) for item in range(10)]
    (fold,) = sliding_window(log_of(rows), 3, 1, min_users=1)
    assert fold.window and fold.log.time is not None and len(fold.train) == 18
    leaking = replace(fold, train_rows=Between(fold.log.time, None, fold.window.start + 1, 21))
    with pytest.raises(AssertionError):
        _ = leaking.train
    own = Split(fold.log, fold.held_out, None, fold.log.time < 2, window=fold.window)
    assert own.train_count == len(own.train) == 6 and len(own.test) == fold.test_count


FEW = [(1, 0, 0), (2, 1, 0), (3, 2, 0), (1, 3, 20), (1, 4, 30), (2, 5, 30), (3, 6, 30)]


def test_too_few_users_are_said() -> None:
    """Windows that are skipped say why: too few users, no rows, nothing before; without any window it is an error."""
    found = sliding_window(log_of(FEW), 10, 4, min_users=2)
    assert [fold.label for fold in found] == ["20"]
    assert codes(each.reason for each in found.skipped) == ("nothing-to-learn", "empty-window")
    told = [str(sentence) for sentence in skipped_folds(found.skipped)]  # neighbours with one reason stand together
    assert len(told) == 2 and told[0].startswith("-10 to 0 (2 ") and told[1].startswith("10: ")
    found = sliding_window(log_of([*FEW, (9, 9, 9)]), 9, 3, min_users=3)
    assert codes([found.skipped[1].reason]) == ("few-users",)
    with refuses("few-users") as said:
        sliding_window(log_of(FEW), 10, 4)
    text = str(said.value)
    assert "holdout(share=0.3)" in text and not {"width=", "min_users="} & set(text.split("("))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        *(({"width": width}, "bad-value") for width in ("15m", "0d", "1.5h", -5, True, None)),
        ({"history": "all"}, "bad-value"),
        ({"width": "1d"}, "bad-time"),  # the times are numbers
        ({"width": 5, "history": "1d"}, "bad-time"),
        ({"width": 5, "tz": "Europe/Paris"}, "unusable-zone"),
        ({"width": 5, "until": "2024-01-01"}, "bad-date"),
        ({"width": 5, "until": "tomorrow"}, "bad-date"),
        ({"width": 5, "folds": 0}, "out-of-range"),
        ({"width": 5, "min_users": 0}, "out-of-range"),
        ({"width": 5, "first_only": "perhaps"}, "wrong-type"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], code: str) -> None:
    log = log_of([(user, item, user + item) for user in range(3) for item in range(5)])
    with refuses(code):
        sliding_window(log, **{"folds": 1, "min_users": 1} | options)
