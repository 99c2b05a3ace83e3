"""The place on the page: read where it can be, left alone where it cannot, and never in the way of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS
from tests.evaluation.shop import TEST as SHOP
from tests.said import only, refuses
from unskew.log import Log

ROWS = pl.DataFrame({"user": [2, 1, 1, 2], "item": [5, 6, 5, 7], "rank": [3, 1, None, 2]})
BY_ROW = [None, 1, 3, 2]  # users and items ascending
PLAIN = ROWS.drop("rank")


def with_places(places: Any) -> pl.DataFrame:
    return PLAIN.with_columns(rank=pl.Series(places))


@pytest.mark.parametrize("name", ["position", "rank", "slot", "place", "Rank Position", "item_rank", "pos", "slot_id"])
def test_usual_names_are_recognised(name: str) -> None:
    log = Log.from_frame(ROWS.rename({"rank": name}))
    assert log.position is not None and log.position.to_list() == BY_ROW
    assert log.account.columns == ({} if name == "position" else {"position": name})


@pytest.mark.parametrize(
    "places",
    [
        ["3", " 1", "", "2.0"],
        [3.0, 1.0, float("nan"), 2.0],
        pl.Series(["3", "1", None, "2"], dtype=pl.Categorical),
        pl.Series([3, 1, None, 2], dtype=pl.UInt8),
    ],
    ids=["texts", "floats", "categories", "small numbers"],
)
def test_whole_numbers_of_any_type(places: Any) -> None:
    """An empty cell is a place that nobody wrote down."""
    position = Log.from_frame(with_places(places)).position
    assert position is not None and position.to_list() == BY_ROW and position.dtype == pl.Int32


@pytest.mark.parametrize(
    ("places", "some"),
    [
        (["home", "search", "home", "home"], False),
        (["3", "1", "top", "2"], True),
        ([3, 1, -1, 2], True),
        ([0.5, 1.0, 0.25, 0.75], True),
        ([2**31, 1, 2, 3], True),
        ([float("inf"), 1.0, 2.0, 3.0], True),
        ([True, False, True, True], False),
        ([[1], [2], [3], [4]], False),
    ],
)
@pytest.mark.parametrize("invalid", ["error", "drop"])
def test_what_was_only_recognised_is_left_alone(places: Any, some: bool, invalid: Any) -> None:
    """No row is refused or dropped for it, and a note says so."""
    log = Log.from_frame(with_places(places), invalid=invalid)
    assert log.position is None and len(log) == 4 and not log.account.dropped and not log.account.columns
    only("some-places" if some else "no-places", log.account.notes, column="rank")


@pytest.mark.parametrize(
    ("places", "row", "code"),
    [
        ([3, 1, -1, 2], 3, "out-of-range"),
        ([3.0, 1.5, 1.0, 2.0], 2, "not-an-integer"),
        (["3", "1", "2", "top"], 4, "not-a-number"),
        ([2**31, 1, 2, 3], 1, "out-of-range"),
        ([3, None, 1, 2], 2, "missing-value"),
    ],
)
def test_what_was_named_must_be_right(places: Any, row: int, code: str) -> None:
    """One error with file, column, row and remedy, or the row is dropped and counted."""
    frame, named = with_places(places), {"position": "rank"}
    with refuses(code, column="rank", row=row, file="frame"):
        Log.from_frame(frame, columns=named)
    log = Log.from_frame(frame, columns=named, invalid="drop")
    assert len(log) == 3 and sum(log.account.dropped.values()) == 1 and log.position is not None


def test_a_kept_column_is_kept_as_it_was() -> None:
    """Segments by place are what they were before places meant something."""
    frame = ROWS.rename({"rank": "position"})
    log = Log.from_frame(frame, keep=["position"])
    assert log.columns["position"].to_list() == ["(none)", "1", "3", "2"]
    assert log.position is not None and log.position.to_list() == BY_ROW
    assert log.to_frame()["position"].to_list() == BY_ROW
    texts = Log.from_frame(frame.with_columns(position=pl.lit("home")), keep=["position"])
    assert texts.columns["position"].to_list() == ["home"] * 4 and texts.position is None
    none = Log.from_frame(frame, keep=["position"], columns={"position": ""})
    assert none.position is None and none.columns["position"].to_list() == ["(none)", "1", "3", "2"]


def test_places_go_where_their_rows_go() -> None:
    """Parts, other vocabularies, repeated pairs, splits, samples, and out again."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": rng.integers(0, 40, 900), "item": rng.integers(0, 50, 900)})
    frame = frame.with_columns(position=pl.col("user") * 100 + pl.col("item"))
    log = Log.from_frame(frame, duplicates="first")
    train, test = us.split.holdout(log, 0.3)
    drawn = us.sample(log, "wtd_h", train=log, size=0.5)
    others = us.log.Ids.of(pl.Series("id", range(-5, 60)))
    for each in (log, train, test, drawn, log.recode(others, others), log.take(log.item % 3 == 0)):
        rows = each.to_frame()
        assert len(rows) and (rows["position"] == rows["user"] * 100 + rows["item"]).all()
    again = Log.from_frame(test.to_frame())
    assert again.position is not None and test.position is not None
    assert again.position.to_list() == test.position.to_list()


def test_places_of_the_training_log_are_not_read() -> None:
    """They would change nothing, and two columns of it that may be the place are no question."""
    train = SHOP.drop("place").with_columns(pl.col("item") + 100, rank=1, slot=2)
    found = us.evaluate(SHOP.drop("place"), LISTS, train=train, columns={"test:position": ""}, estimators=["naive"])
    assert found.inputs["train"]["columns"] == {}
    with refuses("unread-column"):
        us.evaluate(SHOP, LISTS, train=train, columns={"train:position": "slot"})
