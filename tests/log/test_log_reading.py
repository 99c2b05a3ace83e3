"""The same log comes out of every format, every dataframe and every order of rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.said import only
from unskew.log import Feedback, Ids, Log, read_log

compiled = settings(deadline=None)  # the first call compiles kernels

ROWS = pl.DataFrame(
    {
        "user": [3, 1, 1, 20, 3],
        "item": ["b", "c", "a", "a", "ä"],
        "value": [1.0, 0.0, 2.5, 4.0, 5.0],
        "time": [5, 4, 3, 2, 1],
        "policy": ["old", "new", "old", "new", "old"],
        "propensity": [0.1, 0.2, 0.3, 0.4, 1.0],
        "country": ["se", "se", "no", "fi", "dk"],
    }
)
SORTED = ROWS.sort("user", "item")


def duck(frame: pl.DataFrame) -> Any:
    return duckdb.sql("select * from frame")


BACKENDS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "pyarrow": lambda frame: frame.to_arrow(),
    "duckdb": duck,
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_dataframe_gives_the_same_log(backend: str) -> None:
    """pandas, polars, pyarrow and DuckDB differ in nothing that we keep."""
    log = Log.from_frame(BACKENDS[backend](ROWS), keep=["country"])
    assert log.to_frame().equals(SORTED)
    assert log.users.values.dtype == pl.Int64 and log.items.values.to_list() == ["a", "b", "c", "ä"]
    assert log.indptr.tolist() == [0, 2, 4, 5] and log.indptr.dtype == np.int64
    assert log.item.tolist() == [0, 2, 1, 3, 0] and log.item.dtype == np.int32
    assert log.user.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("ids", "values"),
    [
        (["10", "9", "-1"], [-1, 9, 10]),
        (["10", "9", "007"], ["9", "10", "007"]),
        (["10", "9", "+1"], ["9", "10", "+1"]),
        (["1.0", "2"], ["2", "1.0"]),
        (["123456789012345678901", "2"], ["2", "123456789012345678901"]),
        (["b", "a"], ["a", "b"]),
    ],
)
def test_ids_of_text_files_are_integers_only_if_they_print_back(
    tmp_path: Path, ids: list[str], values: list[int | str]
) -> None:
    """'007' is not 7; one such id keeps the whole column text."""
    path = tmp_path / "log.csv"
    path.write_text("user,item\n" + "".join(f"{user},1\n" for user in ids))
    assert read_log(path).users.values.to_list() == values


@compiled
@given(st.permutations(range(len(ROWS))))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    """Shuffled rows are the same log."""
    assert Log.from_frame(ROWS[list(order)], keep=["country"]).to_frame().equals(SORTED)


@compiled
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=40),
    st.sampled_from(["first", "last", "max"]),
)
def test_duplicates_leave_one_row_of_each_pair(rows: list[tuple[int, int, int]], policy: Any) -> None:
    """First, last and largest against a dictionary; what went is counted."""
    kept: dict[tuple[int, int], int] = {}
    for user, item, value in rows:
        old = kept.get((user, item))
        if old is None or policy == "last" or (policy == "max" and value > old):
            kept[user, item] = value
    frame = pl.DataFrame(rows, schema=["user", "item", "value"], orient="row")
    log = Log.from_frame(frame, duplicates=policy)
    assert log.to_frame().rows() == [(u, i, float(v)) for (u, i), v in sorted(kept.items())]
    assert log.account.dropped.get("duplicate pair", 0) == len(rows) - len(kept)


@compiled
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=40))
def test_an_implicit_log_keeps_the_earliest_row_of_each_pair(rows: list[tuple[int, int, int]]) -> None:
    """By time, whatever the order of the rows; it is the default, and can be asked for where there are values."""
    kept: dict[tuple[int, int], int] = {}
    for user, item, time in rows:
        kept[user, item] = min(time, kept.get((user, item), time))
    frame = pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")
    expected = [(u, i, t) for (u, i), t in sorted(kept.items())]
    for log in (Log.from_frame(frame), Log.from_frame(frame.with_columns(value=1.0), duplicates="earliest")):
        assert log.to_frame().select("user", "item", "time").rows() == expected
        assert log.account.dropped.get("duplicate pair", 0) == len(rows) - len(kept)
    for timed in (frame, frame.drop("time")):
        notes = Log.from_frame(timed).account.notes
        assert len(notes) == (len(rows) > len(kept))
        for _ in notes:
            only("repeated-pairs", notes, rows=len(rows) - len(kept))


def test_drops_are_counted_by_reason() -> None:
    """A row with several faults is counted once, under the first."""
    frame = pl.DataFrame(
        {"user": [None, None, 1, 1, 1, 1], "item": [1, 2, 1, 2, 2, 3], "propensity": [0.0, 0.5, 0.0, 0.5, 0.5, 0.5]}
    )
    log = Log.from_frame(frame, invalid="drop", duplicates="first")
    assert log.account.dropped == {"null user": 2, "propensity outside (0, 1]": 1, "duplicate pair": 1}
    assert log.account.rows == 6 == len(log) + sum(log.account.dropped.values())


def test_feedback_is_implicit_without_values_and_untold_with_them() -> None:
    """Nothing is guessed from values; with implicit feedback they are ignored, and that is noted."""
    assert Log.from_frame(ROWS).feedback is None
    assert Log.from_frame(ROWS.select("user", "item")).feedback is Feedback.IMPLICIT
    assert Log.from_frame(ROWS, feedback="ratings").feedback is Feedback.RATINGS
    ignored = Log.from_frame(ROWS.with_columns(value=pl.lit("junk")), feedback=Feedback.IMPLICIT)
    assert ignored.value is None and only("value-ignored", ignored.account.notes)


@pytest.mark.parametrize(
    "times",
    [
        pl.Series([dt.date(2024, 2, 29), dt.date(1969, 12, 31)]),
        pl.Series([dt.datetime(2024, 2, 29, 12, 30, 1, 5), dt.datetime(1969, 12, 31)]),
        pl.Series([dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 1, 1)]).dt.replace_time_zone("Europe/Stockholm"),
        pl.Series([2**60, -5]),
    ],
)
def test_times_become_integers_and_come_back(times: pl.Series) -> None:
    """Dates and datetimes are microseconds inside, and what they were outside."""
    log = Log.from_frame(pl.DataFrame({"user": [1, 2], "item": [1, 1], "time": times}))
    assert log.time is not None and log.time.dtype == np.int64
    assert log.to_frame()["time"].to_list() == times.to_list()
    if times.dtype == pl.Date:
        assert log.time[1] == -24 * 3600 * 10**6


def test_times_in_text_files(tmp_path: Path) -> None:
    """Whole numbers may have a point, datetimes are ISO 8601; one unit for all."""
    path = tmp_path / "log.csv"
    path.write_text("user,item,time\n1,1,3\n1,2,4.0\n")
    log = read_log(path)
    assert log.time is not None and log.time.tolist() == [3, 4]
    path.write_text("user,item,time\n1,1,1970-01-01T00:00:01\n1,2,1970-01-01T00:00:02\n")
    log = read_log(path)
    assert log.time is not None and log.time.tolist() == [10**6, 2 * 10**6]


@compiled
@given(st.data())
def test_recode_is_the_same_log_over_larger_vocabularies(data: st.DataObject) -> None:
    """Ids decide, also where the new vocabulary holds them as text and therefore in another order."""
    pairs = data.draw(st.sets(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1))
    as_text = data.draw(st.booleans())
    more = pl.Series(range(-3, 25))
    wider = Ids.of(more.cast(pl.String)) if as_text else Ids.of(more)
    frame = pl.DataFrame(sorted(pairs), schema=["user", "item"], orient="row").with_row_index("time")
    log = Log.from_frame(frame)
    again = log.recode(wider, wider)
    assert again.users is wider and len(again.indptr) == len(wider) + 1
    assert all((np.diff(again.item[a:b]) > 0).all() for a, b in zip(again.indptr, again.indptr[1:], strict=False))
    assert again.to_frame().cast(pl.Int64).sort("time").equals(log.to_frame().cast(pl.Int64).sort("time"))
    assert log.recode(log.users, log.items) is log


def test_take_keeps_vocabularies_and_all_columns() -> None:
    """A mask picks rows; users without rows stay in the vocabulary."""
    log = Log.from_frame(ROWS, keep=["country"])
    some = log.take(log.item == 0)
    assert some.to_frame().equals(SORTED.filter(pl.col("item") == "a"))
    assert some.users is log.users and some.indptr.tolist() == [0, 1, 1, 2]
