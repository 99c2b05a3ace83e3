"""Columns of every type that files and frames can have: used as they should be, or refused with column and row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from tests.said import refusal, refuses, told
from unskew.log import Ids, Log, Predictions, Recommendations, read_features, read_log
from unskew.log.population import read_population
from unskew.propensity.counting import count_items, count_values


def far(dtype: pl.DataType, number: int) -> pl.Series:
    """Two times, the second of which no calendar shows."""
    physical = pl.Int32 if dtype == pl.Date else pl.Int64
    return pl.Series("time", [0, number], dtype=physical).cast(dtype)


FAR = [
    far(pl.Date(), 2_000_000_000),
    far(pl.Date(), -2_000_000_000),
    far(pl.Datetime("ms"), 10**18),
    far(pl.Datetime("us"), 10**18),
    far(pl.Datetime("us", "UTC"), -(10**18)),
    far(pl.Datetime("ms"), -(2**63) + 1),
]


@pytest.mark.parametrize("times", FAR, ids=lambda times: str(times.dtype))
def test_times_that_no_calendar_shows(times: pl.Series, capfd: pytest.CaptureFixture[str]) -> None:
    """Polars would break off; here the row is named, or dropped and counted."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "time": times})
    with refuses("bad-date", column="time", row=2):
        Log.from_frame(frame)
    log = Log.from_frame(frame, invalid="drop")
    assert sum(log.account.dropped.values()) == 1 and log.to_frame()["time"][0].year == 1970
    kept = frame.rename({"time": "when"})
    assert told(Log.from_frame, kept, keep=["when"]) == ("bad-date", "when")
    assert len(Log.from_frame(kept, keep=["when"], invalid="drop")) == 1
    assert read_population(kept, keep=["when"], invalid="drop").columns["when"].len() == 1
    assert "panicked" not in capfd.readouterr().err


def test_far_dates_as_ids(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In memory and in files that stream by; and years that no calendar has, as they are written."""
    path = tmp_path / "log.parquet"
    pl.DataFrame({"user": [1, 2], "item": FAR[0], "value": [1, 1]}).write_parquet(path)
    for text in ("-5000-01-01", "0000-01-01"):
        (tmp_path / "log.csv").write_text(f"user,item,time\n1,1,2020-01-01\n1,2,{text}\n")
        with refuses("bad-date", row=2):
            read_log(tmp_path / "log.csv")
    for read in (read_log, count_items, count_values):
        with refuses("bad-date", column="item", row=2):
            read(path)
    assert "panicked" not in capfd.readouterr().err


STRANGE: dict[str, list[Any]] = {
    "duration": [dt.timedelta(1), dt.timedelta(2)],
    "datetime": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)],
    "time": [dt.time(1), dt.time(2)],
    "binary": [b"a", b"b"],
    "list": [[1], [2]],
    "struct": [{"a": 1}, {"a": 2}],
    "object": [object(), object()],
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("column", ["user", "item", "policy", "value", "propensity", "rank", "score", "prediction"])
def test_types_that_are_neither_ids_nor_numbers(column: str, kind: str) -> None:
    """Each is refused by name, also where rows may be dropped; what is kept must print as a text."""
    good = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
    dtype = pl.Object if kind == "object" else None
    frame = good.with_columns(pl.Series(column, STRANGE[kind], dtype=dtype))
    if column == "user" and kind in ("binary", "list", "struct", "object"):
        kept = good.with_columns(frame["user"].alias("place"))
        for reading in (Log.from_frame, read_population):
            assert told(reading, kept, keep=["place"]) == ("wrong-type", "place")
    read: Callable[..., object] = {
        "rank": Recommendations.from_frame,
        "score": Recommendations.from_frame,
        "prediction": Predictions.from_frame,
    }.get(column, Log.from_frame)
    for invalid in ("error", "drop"):
        assert told(read, frame, invalid=invalid) == ("wrong-type", column)


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series("user", [2**63, 5, 2**64 - 1], dtype=pl.UInt64),
        pl.Series("user", [2**100, 5, -(2**100)], dtype=pl.Int128),
        pl.Series("user", ["c", "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
        pl.Series("user", ["c", "a", "b"], dtype=pl.Categorical),
        pl.Series("user", ["12345678901234567", "5", "6"]).cast(pl.Decimal(38, 0)),
        pl.Series("user", [dt.date(2020, 1, 1), dt.date(1999, 1, 1), dt.date(2021, 1, 1)]),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_ids_of_any_type_are_their_texts(tmp_path: Path, ids: pl.Series) -> None:
    """In frames, in files that stream by, and in look-ups."""
    texts = ids.cast(pl.String)
    frame = pl.DataFrame({"user": ids, "item": [1, 2, 3], "value": [1.0, 2.0, 3.0]})
    log = Log.from_frame(frame, feedback="ratings")
    assert sorted(log.to_frame()["user"].cast(pl.String)) == sorted(texts)
    assert dict(log.to_frame().with_columns(pl.col("user").cast(pl.String))["user", "value"].rows()) == dict(
        zip(texts, [1.0, 2.0, 3.0], strict=True)
    )
    assert (Ids.of(texts).encode(ids if not ids.dtype.is_decimal() else texts) >= 0).all()
    path = tmp_path / "log.parquet"
    frame.write_parquet(path)
    assert sorted(count_items(path, columns={"item": "user"})[0].values.cast(pl.String)) == sorted(texts)


def test_ids_that_floats_cannot_tell_apart() -> None:
    """Beyond 2^53 different ids have become the same number; decimals are exact; 1.5 is no id, and 2.0 is the id 2."""
    halves = pl.DataFrame({"user": [2.0, 1.5], "item": [1, 2]})
    with refuses("not-an-integer", column="user", row=2):
        Log.from_frame(halves)
    assert Log.from_frame(halves, invalid="drop").users.values.to_list() == [2]
    frame = pd.DataFrame({"user": [2**53 + 1, None, 4], "item": [1, 2, 3]})
    with refuses("not-an-integer", column="user", row=1) as said:
        Log.from_frame(frame, invalid="error")
    assert "2^53" in str(said.value)
    decimals = pl.Series("user", ["9007199254740993.5", "1.0"]).cast(pl.Decimal(38, 1))
    assert refusal(Log.from_frame, pl.DataFrame({"user": decimals, "item": [1, 2]})).fields["row"] == 1


@pytest.mark.parametrize("wrong", [1e308, -1e31, 1e300])
def test_numbers_that_sums_cannot_bear(wrong: float, tmp_path: Path) -> None:
    """Values, predictions and covariates; scores only order, and may be anything finite."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "value": [1.0, wrong]})
    frame.write_parquet(path := tmp_path / "log.parquet")
    predicted = frame.rename({"value": "prediction"})
    for read in (
        lambda: Log.from_frame(frame, feedback="ratings"),
        lambda: Predictions.from_frame(predicted),
        lambda: read_features(frame.drop("item"), "user"),
        lambda: count_values(path),
    ):
        with refuses("out-of-range", row=2):
            read()
    assert Log.from_frame(frame, invalid="drop").account.dropped == {"value too large": 1}
    assert refusal(Predictions.from_array, [[wrong]]).code == "out-of-range"
    assert len(Recommendations.from_frame(frame.rename({"value": "score"})).item) == 2


@pytest.mark.parametrize("wrong", [1.0001, 0.0, -0.1, 1e-160, 5e-324])
def test_propensities_out_of_range(wrong: float) -> None:
    """What, where, what to do; or the row is dropped and counted."""
    frame = pl.DataFrame({"user": range(1300), "item": 1, "propensity": [0.5] * 1203 + [wrong] + [0.5] * 96})
    with refuses("out-of-range", column="propensity", row=1204) as said:
        Log.from_frame(frame)
    assert str(wrong) in str(said.value) and "invalid='drop'" in str(said.value)
    log = Log.from_frame(frame, invalid="drop")
    assert sum(log.account.dropped.values()) == 1 and log.account.rows == 1300 == len(log) + 1


def test_frames_that_cannot_become_columns() -> None:
    """Two columns of one name, and cells of several types, are errors of ours."""
    twice = pd.DataFrame([[1, 2, 3]], columns=["user", "item", "user"])
    assert refusal(Log.from_frame, twice).code == "unreadable-frame"
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("user", "a"), ("item", "b")]))
    assert told(Log.from_frame, levels) == ("missing-column", "user")
    assert refusal(Log.from_frame, pl.DataFrame({"user;item": ["1;2"]})).code == "wrong-separator"
    for no_frame in (5, [1, 2]):
        assert refusal(read_features, no_frame, "user").code == "not-a-dataframe"
    mixed = pd.DataFrame({"user": [1, "a", 2.5], "item": [1, 2, 3]})
    assert refusal(Log.from_frame, mixed).code == "unreadable-frame"
