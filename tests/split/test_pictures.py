"""Every splitter's folds can be drawn, and their table and record agree with them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unskew.log import Log
from unskew.split import make_splits

SPLITTERS = (
    "holdout(share=0.3)", "holdout(share=0.3, by=time)", "holdout(share=0.5, by=user)", "k_fold(folds=3)",
    "leave_one_out(repeats=2)", "leave_one_out(last)", "sliding_window(width=2, folds=6, min_users=2)",
    "sliding_window(width=2, folds=4, min_users=2, history=5, first_only=true)",
)  # fmt: skip


def log_of(*, dates: bool) -> Log:
    """20 users, with times that are numbers or dates."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": np.repeat(np.arange(20), 10), "item": np.tile(np.arange(10), 20)})
    time = pl.Series("time", rng.integers(0, 10, 200))
    return Log.from_frame(frame.with_columns(time.cast(pl.Int32).cast(pl.Date) if dates else time))


@pytest.mark.parametrize("dates", [False, True])
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_table_record_and_picture_agree_with_the_folds(splitter: str, dates: bool) -> None:
    """Counts are those of the logs that the folds give; a bar for each part, and for each window that was skipped."""
    if dates:
        splitter = splitter.replace("width=2", "width=2d").replace("history=5", "history=5d")
    found = make_splits(log_of(dates=dates), splitter)
    table, record = found.table(), found.to_dict()
    for split, row, fold in zip(found, table.rows(named=True), record["folds"], strict=True):
        train, test = split
        for told in (row, fold):
            assert (told["train_rows"], told["test_rows"]) == (len(train), len(test))
        assert np.count_nonzero(split.kept) == len(train) and np.count_nonzero(split.held_out) == len(test)
        assert row["users"] in (None, int(np.count_nonzero(np.diff(test.indptr)))) and fold["users"] == row["users"]
    assert record["rows"] == 200 and record["splitter"] == str(found.splitter)
    (rows,) = found.plot().to_dict()["datasets"].values()
    assert len(rows) == 2 * len(found) + len(found.skipped) and all(row["low"] < row["high"] for row in rows)
    assert {row["part"] for row in rows} == {"train", "test"} | ({"skipped"} if found.skipped else set())
