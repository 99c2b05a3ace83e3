"""Whatever is wrong with an input is named: the file, the column, the first offending row, the remedy."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from unskew.errors import InputError
from unskew.log import Log, Recommendations, read_log, read_recommendations
from unskew.log.stream import Stream
from unskew.propensity.counting import count_items

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return to


def message(read: Callable[..., object], *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    return str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The path is named, and from where it was looked for."""
    assert "nowhere.csv: there is no such file" in message(read_log, tmp_path / "nowhere.csv")


def test_the_name_of_a_data_set_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives a name where a file is asked for is told how such sets are read."""
    monkeypatch.chdir(tmp_path)
    assert "us.load('coat')" in message(read_log, "coat")


def test_a_directory(tmp_path: Path) -> None:
    """A directory without a table is not a log, whatever it is called."""
    (tmp_path / "log.parquet").mkdir()
    assert "log.parquet: the folder holds no" in message(read_log, tmp_path / "log.parquet")


def test_an_empty_file(write: Write) -> None:
    """A file without a byte and a file without a row are told apart."""
    assert "empty.csv: the file is empty" in message(read_log, write("empty.csv", ""))
    assert "header.csv: there are no rows" in message(read_log, write("header.csv", "user,item\n"))


@pytest.mark.parametrize("name", ["log.xls", "log.xml.gz", "log", "log.parquet.gz"])
def test_an_unknown_ending(write: Write, name: str) -> None:
    """The formats that can be read are named."""
    said = message(read_log, write(name, "user,item\n1,2\n"))
    assert name in said and ".csv, .tsv" in said and ".parquet" in said


@pytest.mark.parametrize(
    ("name", "text"),
    [("log.parquet", "user,item\n1,2\n"), ("log.csv.gz", "\x1f\x8b\x08junk")],
)
def test_an_unreadable_file(write: Write, name: str, text: str) -> None:
    """What the reader stumbles over becomes an error that names the file."""
    path = write(name, "")
    path.write_bytes(text.encode("latin-1"))
    assert f"{path}: the file cannot be " in message(read_log, path)


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz"])
def test_a_line_with_too_many_fields(tmp_path: Path, name: str) -> None:
    """The line is named as an editor counts, header and quoted line breaks included."""
    text = 'user,item,value\n1,"a\nb",1\n1,c,2\n2,d,1,5\n3,e,1\n'
    text = text.replace(",", "\t") if ".tsv" in name else text
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    said = message(read_log, path)
    assert f"{path}: line 5 has 4 fields, but the header has 3.\n" in said and "double quotes" in said


def test_a_line_with_too_few_fields(write: Write) -> None:
    """It is cut off, or a line break stands in a field: rows may not be dropped for that either."""
    path = write("log.csv", "user,item,title\n1,1,a\n1,2\n")
    for invalid in ("error", "drop"):
        said = message(read_log, path, invalid=invalid)
        assert "line 3 has 2 fields, but the header has 3.\n" in said and "line break" in said


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz"])
def test_binary_files_that_are_called_text(tmp_path: Path, name: str) -> None:
    """A Parquet file or a spreadsheet is recognised, and none of its bytes are shown."""
    path = tmp_path / name
    pl.DataFrame({"user": [1], "item": [1]}).write_parquet(path)
    said = message(read_log, path)
    assert (
        said == f"{path}: the name says text, but the content is a Parquet file.\nGive it a name that ends in .parquet."
    )
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    said = message(read_recommendations, path)
    assert "the content is a spreadsheet or a zip archive.\nSave the sheet as CSV" in said


def test_ranks_that_start_at_0(write: Write) -> None:
    """Lists numbered from 0 are told to add 1, and lose nothing; a negative rank among them is another mistake."""
    path = write("lists.csv", "user,item,rank\n1,1,0\n1,2,1\n")
    for invalid in ("error", "drop"):
        said = message(read_recommendations, path, invalid=invalid)
        assert "row 1 (not counting the header) has 0 (rows with 0: 1).\nDo your ranks start at 0?" in said
    assert "add 1" not in message(read_recommendations, write("lists.csv", "user,item,rank\n1,1,0\n1,2,-1\n"))


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """A wrong encoding is said to be one."""
    path = tmp_path / "log.csv"
    path.write_bytes("user,item\nMüller,1\n".encode("latin-1"))
    assert "UTF-8" in message(read_log, path)


def test_a_missing_column(write: Write) -> None:
    """The columns that are there, the likely one, and how to say so."""
    said = message(read_log, write("log.csv", "kind,user_name,item\n1,2,3\n"))
    assert "log.csv: there is no column 'user'; the columns are: kind, user_name, item." in said
    assert "Did you mean 'user_name'? Say so with columns={'user': 'user_name'}" in said


def test_a_missing_column_without_a_likely_one(write: Write) -> None:
    """Without a guess the remedy still says what to write."""
    assert "columns={'user': '...'}" in message(read_log, write("log.csv", "a,item\n1,2\n"))


def test_a_column_that_was_named_but_is_not_there(write: Write) -> None:
    """An optional column becomes required once it is asked for."""
    path = write("log.csv", "user,item,stars\n1,2,3\n")
    assert "no column 'star'" in message(read_log, path, columns={"value": "star"})
    assert "Did you mean 'stars'?" in message(read_log, path, keep=["star"])
    assert "none of user, item, value" in message(read_log, path, columns={"usr": "user"})


def test_a_column_cannot_be_kept_under_a_name_that_stands_for_another() -> None:
    """Keeping 'user' while user means 'u' would mix up two columns."""
    frame = pl.DataFrame({"user": [1], "u": [2], "item": [3]})
    assert "'user' stands for 'u'" in message(Log.from_frame, frame, columns={"user": "u"}, keep=["user"])


def test_another_separator(write: Write) -> None:
    """A header without the usual separator is looked at for another one; a frame that was read without it says so."""
    for name, sign in (("log.csv", ";"), ("log.csv", "\t"), ("log.csv", "|"), ("log.tsv", ",")):
        assert len(read_log(write(name, f"user{sign}item\n1{sign}2\n"))) == 1
    assert "separated by ';'" in message(Log.from_frame, pl.DataFrame({"user;item": ["1;2"]}))


@pytest.mark.parametrize("column", ["user", "item", "value", "time", "policy", "propensity"])
def test_nulls_in_any_used_column(write: Write, column: str) -> None:
    """An empty field in a used column is found, whichever it is."""
    full = {"user": 1, "item": 1, "value": 1, "time": 1, "policy": "a", "propensity": 0.5, "country": "se"}
    holes = {**full, "user": 2, column: None}
    path = write("log.csv", pl.DataFrame([full, holes]).write_csv())
    said = message(read_log, path, keep=["country"])
    assert f"log.csv: column '{column}' must have a value in every row; row 2 (not counting the header)" in said
    assert read_log(path, keep=["country"], invalid="drop").account.dropped == {f"null {column}": 1}


@pytest.mark.parametrize("column", ["user", "item", "policy"])
def test_an_empty_id_is_none(write: Write, column: str) -> None:
    """Who quotes all fields writes nulls as an empty text, in CSV and elsewhere."""
    row = {"user": "a", "item": "b", "policy": "c"}
    frame = pl.DataFrame([row, {**row, "user": "z", column: ""}])
    path = write("log.csv", frame.write_csv(quote_style="always"))
    both: list[tuple[Callable[..., Log], Any]] = [(read_log, path), (Log.from_frame, frame)]
    for read, source in (*both, (Log.from_frame, frame.cast(pl.Categorical))):
        assert f"column '{column}' must have a value in every row; row 2" in message(read, source)
        assert read(source, invalid="drop").account.dropped == {f"null {column}": 1}
    assert "must have a value in every row; row 2" in message(count_items, path, columns={"item": column})


def test_the_message_names_the_column_as_the_file_does(write: Write) -> None:
    """The reader of the message looks for the name in the file, not for ours."""
    path = write("log.csv", "customer,item\n1,1\n,2\n")
    assert "column 'customer'" in message(read_log, path, columns={"user": "customer"})


@pytest.mark.parametrize("value", ["abc", "nan", "inf", "1,5"])
def test_values_that_are_no_numbers(write: Write, value: str) -> None:
    """The first row with something else than a finite number is shown as it stands."""
    path = write("log.tsv", "user\titem\tvalue\n" + f"1\t1\t1.5\n1\t2\t{value}\n1\t3\t{value}\n")
    said = message(read_log, path)
    assert "log.tsv: column 'value' must hold" in said and f"row 2 (not counting the header) has '{value}'" in said
    dropped = read_log(path, invalid="drop")
    assert len(dropped) == 1 and sum(dropped.account.dropped.values()) == 2


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.0001])
def test_propensities_outside_their_range(tmp_path: Path, wrong: float) -> None:
    """The sentence of the style guide: what, where, what to do."""
    rows = 1300
    propensity = [0.5] * rows
    propensity[1203] = wrong
    path = tmp_path / "test.parquet"
    pl.DataFrame({"user": range(rows), "item": range(rows), "propensity": propensity}).write_parquet(path)
    said = message(read_log, path)
    assert f"test.parquet: column 'propensity' must lie in (0, 1]; row 1,204 has {wrong}.\n" in said
    assert "invalid='drop'" in said
    log = read_log(path, invalid="drop")
    assert log.account.dropped == {"propensity outside (0, 1]": 1} and log.account.rows == rows == len(log) + 1


@pytest.mark.parametrize(("time", "shown"), [("1.5", "'1.5'"), ("noon", "'noon'")])
def test_times_that_are_none(write: Write, time: str, shown: str) -> None:
    """A time is a whole number, a date or a datetime."""
    said = message(read_log, write("log.csv", f"user,item,time\n1,1,7\n1,2,{time}\n"))
    assert "column 'time' must hold whole numbers, dates or datetimes" in said and f"has {shown}" in said


def test_a_datetime_that_does_not_exist(write: Write) -> None:
    """30 February is found in a column of dates."""
    said = message(read_log, write("log.csv", "user,item,time\n1,1,2024-01-02\n1,2,2024-02-30\n"))
    assert "row 2" in said and "'2024-02-30'" in said


@pytest.mark.parametrize(
    ("column", "values"),
    [("user", [[1], [2]]), ("value", [[1.0], [2.0]]), ("time", [dt.time(1), dt.time(2)])],
)
def test_columns_of_an_impossible_type(column: str, values: list[Any]) -> None:
    """A type that is wrong in every row is an error even when rows may be dropped."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2]}).with_columns(pl.Series(column, values))
    assert f"frame: column '{column}' must hold" in message(Log.from_frame, frame, invalid="drop")


def test_ids_that_are_fractions() -> None:
    """1.5 is no id; 2.0 is the integer 2, as pandas writes it next to nulls."""
    frame = pl.DataFrame({"user": [2.0, 1.5], "item": [1, 2]})
    assert "column 'user' must hold whole numbers or text; row 2 has 1.5" in message(Log.from_frame, frame)
    assert Log.from_frame(frame, invalid="drop").users.values.to_list() == [2]


def test_a_repeated_pair(write: Write) -> None:
    """The first row that repeats a pair is named with the row that it repeats."""
    path = write("log.csv", "user,item,value\n9,9,1\nb,1,1\na,1,1\nb,1,0\na,1,1\n")
    said = message(read_log, path)
    assert "the pair of user 'b' and item 1 is there twice, in row 2 and row 4 (not counting the header)" in said
    assert "duplicates='first', last or max" in said


def test_row_numbers_are_those_of_the_file_even_when_rows_were_dropped(write: Write) -> None:
    """Dropped rows do not shift the row numbers of later messages."""
    path = write("log.csv", "user,item\n,1\na,1\n,2\na,1\n")
    assert "row 2 and row 4" in message(read_log, path, invalid="drop", duplicates="error")


def test_nothing_left(write: Write) -> None:
    """Dropping everything is an error that says why."""
    said = message(read_log, write("log.csv", "user,item\n,1\n,2\n"), invalid="drop")
    assert "no rows are left; 2 × null user were dropped" in said


def test_feedback_that_the_columns_cannot_hold(write: Write) -> None:
    """Outcomes need values, conversions are not negative, and unknown kinds are unknown."""
    plain, valued = write("a.csv", "user,item\n1,1\n"), write("b.csv", "user,item,value\n1,1,1\n1,2,-1\n")
    assert "a.csv: feedback 'ratings' needs a column 'value'" in message(read_log, plain, feedback="ratings")
    assert "a.csv: feedback 'conversions' needs" in message(read_log, plain, feedback="conversions")
    assert "column 'value' must not be negative; row 2" in message(read_log, valued, feedback="conversions")
    assert "Known: implicit, conversions, ratings" in message(read_log, plain, feedback="clicks")
    assert read_log(valued, feedback="conversions", invalid="drop").account.dropped == {"negative value": 1}


def test_options_that_do_not_exist(write: Write) -> None:
    """Misspelt options name the known ones."""
    path = write("log.csv", "user,item\n1,1\n")
    assert "error, drop" in message(read_log, path, invalid="ignore")
    assert "error, first, last, max" in message(read_log, path, duplicates="any")
    assert "a.csv" not in message(Log.from_frame, [1, 2]) and "not a dataframe" in message(Log.from_frame, [1])


@pytest.mark.parametrize("rank", ["-3", "1.5", "x", "99999999999"])
def test_ranks_that_are_none(write: Write, rank: str) -> None:
    """A rank is a whole number from 1 on."""
    path = write("lists.csv", f"user,item,rank\n1,1,1\n1,2,{rank}\n")
    said = message(read_recommendations, path)
    assert "lists.csv: column 'rank' must hold whole numbers from 1" in said
    assert f"row 2 (not counting the header) has '{rank}'" in said
    lists = read_recommendations(path, invalid="drop")
    assert len(lists.item) == 1 and sum(lists.account.dropped.values()) == 1


def test_repeats_in_a_list(write: Write) -> None:
    """A rank or an item that a user has twice is named with user and rows."""
    ranks = write("ranks.csv", "user,item,rank\na,1,1\nb,1,1\nb,2,2\nb,3,1\n")
    items = write("items.csv", "user,item,rank\na,1,1\nb,1,2\nb,1,1\n")
    said = message(read_recommendations, ranks)
    assert "ranks.csv: column 'rank' repeats rank 1 of user 'b', in row 2 and row 4 (not counting the header)" in said
    said = message(read_recommendations, items)
    assert "items.csv: column 'item' repeats item 1 of user 'b', in row 2 and row 3 (not counting the header)" in said


def test_lists_without_an_order(write: Write) -> None:
    """Lists need a rank or a score."""
    path = write("lists.csv", "user,item\n1,1\n")
    said = message(read_recommendations, path)
    assert "lists.csv: there is neither a column 'rank' nor a column 'score'" in said and "read_predictions" in said
    frame = pl.DataFrame({"user": [1], "item": [1], "score": [float("nan")]})
    assert "column 'score' must hold finite numbers; row 1" in message(Recommendations.from_frame, frame)


def test_features_are_not_guessed_to_be_users(write: Write) -> None:
    """What describes a user is none: neither a feature by its name nor one of a numbered series."""
    for names in ("user_feature_3", "user_embedding", "user_1,user_2"):
        said = message(read_log, write("log.csv", f"{names},item\n1,2,3\n"))
        assert "Did you mean" not in said and "columns={'user': '...'}" in said
    assert "Did you mean 'user1'?" in message(read_log, write("log.csv", "user1,item\n1,2\n"))


SLASHED = [["10/02/2011 10:43", "11/02/2011 09:00"], ["10/25/2011", "11/02/2011"], ["10.02.2011"], ["10-02-2011 1:02"]]


@pytest.mark.parametrize("texts", SLASHED)
def test_dates_with_the_day_or_the_month_first_are_refused(texts: list[str], tmp_path: Path) -> None:
    """Nobody can tell which of the two it is: no guess, and no advice to drop the rows that a guess cannot read."""
    frame = pl.DataFrame({"user": range(len(texts)), "item": 1, "when": texts})
    frame.write_csv(tmp_path / "log.csv")
    frame.write_parquet(tmp_path / "log.parquet")
    for path in (tmp_path / "log.csv", tmp_path / "log.parquet"):
        said = message(read_log, path, columns={"time": "when"})
        assert "column 'when' must hold dates in ISO 8601" in said and "row 1 " in said
        assert "%m/%d/%Y" in said and "invalid='drop'" not in said


def test_among_other_dates_they_are_dropped_and_counted() -> None:
    """Where rows are dropped on request, such a date is one of them, never a guess; an empty time is another."""
    times = ["2011-10-02", "10/02/2011", None, "2011/10/03", "2011-10-04"]
    frame = pl.DataFrame({"user": range(5), "item": 1, "time": times})
    log = Log.from_frame(frame[[0, 1, 2, 4]], invalid="drop")
    assert dict(log.account.dropped) == {"time not readable": 1, "null time": 1} and len(log) == 2
    assert len(Log.from_frame(frame[[3]])) == 1


def test_readers_of_pieces_refuse_them_too(tmp_path: Path) -> None:
    """Rows that stream by are told what is wrong in the same words."""
    path = tmp_path / "log.parquet"
    pl.DataFrame({"user": [1, 2], "item": [1, 2], "time": ["10/02/2011", "11/02/2011"]}).write_parquet(path)
    (file,) = Stream.open(path, ("user", "item"), None, ("time",)).files
    said = message(lambda: list(file.pieces({"user": pl.Int64(), "item": pl.Int64(), "time": pl.Int64()})))
    assert "must hold dates in ISO 8601" in said and "row 1 has '10/02/2011'" in said


@pytest.mark.parametrize("text", ["1,0000", " -0,5", "1.234,5"])
def test_a_decimal_comma_is_named(text: str) -> None:
    """All numbers of such a file have one: dropping the rows is no remedy."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "value": ["1", text]})
    said = message(Log.from_frame, frame, feedback="ratings")
    assert "row 2 has" in said and "decimal point" in said and "invalid='drop'" not in said
    assert "invalid='drop'" in message(Log.from_frame, frame.with_columns(value=pl.lit("much")), feedback="ratings")
