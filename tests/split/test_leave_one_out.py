"""Leave-one-out holds out one row of each user who has several; a hold-out by user divides the users."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.said import refusal
from tests.split.reference import Row, earliest, log_of, pairs_of
from unskew.core.notice import codes
from unskew.split import holdout, leave_one_out, make

compiled = settings(deadline=None, max_examples=40)
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.integers(0, 6)), min_size=1, max_size=40)
TWICE = [(9, 0, 0), (9, 1, 3)]  # somebody who can be judged
SEEDS = st.integers(0, 2**40)


@compiled
@given(ROWS, st.sampled_from(["random", "last"]), SEEDS)
def test_one_row_of_each_user_is_left_out(rows: list[Row], which: Any, seed: int) -> None:
    """MATHS §10.11: one per user with several rows; users with one stay in training, and are counted."""
    log = log_of([*rows, *TWICE])
    (fold,) = leave_one_out(log, which, seed=seed)
    train, test = fold
    sizes = np.diff(log.indptr)
    assert (np.diff(test.indptr) == (sizes > 1)).all()
    assert pairs_of(train) | pairs_of(test) == pairs_of(log) and len(train) + len(test) == len(log)
    assert sum(fold.left_out.values()) == np.count_nonzero(sizes == 1)
    assert fold.share is None and train.share is None and test.share is None
    assert test.cut_by_time == (which == "last") and test.sampled_by == str(
        make(f"leave_one_out({which}, seed={seed})")
    )


@compiled
@given(ROWS)
def test_the_last_row_is_the_last(rows: list[Row]) -> None:
    """No row of the user is later; users with several last rows are counted."""
    log = log_of([*rows, *TWICE])
    found = leave_one_out(log, "last")
    last: dict[int, list[int]] = {}
    for user, _, time in earliest([*rows, *TWICE]):
        last.setdefault(user, []).append(time)
    test = found[0].test
    assert test.time is not None
    for user, time in zip(test.users.values[test.user], test.time, strict=True):
        assert time == max(last[user])
    tied = sum(times.count(max(times)) > 1 for times in last.values())
    assert ("tied-times" in codes(found.notes)) == (tied > 0)
    assert not tied or found.notes[0].startswith(f"{tied} ")


@compiled
@given(ROWS, st.sampled_from(["random", "last"]), st.randoms(use_true_random=False))
def test_a_draw_depends_on_no_other_user_nor_on_order(rows: list[Row], which: Any, random: Any) -> None:
    """Rows in another order, and without the other users: the same row of the user is left out."""
    log = log_of([*rows, *TWICE])
    shuffled = log_of(random.sample([*rows, *TWICE], len(rows) + 2))
    one, other = leave_one_out(log, which)[0].test, leave_one_out(shuffled, which)[0].test
    assert pairs_of(one) == pairs_of(other)
    alone = log_of([row for row in [*rows, *TWICE] if row[0] == 9])
    assert pairs_of(leave_one_out(alone, which)[0].test) == {pair for pair in pairs_of(one) if pair[0] == 9}


def test_every_row_is_as_likely_and_repeats_are_other_draws() -> None:
    """3,000 users with 4 rows: each place 750 times, standard error 24; two repeats agree on a quarter of the users."""
    log = log_of([(user, item, 0) for user in range(3_000) for item in range(4)])
    first, second = leave_one_out(log, repeats=2)
    for fold in (first, second):
        assert (np.abs(np.bincount(fold.test.item) - 750) < 6 * 24).all()
    assert abs(np.count_nonzero(first.test.item == second.test.item) - 750) < 6 * 24
    assert [fold.label for fold in (first, second)] == ["1", "2"]
    tied = leave_one_out(log, "last")[0].test
    assert (np.abs(np.bincount(tied.item) - 750) < 6 * 24).all()


def test_what_cannot_be_left_out() -> None:
    """Repeats of the last row, a log without times, users with one row only."""
    without = us.Log.from_frame(pl.DataFrame({"user": [1, 1], "item": [1, 2]}))
    assert refusal(make, "leave_one_out(last, repeats=3)").code == "conflicting-arguments"
    assert refusal(leave_one_out, without, "last").code == "missing-column"
    assert refusal(leave_one_out, log_of([(1, 1, 1), (2, 2, 2)])).code == "empty-part"


def test_a_holdout_by_user_divides_the_users() -> None:
    """Each user is on one side, 0.3 of them in the test part (6 standard errors); a part of it is drawn anew."""
    log = log_of([(user, item, 0) for user in range(2_000) for item in range(3)])
    fold = holdout(log, 0.3, by="user", seed=2)
    train, test = fold
    assert not set(train.user) & set(test.user) and len(train) + len(test) == len(log)
    assert abs(len(set(test.user)) - 600) < 6 * np.sqrt(2_000 * 0.3 * 0.7)
    assert fold.share == 0.3 and test.share is None and train.share is None and not test.cut_by_time
    inner = holdout(train, 0.3, by="user", seed=2).test
    number = len(set(train.user))
    assert abs(len(set(inner.user)) - 0.3 * number) < 6 * np.sqrt(number * 0.3 * 0.7)
    assert refusal(holdout, holdout(log, 0.5).train, 0.3, by="user").code == "sampled-already"
