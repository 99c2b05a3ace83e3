"""The same rows in every format, and what is wrong with files of each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.said import only, refusal, refuses, told
from unskew import evaluate
from unskew.log import Log, packed, read_log, read_recommendations

duckdb: Any = pytest.importorskip("duckdb")
pa: Any = pytest.importorskip("pyarrow")
ROWS = pl.DataFrame({"userId": [1, 1, 2], "sku": ["a", "b", "a"], "rating": [4.0, 2.5, 1.0], "ts": [30, 20, 10]})
PLACES = {"user": 1, "item": 2, "value": 3, "time": 4}


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def text(frame: pl.DataFrame, sign: str, *, header: bool = True) -> bytes:
    return frame.write_csv(separator=sign, include_header=header).encode()


def lines(frame: pl.DataFrame) -> bytes:
    return frame.write_ndjson().encode()


def double(frame: pl.DataFrame) -> bytes:
    return text(frame, "\t").replace(b"\t", b"::")


def duck(path: Path, frame: pl.DataFrame, table: str = "clicks") -> None:
    with duckdb.connect(str(path)) as database:
        rows = frame.to_arrow()  # noqa: F841 - DuckDB finds it by its name
        database.execute(f"create table {table} as select * from rows")


FORMATS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "t.csv": lambda f: text(f, ","),
    "semicolon.csv": lambda f: text(f, ";"),
    "t.tsv": lambda f: text(f, "\t"),
    "t.txt": lambda f: text(f, "|"),
    "t.dat": double,
    "t.inter": lambda f: text(f, "\t"),
    "mark.csv": lambda f: b"\xef\xbb\xbf" + text(f, ","),
    "comma.tsv": lambda f: text(f, ","),
    "T.CSV.gz": lambda f: gzip.compress(text(f, ",")),
    "parts.csv.gz": lambda f: gzip.compress(text(f[:1], ",")) + gzip.compress(text(f[1:], ",", header=False)),
    "t.csv.zst": lambda f: zstd(text(f, ",")),
    "t.dat.gz": lambda f: gzip.compress(double(f)),
    "t.jsonl": lines,
    "t.json": lines,
    "t.ndjson.gz": lambda f: gzip.compress(lines(f)),
    "t.jsonl.zst": lambda f: zstd(lines(f)),
}


def write(folder: Path, name: str, frame: pl.DataFrame) -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        frame.write_parquet(path)
    elif name.endswith(".arrow"):
        frame.write_ipc(path)
    elif name.endswith(".duckdb"):
        path.unlink(missing_ok=True)
        duck(path, frame)
    else:
        path.write_bytes(FORMATS[name](frame))
    return path


@pytest.mark.parametrize("name", [*FORMATS, "t.parquet", "t.arrow", "t.duckdb"])
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abc "), st.integers(0, 9)), min_size=1, max_size=9))
def test_the_same_rows_in_every_format(tmp_path: Path, name: str, rows: list[tuple[int, str, int]]) -> None:
    """As from a frame: users, items, values and times."""
    frame = pl.DataFrame(
        [(user, f"i{item.strip()}", value / 2, n) for n, (user, item, value) in enumerate(rows)],
        schema=dict(zip(ROWS.columns, (pl.Int64, pl.String, pl.Float64, pl.Int64), strict=True)),
        orient="row",
    ).unique(["userId", "sku"], keep="first", maintain_order=True)
    read = read_log(write(tmp_path, name, frame), feedback="ratings")
    assert read.to_frame().equals(Log.from_frame(frame, feedback="ratings").to_frame())
    assert read.account.columns == {"user": "userId", "item": "sku", "value": "rating", "time": "ts"}


@pytest.mark.parametrize("sign", [",", "\t", ";", "|", " ", "::"])
@pytest.mark.parametrize("front", ["", "\ufeff"])
def test_files_without_a_header(tmp_path: Path, sign: str, front: str) -> None:
    """Columns by place; the first line is a row, also behind a mark of UTF-8."""
    body = text(ROWS, "\t", header=False).decode().replace("\t", sign)
    (path := tmp_path / "u.data").write_text(front + body)
    read = read_log(path, columns=PLACES, feedback="ratings")
    assert read.to_frame().equals(Log.from_frame(ROWS, feedback="ratings").to_frame())
    wrong = path.with_suffix(".txt")
    wrong.write_text(body.replace("2.5", "good"))
    with refuses("not-a-number", column="3", row=2):
        read_log(wrong, columns=PLACES)
    assert told(read_log, path, columns={"user": 5, "item": 1})[0] == "no-header"


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        ('[{"user": 1, "item": 2}]', "wrong-shape", {}),
        ("user,item\n1,2\n", "wrong-extension", {}),
        ('{"user": 1, "item": 2}\n{"user": 1, "item": \n', "bad-line", {"line": 2}),
        ('{"user": 1, "item": 2}\n\n[1, 2]\n', "bad-line", {"line": 3}),
        ('{"user": 1, "item": 2} {"user": 1, "item": 3}\n', "bad-line", {"line": 1}),
        ('{"user": 1, "item": 2}\n{"user": 2}\n', "missing-value", {"column": "item", "row": 2}),
        ('{"user": 1, "item": [2]}\n', "wrong-type", {"column": "item"}),
        ('{"user": 1, "item": 2}\n\n{"user": 1, "item": 2, "user": 3}\n', "repeated-key", {"line": 3, "key": "user"}),
        ('{"user": 1}\n{"item": 1, "item": 2}', "repeated-key", {"line": 2, "key": "item"}),
        ('{"user": 1, "item": 2, "\\u0075ser": 3}\n', "repeated-key", {"line": 1, "key": "user"}),
        ('{"a": ["\\"},{"], "user": 1, "a" : ["x"], "item": 2}\n', "repeated-key", {"line": 1, "key": "a"}),
        ('{"user": 9007199254740993, "item": 2}\n{"user": 2.0, "item": 2}\n', "not-an-integer", {"column": "user"}),
    ],
)
def test_json_that_is_wrong(tmp_path: Path, content: str, code: str, fields: dict[str, Any]) -> None:
    (path := tmp_path / "t.jsonl").write_text(content)
    with refuses(code, **fields):
        read_log(path)


def test_keys_of_other_rows_texts_and_objects_are_no_repeats(tmp_path: Path) -> None:
    """A key stands once in its row, whatever the values hold; also one of very many."""
    rows = [
        {"user": "user", "item": '{"user": 1, "user": 2}', "more": {"item": 1, "user": [{"user": "item"}]}},
        {"item": "\\", "user": '"', "more": {"item": 2, "user": [{"user": ","}]}},
        {"user": 1, "item": 1, **{f"column {n}": n for n in range(300)}},
        {"us\u00e9r": 1, "user": 2, "item": 2},
    ]
    (path := tmp_path / "t.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert len(read_log(path)) == 4


def test_an_id_is_its_text_in_json_too(tmp_path: Path) -> None:
    """7 and "7" are the same id, "007" is another one."""
    (path := tmp_path / "t.jsonl").write_text(
        "\n".join(json.dumps({"user": user, "item": 1}) for user in (7, "007", "u", True))
    )
    assert sorted(read_log(path).users.values.to_list()) == ["007", "7", "true", "u"]


@given(st.text(":\tab\n", max_size=40).filter(lambda each: "\t" not in each), st.integers(1, 5))
def test_double_colons_across_blocks(content: str, size: int) -> None:
    """Whatever the blocks are, as if all were replaced at once."""
    data = content.encode()
    blocks = (memoryview(data[at : at + size]) for at in range(0, len(data), size))
    assert b"".join(packed._single(Path("t"), blocks)) == data.replace(b"::", b"\t")


def test_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list, a pattern, a folder or names with a comma; columns are matched in each, rows are named by their file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    ROWS[:2].write_csv("logs/jan.csv")
    ROWS[2:].rename({"userId": "CustomerID"}).write_csv("logs/feb.csv")
    whole = Log.from_frame(ROWS, feedback="ratings").to_frame()
    several: list[Any] = [["logs/jan.csv", Path("logs/feb.csv")], "logs/*.csv", "logs", "logs/jan.csv,logs/feb.csv"]
    for paths in several:
        read = read_log(paths, feedback="ratings")
        assert read.to_frame().equals(whole) and read.account.rows == 3
    pl.DataFrame({"userId": [3, None], "sku": ["c", "d"], "rating": [1.0, 1.0], "ts": [1, 2]}).write_csv("logs/mar.csv")
    with refuses("missing-value", column="CustomerID", row=2, file="logs/mar.csv"):
        read_log("logs")
    ROWS.drop("ts").write_csv("logs/mar.csv")
    assert told(read_log, "logs") == ("missing-column", "time")
    ROWS.write_parquet("logs/mar.parquet")
    assert refusal(read_log, "logs").code == "mixed-formats"
    assert refusal(read_log, ["logs/jan.csv", "logs/mar.parquet"]).code == "mixed-types"


def test_tables_of_duckdb(tmp_path: Path) -> None:
    """One table needs no name, others are listed; a view reads nothing outside, and nothing is written."""
    path = write(tmp_path, "shop.duckdb", ROWS)
    assert len(read_log(f"{path}::clicks")) == len(read_log(path)) == 3
    duck(path, ROWS, '"two ""words"""')
    assert refusal(read_log, path).code == "ambiguous-table"
    assert len(read_log(f'{path}::two "words"')) == 3
    duck(path, ROWS, '"day [1]?*"')
    assert len(read_log(f"{path}::day [1]?*")) == 3
    (tmp_path / "secret.csv").write_text("user,item\n1,2\n")
    with duckdb.connect(str(path)) as database:
        database.execute(f"create view outside as select * from read_csv('{tmp_path}/secret.csv')")
    (broken := tmp_path / "b.duckdb").write_text("user,item\n")
    for wrong, code in (
        (f"{path}::click", "unknown-table"),
        (f"{path}::outside", "unreadable-file"),
        (f"{broken}::t", "unreadable-file"),
        (f"{tmp_path}/none.duckdb::t", "missing-file"),
    ):
        assert refusal(read_log, wrong).code == code


def test_files_without_a_header_are_told_all_their_columns(tmp_path: Path) -> None:
    """Followed literally, the advice uses the ratings; who leaves a column out is told so; lists go by their name."""
    (path := tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t1\t891717742\n")
    with refuses("no-header", columns={"user": "1", "item": "2", "value": "3", "time": "4"}):
        read_log(path)
    only("unused-column", read_log(path, columns={"user": 1, "item": 2}).account.notes, column="3")
    assert not read_log(path, columns={"user": 1, "item": 2}, feedback="implicit").account.notes
    (als := tmp_path / "als.csv").write_text("196,242,1\n196,302,2\n")
    test = pl.DataFrame({"user": [196], "item": [242]})
    for columns, words in (
        (None, "columns={'als:user': '1', 'als:item': '2', 'als:rank': '3'}"),
        ({"als:user": 1, "als:item": 2}, "columns={'als:rank': '...'}"),
    ):
        assert words in str(refusal(evaluate, test, {"als": als}, columns=columns))
    (dated := tmp_path / "d.csv").write_text("7,b,2011-10-02 10:43,0.5\n")
    (scored := tmp_path / "s.csv").write_text("7,b,0.25\n")
    with refuses("no-header", columns={"user": "1", "item": "2", "time": "3", "value": "4"}):
        read_log(dated)
    with refuses("no-header", columns={"user": "1", "item": "2", "score": "3"}):
        read_recommendations(scored)


def test_a_header_is_no_row(tmp_path: Path) -> None:
    """Places where there is a header would make it a row; names where there is none would take a row for it."""
    (numbered := tmp_path / "n.csv").write_text("0,1,2\n5,6,7\n")
    for headed in (write(tmp_path, "t.csv", ROWS), numbered):
        assert refusal(read_log, headed, columns=PLACES).code == "unexpected-header"
    (bare := tmp_path / "b.csv").write_text("7,a,4.0\n")
    with refuses("no-header", columns={"user": "1", "item": "2", "value": "3"}):
        read_log(bare)
    assert refusal(read_log, bare, columns={"user": "1", "item": "sku"}).code == "no-header"
