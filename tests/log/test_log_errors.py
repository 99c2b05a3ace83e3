"""Whatever is wrong with an input is named: the file, the column, the first offending row, the remedy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.said import refusal, refuses, told
from unskew.log import Log, Recommendations, read_log, read_recommendations
from unskew.propensity.counting import count_items
from unskew.sampling import sample_file

Write = Callable[[str, str], Path]
GOOD = "user,item\n1,2\n"
TIMED = "user,item,time\n1,1,{}\n1,2,{}\n"
STARS = "user,item,stars\n1,2,3\n"
SHIFTED = {"invalid": "drop", "duplicates": "error"}  # dropped rows do not shift the numbers of others
VALUED = "user,item,value\n1,1,1\n1,2,-1\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, text: str) -> Path:
        (path := tmp_path / name).write_text(text)
        return path

    return to


@pytest.mark.parametrize(
    ("name", "text", "options", "code", "fields"),
    [
        ("t.csv", "", {}, "empty-file", {}),
        ("t.csv", "user,item\n", {}, "no-rows", {}),
        ("t.xls", GOOD, {}, "unknown-format", {}),
        ("t.xml.gz", GOOD, {}, "unknown-format", {}),
        ("t", GOOD, {}, "unknown-format", {}),
        ("t.parquet.gz", GOOD, {}, "unknown-format", {}),
        ("t.parquet", GOOD, {}, "unreadable-file", {}),
        ("t.csv", "user,item,title\n1,1,a\n1,2\n", {}, "field-count", {"line": 3}),
        ("t.csv", "user,item,title\n1,1,a\n1,2\n", {"invalid": "drop"}, "field-count", {"line": 3}),
        ("t.csv", "kind,user_name,item\n1,2,3\n", {}, "missing-column", {"column": "user", "near": "user_name"}),
        ("t.csv", "a,item\n1,2\n", {}, "missing-column", {"column": "user", "near": None}),
        ("t.csv", STARS, {"columns": {"value": "star"}}, "missing-column", {"column": "value", "near": "stars"}),
        ("t.csv", STARS, {"keep": ["star"]}, "missing-column", {"column": "star", "near": "stars"}),
        ("t.csv", STARS, {"columns": {"usr": "user"}}, "unknown-column", {"column": "usr"}),
        ("t.csv", "user1,item\n1,2\n", {}, "missing-column", {"near": "user1"}),
        ("t.csv", "user_feature_3,item\n1,3\n", {}, "missing-column", {"near": None}),
        ("t.csv", "user_embedding,item\n1,3\n", {}, "missing-column", {"near": None}),
        ("t.csv", "user_1,user_2,item\n1,2,3\n", {}, "missing-column", {"near": None}),
        ("t.csv", "who,item\n1,1\n,2\n", {"columns": {"user": "who"}}, "missing-value", {"column": "who", "row": 2}),
        ("t.csv", TIMED.format("7", "1.5"), {}, "not-an-integer", {"column": "time", "row": 2}),
        ("t.csv", TIMED.format("7", "noon"), {}, "not-a-number", {"column": "time", "row": 2}),
        ("t.csv", TIMED.format("2024-01-02", "2024-02-30"), {}, "bad-date", {"column": "time", "row": 2}),
        ("t.csv", "user,item,value\n9,9,1\nb,1,1\na,1,1\nb,1,0\na,1,1\n", {}, "repeated-pair", {"rows": [2, 4]}),
        ("t.csv", "user,item\n,1\n,2\n", {"invalid": "drop"}, "no-rows", {}),
        ("t.csv", GOOD, {"feedback": "ratings"}, "missing-column", {"column": "value"}),
        ("t.csv", GOOD, {"feedback": "conversions"}, "missing-column", {"column": "value"}),
        ("t.csv", VALUED, {"feedback": "conversions"}, "out-of-range", {"column": "value", "row": 2}),
        ("t.csv", GOOD, {"feedback": "clicks"}, "unknown-name", {"option": "feedback"}),
        ("t.csv", GOOD, {"invalid": "ignore"}, "unknown-name", {"option": "invalid"}),
        ("t.csv", GOOD, {"duplicates": "any"}, "unknown-name", {"option": "duplicates"}),
        ("t.csv", GOOD, {"duplicates": "earliest"}, "missing-column", {"column": "time"}),
        ("t.csv", "user,item\n,1\na,1\n,2\na,1\n", SHIFTED, "repeated-pair", {"rows": [2, 4]}),
    ],
)
def test_logs_that_are_wrong(
    write: Write, name: str, text: str, options: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    """What is wrong, and where; the file is always named."""
    with refuses(code, **fields) as said:
        read_log(write(name, text), **options)
    assert code == "unknown-name" or name in str(said.value)


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        ("1,1,1\n1,2,-3\n", "out-of-range", {"column": "rank", "row": 2}),
        ("1,1,1\n1,2,99999999999\n", "out-of-range", {"column": "rank", "row": 2}),
        ("1,1,1\n1,2,1.5\n", "not-an-integer", {"column": "rank", "row": 2}),
        ("1,1,1\n1,2,x\n", "not-a-number", {"column": "rank", "row": 2}),
        ("1,1,0\n1,2,-1\n1,3,1\n", "out-of-range", {"row": 1}),
        ("a,1,1\nb,1,1\nb,2,2\nb,3,1\n", "repeated-rank", {"rows": [2, 4]}),
        ("a,1,1\nb,1,2\nb,1,1\n", "repeated-item", {"rows": [2, 3]}),
    ],
)
def test_lists_that_are_wrong(write: Write, text: str, code: str, fields: dict[str, Any]) -> None:
    """Ranks are whole numbers from 1 on; none, and no item, is there twice; wrong rows go where that was asked for."""
    path = write("lists.csv", f"user,item,rank\n{text}")
    with refuses(code, **fields):
        read_recommendations(path)
    lists = read_recommendations(path, invalid="drop")
    assert len(lists.item) == text.count("\n") - sum(lists.account.dropped.values()) < text.count("\n")


def test_lists_without_an_order_of_ours(write: Write) -> None:
    """Lists numbered from 0 lose nothing: all ranks are one too low; without a rank there must be a score."""
    path = write("lists.csv", "user,item,rank\n1,1,0\n1,2,1\n")
    for invalid in ("error", "drop"):
        with refuses("ranks-from-zero"):
            read_recommendations(path, invalid=invalid)
    assert told(read_recommendations, write("lists.csv", GOOD)) == ("missing-column", "rank")
    frame = pl.DataFrame({"user": [1], "item": [1], "score": [float("nan")]})
    assert told(Recommendations.from_frame, frame) == ("not-a-number", "score")


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives the name of a data set is told how such sets are read; a folder without a table is no log."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.parquet").mkdir()
    for path, code in (("nowhere.csv", "missing-file"), ("coat", "missing-file"), ("log.parquet", "empty-folder")):
        assert refusal(read_log, path).code == code
    assert "us.load('coat')" in str(refusal(read_log, "coat"))


def test_a_column_cannot_be_kept_under_a_name_that_stands_for_another() -> None:
    """Keeping 'user' while user means 'u' would mix up two columns."""
    frame = pl.DataFrame({"user": [1], "u": [2], "item": [3]})
    assert told(Log.from_frame, frame, columns={"user": "u"}, keep=["user"]) == ("conflicting-arguments", "user")


@pytest.mark.parametrize("column", ["user", "item", "value", "time", "policy", "propensity"])
def test_nulls_in_any_used_column(write: Write, column: str) -> None:
    """An empty field in a used column is found, whichever it is."""
    full = {"user": 1, "item": 1, "value": 1, "time": 1, "policy": "a", "propensity": 0.5, "country": "se"}
    path = write("log.csv", pl.DataFrame([full, {**full, "user": 2, column: None}]).write_csv())
    with refuses("missing-value", column=column, row=2):
        read_log(path, keep=["country"])
    assert read_log(path, keep=["country"], invalid="drop").account.dropped == {f"null {column}": 1}


@pytest.mark.parametrize("column", ["user", "item", "policy"])
def test_an_empty_id_is_none(write: Write, column: str) -> None:
    """Who quotes all fields writes nulls as an empty text, in CSV and elsewhere."""
    row = {"user": "a", "item": "b", "policy": "c"}
    frame = pl.DataFrame([row, {**row, "user": "z", column: ""}])
    path = write("log.csv", frame.write_csv(quote_style="always"))
    both: list[tuple[Callable[..., Log], Any]] = [(read_log, path), (Log.from_frame, frame)]
    for read, source in (*both, (Log.from_frame, frame.cast(pl.Categorical))):
        with refuses("missing-value", column=column, row=2):
            read(source)
        assert read(source, invalid="drop").account.dropped == {f"null {column}": 1}
    with refuses("missing-value", row=2):
        count_items(path, columns={"item": column})


@pytest.mark.parametrize("value", ["abc", "nan", "inf", "1,5"])
def test_values_that_are_no_numbers(write: Write, value: str) -> None:
    """The first row with something else than a finite number is shown as it stands."""
    path = write("log.tsv", "user\titem\tvalue\n" + f"1\t1\t1.5\n1\t2\t{value}\n1\t3\t{value}\n")
    with refuses("not-a-number", column="value", row=2) as said:
        read_log(path)
    assert f"'{value}'" in str(said.value)
    dropped = read_log(path, invalid="drop")
    assert len(dropped) == 1 and sum(dropped.account.dropped.values()) == 2


SLASHED = [["10/02/2011 10:43", "11/02/2011 09:00"], ["10/25/2011", "11/02/2011"], ["10.02.2011"], ["10-02-2011 1:02"]]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("texts", SLASHED)
def test_dates_with_the_day_or_the_month_first_are_refused(texts: list[str], ending: str, tmp_path: Path) -> None:
    """Nobody can tell which of the two it is: no guess, and no advice to drop the rows that a guess cannot read.

    Rows that stream by are told the same.
    """
    frame = pl.DataFrame({"user": range(len(texts)), "item": 1, "when": texts})
    getattr(frame, f"write_{ending}")(path := tmp_path / f"log.{ending}")
    reads: list[Callable[..., object]] = [read_log, partial(sample_file, out=tmp_path / "out.csv", strategy="reg")]
    for read in reads:
        with refuses("bad-date", column="when", row=1) as said:
            read(path, columns={"time": "when"})
        assert "%m/%d/%Y" in str(said.value) and "invalid='drop'" not in str(said.value)


def test_among_other_dates_they_are_dropped_and_counted() -> None:
    """Where rows are dropped on request, such a date is one of them, never a guess; an empty time is another."""
    times = ["2011-10-02", "10/02/2011", None, "2011/10/03", "2011-10-04"]
    frame = pl.DataFrame({"user": range(5), "item": 1, "time": times})
    log = Log.from_frame(frame[[0, 1, 2, 4]], invalid="drop")
    assert dict(log.account.dropped) == {"time not readable": 1, "null time": 1} and len(log) == 2
    assert len(Log.from_frame(frame[[3]])) == 1


@pytest.mark.parametrize("text", ["1,0000", " -0,5", "1.234,5"])
def test_a_decimal_comma_is_named(text: str) -> None:
    """All numbers of such a file have one: dropping the rows is no remedy."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "value": ["1", text]})
    said = refusal(Log.from_frame, frame, feedback="ratings")
    assert said.fields["row"] == 2 and "0.5" in str(said) and "invalid='drop'" not in str(said)
    assert "invalid='drop'" in str(
        refusal(Log.from_frame, frame.with_columns(value=pl.lit("much")), feedback="ratings")
    )
