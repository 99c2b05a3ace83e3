"""Splits: every row on one side, by a draw of its own, with the share that propensities are scaled by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.said import refusal
from tests.split.reference import pairs_of
from unskew.log import Log, Recommendations
from unskew.split import holdout, k_fold
from unskew.split.split import draws

compiled = settings(deadline=None)  # the first call compiles kernels


def grid(users: int, items: int) -> Log:
    """A log in which every user has every item, at times that have ties."""
    frame = pl.DataFrame({"user": np.repeat(np.arange(users), items), "item": np.tile(np.arange(items), users)})
    return Log.from_frame(frame.with_columns(time=pl.col("user") * 7 % 10))


WIDE = grid(200, 100)
SHARES = st.floats(0.05, 0.95)
SEEDS = st.integers(0, 2**40)


@compiled
@given(SHARES, SEEDS)
def test_a_random_holdout_is_a_partition_of_about_the_right_size(share: float, seed: int) -> None:
    """n·s rows within 6 standard errors √(n s (1−s)) (two-sided p = 2e-9 per draw); shares are carried."""
    train, test = holdout(WIDE, share, seed=seed)
    assert pairs_of(train) | pairs_of(test) == pairs_of(WIDE) and len(train) + len(test) == len(WIDE)
    assert abs(len(test) - share * len(WIDE)) < 6 * np.sqrt(len(WIDE) * share * (1 - share))
    assert test.share == share and train.share == 1 - share
    assert train.users is test.users is WIDE.users


@compiled
@given(st.permutations(range(30)), st.integers(1, 29), SEEDS)
def test_a_draw_depends_on_the_pair_alone(order: list[int], some: int, seed: int) -> None:
    """Neither the order of rows nor which other rows there are changes the number that a pair draws."""
    frame = pl.DataFrame({"user": [f"u{r % 4}" for r in range(30)], "item": range(30)})
    whole, part = Log.from_frame(frame), Log.from_frame(frame[list(order)][:some])
    assert drawn(part, seed).items() <= drawn(whole, seed).items()


def drawn(log: Log, seed: int) -> dict[tuple[object, ...], float]:
    return dict(zip(log.to_frame().rows(), draws(log, "holdout", seed).tolist(), strict=True))


def test_seeds_give_independent_splits() -> None:
    """Two seeds agree on a test row with probability s²: 20,000 · 0.09 = 1,800, standard error 40."""
    one, other = holdout(WIDE, seed=0).held_out, holdout(WIDE, seed=1).held_out
    assert abs(np.count_nonzero(one & other) - 1800) < 6 * 41


@compiled
@given(SHARES)
def test_a_split_of_a_part_is_independent_of_the_first_and_shares_multiply(share: float) -> None:
    """The same seed twice neither empties nor fills the second test part (6 standard errors)."""
    train, _ = holdout(WIDE, 0.4, seed=0)
    inner = holdout(train, share, seed=0)
    assert abs(len(inner.test) - share * len(train)) < 6 * np.sqrt(len(train) * share * (1 - share))
    assert inner.test.share == pytest.approx(0.6 * share) and inner.train.share == pytest.approx(0.6 * (1 - share))
    assert [split.test.share for split in k_fold(train, 3)] == pytest.approx([0.2] * 3)


@pytest.mark.parametrize("seed", [0, 1])
def test_ties_between_scores_are_broken_independently_of_the_split(seed: int) -> None:
    """A recommender that scores everything alike finds test rows at rate s: 200 lists of 10, standard error 20.5."""
    lists = Recommendations.from_frame(WIDE.to_frame().select("user", "item", score=pl.lit(1.0)))
    top = lists.only(lists.rank <= 10, close=False)
    assert abs(top.count_seen(holdout(WIDE, 0.3, seed=seed).test) - 600) < 6 * 20.5


@compiled
@given(st.floats(0.05, 0.85))
def test_a_holdout_by_time_never_separates_ties(share: float) -> None:
    """Every test row is later than every training row, and the test part is the smallest such that is large enough."""
    split = holdout(WIDE, share, by="time")
    train, test = split
    assert train.time is not None and test.time is not None and train.share is None and test.share is None
    assert train.time.max() < test.time.min()
    assert len(test) >= round(share * len(WIDE)) - 1
    assert np.count_nonzero(test.time > test.time.min()) < share * len(WIDE) + 1


@compiled
@given(st.integers(2, 12), SEEDS)
def test_folds_partition_the_log(folds: int, seed: int) -> None:
    """Every row is held out exactly once, in folds of about n/k rows (6 standard errors)."""
    splits = k_fold(WIDE, folds, seed=seed)
    assert len(splits) == folds and (np.sum([split.held_out for split in splits], axis=0) == 1).all()
    for split in splits:
        n, s = len(WIDE), 1 / folds
        assert abs(len(split.test) - n * s) < 6 * np.sqrt(n * s * (1 - s))
        assert split.test.share == s and split.train.share == 1 - s


BARE = Log.from_frame(pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 3]}))
TINY = Log.from_frame(pl.DataFrame({"user": [1], "item": [1], "time": [7]}))


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: holdout(BARE, by="time"), "missing-column"),
        (lambda: holdout(TINY, by="time"), "empty-part"),  # only one time
        (lambda: holdout(TINY), "empty-part"),
        (lambda: k_fold(TINY, 2), "empty-part"),
        (lambda: k_fold(WIDE, 1), "out-of-range"),
        (lambda: holdout(WIDE, seed=-1), "out-of-range"),
        (lambda: holdout(WIDE, by="users"), "unknown-name"),  # type: ignore[arg-type]
        *((lambda share=share: holdout(WIDE, share), "out-of-range") for share in (0.0, 1.0, -0.5, 1.5, float("nan"))),
    ],
)
def test_impossible_splits(call: Callable[[], object], code: str) -> None:
    assert refusal(call).code == code
