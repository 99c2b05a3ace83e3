"""Which columns are recognised by their names, and what people say of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.evaluation.shop import LISTS, TEST
from tests.said import only, refuses, told
from unskew.log import Log, Recommendations
from unskew.log.names import RECOGNISED

DOCS = Path(__file__).parents[2] / "docs" / "files.py"
COLUMNS = ("user", "item", "value", "time")
REAL = {  # headers as they are published
    "MovieLens": ("userId,movieId,rating,timestamp", "userId movieId rating timestamp"),
    "Amazon 2018": ("overall,reviewerID,asin,reviewerName,unixReviewTime", "reviewerID asin overall unixReviewTime"),
    "Online Retail": ("InvoiceNo,StockCode,Quantity,InvoiceDate,CustomerID", "CustomerID StockCode - InvoiceDate"),
    "Retailrocket": ("timestamp,visitorid,event,itemid,transactionid", "visitorid itemid - timestamp"),
    "Yelp": ("review_id,user_id,business_id,stars,date,text", "user_id business_id stars date"),
    "BookCrossing": ("User-ID,ISBN,Book-Rating", "User-ID ISBN Book-Rating -"),
    "H&M": ("t_dat,customer_id,article_id,price", "customer_id article_id - t_dat"),
    "RecBole": ("user_id:token,item_id:token,rating:float,timestamp:float", "user_id:token item_id:token rating:float timestamp:float"),  # noqa: E501
    "Last.fm": ("userID,artistID,weight", "userID artistID - -"),
    "ours": ("user,item,value,time,user_id", "user item value time"),
}  # fmt: skip


def taken(header: list[str], **options: Any) -> dict[str, str]:
    """Which column of a log stands for which of ours."""
    log = Log.from_frame(pl.DataFrame({name: [1] for name in header}), **options)
    there = {"value": log.value, "time": log.time}
    return {ours: log.account.columns.get(ours, ours) for ours in COLUMNS if there.get(ours, 0) is not None}


@pytest.mark.parametrize("name", REAL)
def test_headers_as_they_are_published(name: str) -> None:
    header, wanted = REAL[name]
    found = taken(header.split(","), feedback="ratings" if wanted.split()[2] != "-" else None)
    assert [found.get(ours, "-") for ours in COLUMNS] == wanted.split()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([(ours, name) for ours in COLUMNS for name in RECOGNISED[ours]]), st.data())
def test_the_way_a_name_is_written_does_not_count(pair: tuple[str, str], data: st.DataObject) -> None:
    """Case, and signs or blanks between words and around them."""
    ours, name = pair
    sign = data.draw(st.sampled_from(["", "_", "-", " ", "."]))
    written = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in name.replace("_", sign))
    others = [each for each in ("user", "item") if each != ours]
    assert taken([*others, "x", f" {written}"], feedback="ratings" if ours == "value" else None)[ours] == f" {written}"


def test_two_columns_that_may_be_the_user() -> None:
    """Never a guess; what is said decides, and a column that has our name is no question."""
    frame = pl.DataFrame({"userId": [1], "customer": [2], "item": [3]})
    with refuses("ambiguous-column", column="user", found=["userId", "customer"]):
        Log.from_frame(frame)
    assert Log.from_frame(frame, columns={"user": "customer"}).users.values.to_list() == [2]
    named = Log.from_frame(frame.with_columns(user=pl.lit(9)))
    assert named.users.values.to_list() == [9] and not named.account.columns


def test_a_column_that_is_said_to_be_none() -> None:
    """A recognised column that cannot be used says how to leave it out."""
    frame = pl.DataFrame({"user": [1], "item": [3], "date": ["yesterday"]})
    with refuses("not-a-number", column="date") as said:
        Log.from_frame(frame)
    assert "columns={'time': ''}" in str(said.value)
    for nothing in ("", None):
        assert Log.from_frame(frame, columns={"time": nothing}).time is None
    with refuses("ambiguous-column", column="time", found=["date", "ts"]):
        Log.from_frame(frame.with_columns(ts=1))


def test_a_score_is_looked_for_where_there_is_no_rank() -> None:
    """Who names the score wants no rank by guess."""
    both = pl.DataFrame({"user": [1, 1], "item": [3, 4], "position": [1, 2], "pred": [0.1, 0.2], "est": [1, 1]})
    assert Recommendations.from_frame(both).item.tolist() == [0, 1]
    by_score = Recommendations.from_frame(both, columns={"score": "pred"})
    assert by_score.item.tolist() == [1, 0] and only("ranked-by-score", by_score.account.notes)
    with refuses("ambiguous-column", column="score", found=["pred", "est"]):
        Recommendations.from_frame(both.drop("position"))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [("nobody|guest", "guest"), ("visitor|guest", "visitor|guest"), (["x", "guest"], "guest"), ("a|b", "")],
)
def test_alternatives(said: Any, wanted: str) -> None:
    """The first that an input has; a name that holds a bar is itself."""
    header = ["guest", "visitor|guest", "item"]
    if wanted:
        assert taken(header, columns={"user": said})["user"] == wanted
    else:
        frame = pl.DataFrame({name: [1] for name in header})
        assert told(Log.from_frame, frame, columns={"user": said}) == ("missing-column", "user")


def test_what_is_said_of_one_input_counts_before_what_is_said_of_all() -> None:
    """Of the log, under both its names; of one model before all models."""
    frames = {name: lists.rename({"item": "thing", "rank": name}) for name, lists in LISTS.items()}
    said = {"user": "who", "item": "thing", "log:item": "sku", "models:user": "user", "a:rank": "a", "models:rank": "b"}
    test = TEST.select(who="user", sku="item")
    train = test.rename({"sku": "thing"}).head(3)
    found = us.evaluate(test, frames, train=train, columns=said, candidates="all", estimators=["naive"])
    plain = us.evaluate(TEST.select("user", "item"), LISTS, estimators=["naive"])
    assert [e.value for e in found.estimates] == [e.value for e in plain.estimates]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"tset:user": "a"}, "unknown-input"),
        ({"train:rank": "a"}, "unread-column"),
        ({"test:usr": "a"}, "unknown-column"),
        ({"user": 0.5}, "wrong-type"),
        ({"user": 0}, "wrong-type"),
        (5, "wrong-type"),
    ],
)
def test_what_nobody_can_mean(columns: Any, code: str) -> None:
    with refuses(code):
        us.evaluate(TEST, LISTS, train=TEST, columns=columns)


def test_the_page_has_the_table() -> None:
    """``python docs/files.py`` writes it."""
    spec = importlib.util.spec_from_file_location("files_page", DOCS)
    assert spec is not None and spec.loader is not None
    files: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(files)
    page = files.PAGE.read_text()
    assert files.text(page) == page and "`CustomerID`" in page
