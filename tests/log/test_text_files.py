"""Text files that are not what they seem: each is refused in one clear error, and no column is read for another."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.said import refusal, refuses, told
from unskew.log import packed as packed_module
from unskew.log import read_features, read_log, read_predictions, read_recommendations
from unskew.log import text as text_module
from unskew.log.population import read_catalogue, read_population
from unskew.propensity.counting import count_items

HEADER = "user,item,title,value,propensity,rank,prediction"
GOOD = "1,2,Heat,1,.3,1,.5"
LONG = "2,3,Me, Myself and Irene,1,.3,1,.5"
SHORT = "2,3,Me\n Myself,1,.3,1,.5"
READERS: dict[str, Callable[[Path], object]] = {
    "log": lambda path: read_log(path, feedback="ratings"),
    "dropping": lambda path: read_log(path, feedback="ratings", invalid="drop"),
    "implicit": lambda path: read_log(path, feedback="implicit"),
    "lists": read_recommendations,
    "predictions": read_predictions,
    "catalogue": read_catalogue,
    "population": read_population,
    "features": lambda path: read_features(path, "user"),
    "counts": count_items,
}


def put(path: Path, text: str) -> Path:
    """A file as its name says: packed, or separated by tabs."""
    text = text.replace(",", "\t") if ".tsv" in path.name else text
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
@pytest.mark.parametrize("reader", READERS)
def test_a_field_too_many_or_too_few(tmp_path: Path, reader: str, name: str) -> None:
    """Every reader looks at all fields, also at those of columns that it does not use."""
    for wrong in (LONG, SHORT):
        with refuses("field-count", line=3):
            READERS[reader](put(tmp_path / name, f"{HEADER}\n{GOOD}\n{wrong}\n"))


def test_quoted_fields_hold_anything(tmp_path: Path) -> None:
    """Separators, line ends and quotes in quotes are no fields, lines and ends; a line end at the end is optional."""
    path = put(tmp_path / "t.csv", 'user,title,item\r\n1,"a,b\n""c"" ",2\r\n2,5" disk and 3" disk,4\r\n3,,5')
    assert read_log(path).to_frame().rows() == [(1, 2), (2, 4), (3, 5)]


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        ('user,item,title\n1,2,a\n2,3,"b\n3,4,c\n', "open-quote", {"line": 3}),
        ('user,item,title\n1,2,a\n2,3,"b" c\n', "closed-quote", {"line": 3}),
        ('user,item,title\n1,2,a\n2,3,5" disk\n3,4,b\n', "stray-quote", {}),
        ("user,item\r1,2\r3,4\r", "bad-line-ends", {}),
        ("\n\n\r\n", "empty-file", {}),
        ("user,item,user\n1,2,3\n", "duplicate-column", {"column": "user"}),
        ("user,item, item \n1,2,3\n", "duplicate-column", {"column": "item"}),
        ("1,2\n3,4\n5,6\n", "no-header", {}),
        ("user,item\n1, 2\n", "padded-id", {"column": "item"}),
        ("user,item\n1,a\nb\u200b,a\n", "padded-id", {"column": "user"}),
        ("user,item\n1,a\n2,b\rc\n", "padded-id", {"column": "item"}),
        ("%PDF-1.4user,item\n1,2\n", "wrong-extension", {}),
        ("PAR1user,item\n1,2\n", "wrong-extension", {}),
        ("PK\x03\x04user,item\n1,2\n", "wrong-extension", {}),
        ("\ufeffuser,item,user\n1,2,3\n", "duplicate-column", {"column": "user"}),
        ('user,item,value\n1,"a\nb",1\n1,c,2\n2,d,1,5\n', "field-count", {"line": 5}),
        ("{}user,item\n1,2\n", "wrong-extension", {}),
        ("<html>user,item\n1,2\n", "wrong-extension", {}),
        ("\x1b[31muser,item\n1,2\n", "missing-column", {"column": "user"}),
    ],
)
def test_text_that_is_wrong(tmp_path: Path, content: str, code: str, fields: dict[str, Any]) -> None:
    """What is wrong, and where; no control character comes through."""
    with refuses(code, **fields) as said:
        read_log(put(tmp_path / "t.csv", content))
    assert not {"\x1b", "\r"} & set(str(said.value))


def test_what_is_packed_to_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused as soon as it has unpacked to more than any table does, or than memory holds; repetition is no crime."""
    monkeypatch.setattr(packed_module, "_HARMLESS", 1_000_000)
    rows = "".join(f"{user},{item}\n" for user in range(500) for item in range(500))
    assert len(read_log(put(tmp_path / "t.csv.gz", f"user,item\n{rows}"))) == 250_000
    bomb = put(tmp_path / "b.csv.gz", "user,item\n" + "1,2\n" * 1_000_000)
    assert refusal(read_log, bomb).code == "too-large"
    monkeypatch.setattr(packed_module, "_HARMLESS", 10**9)
    monkeypatch.setattr(packed_module, "available", lambda: 8_000_000)
    assert refusal(read_log, bomb).code == "not-enough-memory"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    """Wide text is recognised with and without its mark."""
    path = tmp_path / "t.csv"
    path.write_bytes("user,item\n1,2\n".encode(encoding))
    assert refusal(read_log, path).code == "wrong-encoding"


@pytest.mark.parametrize("packed", [False, True])
def test_what_has_no_header_is_refused_at_once(tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of zero, or a line that never ends: the first block is enough, however long the file is."""
    path = tmp_path / "t.csv"
    reads = []
    blocks = packed_module.blocks

    def counted(*args: Any, **how: Any) -> Any:
        for block in blocks(*args, **how):
            reads.append(len(block))
            yield block

    monkeypatch.setattr(text_module, "blocks", counted)
    for content, code in ((bytes(1 << 23), "wrong-encoding"), (b"ab" * (1 << 22), "bad-header")):
        path.write_bytes(gzip.compress(content, 1) if packed else content)
        assert refusal(read_log, path).code == code
    assert reads == [packed_module.BLOCK] * 2


@pytest.mark.parametrize("damage", ["cut", "tail", "flip", "twice"])
def test_damaged_archives(tmp_path: Path, damage: str) -> None:
    """Cut off, followed by something else, changed, packed twice."""
    good = gzip.compress(b"user,item\n" + b"".join(b"%d,%d\n" % (n, n * 7 % 31) for n in range(5000)))
    path = tmp_path / "t.csv.gz"
    middle = len(good) // 2
    path.write_bytes(
        {
            "cut": good[:middle],
            "tail": good + b"garbage",
            "flip": good[:middle] + bytes([good[middle] ^ 255]) + good[middle + 1 :],
            "twice": gzip.compress(good),
        }[damage]
    )
    assert refusal(read_log, path).code == ("wrong-extension" if damage == "twice" else "damaged-file")


def test_one_column_is_not_two(tmp_path: Path) -> None:
    """``--columns user=item`` without a word about the item."""
    path = put(tmp_path / "t.csv", "user,item\n1,2\n")
    assert told(read_log, path, columns={"user": "item"}) == ("shared-column", "item")
    assert read_log(path, columns={"user": "item", "item": "user"}).to_frame().rows() == [(2, 1)]
    users = put(tmp_path / "users.csv", "user,n\n1,2\n")
    assert read_population(users, columns={"relevant": "n"}, keep=["n"]).columns["n"].to_list() == ["2"]
