"""Fetching a data set: hostile archives."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import unskew as us
from tests.log.publisher import ZIP, Publisher, left, one
from unskew.log import datasets
from unskew.log.datasets.archive import unpack


def lying() -> bytes:
    """An archive whose table says 10 bytes where 100,000 are packed."""
    made = one("u.data", b"0" * 100_000)
    return made.replace(struct.pack("<L", 100_000), struct.pack("<L", 10))


def encrypted() -> bytes:
    """An archive whose table says that its entry is encrypted."""
    made = bytearray(one("u.data"))
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def twice() -> bytes:
    """An archive with the same file twice."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("u.data", "a")
        packed.writestr("u.data", "b")
    return made.getvalue()


LINK = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda: one("../evil"), "leave the target"),
        (lambda: one("ml-100k/../../evil"), "leave the target"),
        (lambda: one("/evil"), "leave the target"),
        (lambda: one("C:/evil"), "leave the target"),
        (lambda: one("..\\evil"), "leave the target"),
        (lambda: one("a/" * 2_000 + "u.data"), "folders deep"),
        (lambda: one("u.data", b"/etc/passwd", external_attr=LINK), "link or a device"),
        (lambda: one("u.data", external_attr=(stat.S_IFIFO | 0o666) << 16), "link or a device"),
        (encrypted, "encrypted"),
        (lambda: one("u.data", compress_type=zipfile.ZIP_BZIP2), "unusual"),
        (lying, "damaged"),
        (twice, "two entries of the same name"),
        (lambda: b"<html>Please log in</html>", "damaged"),
        (lambda: one("u.data", b"0" * 1000)[:-30], "damaged"),
        (lambda: one("u.data/"), "is missing"),
        (lambda: one("readme.txt"), r"u\.data, u\.user, u\.item is missing"),
    ],
)
def test_hostile_archives_are_refused_whole(
    content: Callable[[], bytes], words: str, alone: Path, publisher: Publisher, tmp_path: Path
) -> None:
    """Whatever would leave the folder, link, overwrite or mislead is refused, and nothing at all is left behind."""
    publisher.answers[ZIP] = content()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(us.InputError, match=words):
        datasets.fetch("ml-100k", mirror=publisher.url)
    assert left(alone) == []
    made = {alone.parent, alone, alone / "data"}
    assert set(tmp_path.rglob("*")) - set(before) <= made
    assert not Path("/evil").exists()


def test_bombs_are_refused_before_they_burst(tmp_path: Path) -> None:
    """An archive that unpacks to more than the limit, or holds too many entries, is not unpacked at all."""
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(one("zeros", b"\0" * 5_000_000))
    assert bomb.stat().st_size < 10_000
    with pytest.raises(us.InputError, match="5,000,000 bytes"):
        unpack(bomb, tmp_path / "out", limit=1_000_000)
    with zipfile.ZipFile(bomb, "w") as packed:
        for number in range(10_001):
            packed.writestr(str(number), b"")
    with pytest.raises(us.InputError, match="10,001 entries"):
        unpack(bomb, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_table_of_contents_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The length of the table is known before it is read: entries that take up nothing but the table are refused."""
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w") as packed:
        for number in range(200):
            packed.writestr(f"{number:030000}", b"")
    monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda *_: pytest.fail("the table was read"))
    with pytest.raises(us.InputError, match=r"table of contents has 6,\d{3},\d{3} bytes"):
        unpack(bomb, tmp_path / "out")


def test_an_archive_with_a_comment_is_unpacked(tmp_path: Path) -> None:
    """The record at the end is found before a long comment."""
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("u.data", b"content")
        packed.comment = b"x" * 60_000
    unpack(archive, tmp_path)
    assert (tmp_path / "u.data").read_bytes() == b"content"
