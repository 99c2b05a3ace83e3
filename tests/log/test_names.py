"""Which columns are recognised by their names, and what people say of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.said import only, refuses, told
from unskew.log import Log, Recommendations
from unskew.log.column_maps import MODELS, ColumnMap, by_place
from unskew.log.match import match_columns
from unskew.log.names import RECOGNISED, form, looks_like_a_header, recognised

LOG = ("user", "item"), ("value", "time", "policy", "propensity")
LISTS = ("user", "item"), ("rank", "score")
DOCS = Path(__file__).parents[2] / "docs" / "files.py"

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


@pytest.mark.parametrize("name", REAL)
def test_headers_as_they_are_published(name: str) -> None:
    header, wanted = REAL[name]
    found = match_columns(name, header.split(","), *LOG, None, ())
    assert [found.get(ours, "-") for ours in ("user", "item", "value", "time")] == wanted.split(" ") + ["-"] * (
        4 - len(wanted.split(" "))
    )


@settings(max_examples=60)
@given(st.sampled_from([(ours, name) for ours, names in RECOGNISED.items() for name in names]), st.data())
def test_the_way_a_name_is_written_does_not_count(pair: tuple[str, str], data: st.DataObject) -> None:
    """Case, and signs or blanks between words and around them."""
    ours, name = pair
    sign = data.draw(st.sampled_from(["", "_", "-", " ", "."]))
    written = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in name.replace("_", sign))
    assert recognised(ours, ["x", f" {written}"]) == [f" {written}"] and looks_like_a_header([written, "x"])


@pytest.mark.parametrize("asked", [LOG, LISTS, (("user", "item", "prediction"), ("rank",)), (("user",), ("relevant",))])
def test_no_name_can_be_two_columns_of_one_input(asked: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """Else which one it is would depend on the order in which columns are looked for."""
    forms = [form(name) for ours in (*asked[0], *asked[1]) for name in {form(each) for each in RECOGNISED[ours]}]
    assert len(forms) == len(set(forms))


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


def test_what_is_recognised_is_kept() -> None:
    log = Log.from_frame(pl.DataFrame({"CustomerID": [1], "sku": [3], "value": [1.0]}), feedback="conversions")
    assert log.account.columns == {"user": "CustomerID", "item": "sku"}


def test_a_score_is_looked_for_where_there_is_no_rank() -> None:
    """Who names the score wants no rank by guess."""
    both = pl.DataFrame({"user": [1, 1], "item": [3, 4], "position": [1, 2], "pred": [0.1, 0.2], "est": [1, 1]})
    assert Recommendations.from_frame(both).item.tolist() == [0, 1]
    by_score = Recommendations.from_frame(both, columns={"score": "pred"})
    assert by_score.item.tolist() == [1, 0] and only("ranked-by-score", by_score.account.notes)
    with refuses("ambiguous-column", column="score", found=["pred", "est"]):
        Recommendations.from_frame(both.drop("position"))


def test_alternatives() -> None:
    """The first that an input has; a name that holds a bar is itself."""
    present = ["guest", "visitor|guest", "dish"]
    for said, wanted in (("nobody|guest", "guest"), ("visitor|guest", "visitor|guest"), (["x", "guest"], "guest")):
        assert match_columns("f", present, ("user",), (), {"user": said}, ()) == {"user": wanted}
    assert told(match_columns, "f", present, ("user",), (), {"user": "a|b"}, ()) == ("missing-column", "user")


ASKED = {"test": ("user", "item"), "train": ("user",), MODELS: ("score",)}


def test_what_is_said_of_one_input_counts_before_what_is_said_of_all() -> None:
    said = ColumnMap({"user": "a", "log:user": "b", "als:score": "c", "models:score": "d", "item": 3},
                     ("user", "item", "score"), ["log", "train", "als", "bpr", MODELS], ASKED)  # fmt: skip
    assert said.of("test", "user", "item") == {"user": "b", "item": "3"} == said.of("log", "user", "item")
    assert said.of("train", "user") == {"user": "a"}
    assert said.of("als", "score", among=MODELS) == {"score": "c"}
    assert said.of("bpr", "score", among=MODELS) == {"score": "d"}
    assert said.alone("train", "user") == {} and said.of("test", "user").role == "log"


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"tset:user": "a"}, "unknown-input"),
        ({"train:item": "a"}, "unread-column"),
        ({"test:usr": "a"}, "unknown-column"),
        ({"user": 0.5}, "wrong-type"),
        ({"user": 0}, "wrong-type"),
        (5, "wrong-type"),
    ],
)
def test_what_nobody_can_mean(columns: Any, code: str) -> None:
    with refuses(code):
        ColumnMap(columns, ("user", "item", "score"), ["test", "train"], ASKED)


def test_places() -> None:
    """Only where all columns are named by them."""
    assert by_place({"user": 1, "item": "2", "time": ""})
    assert not any(map(by_place, (None, {}, {"time": ""}, {"user": "1", "item": "sku"}, {"user": "²"})))


def test_a_row_with_a_number_is_no_header() -> None:
    """Kinds of events are often called like columns."""
    assert looks_like_a_header(["guest", "click"]) and not looks_like_a_header(["u1", "click", "1511544070"])


def test_the_page_has_the_table() -> None:
    """``python docs/files.py`` writes it."""
    spec = importlib.util.spec_from_file_location("files_page", DOCS)
    assert spec is not None and spec.loader is not None
    files: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(files)
    page = files.PAGE.read_text()
    assert files.text(page) == page and "`CustomerID`" in page
