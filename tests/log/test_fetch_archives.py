"""Fetching a data set: hostile archives."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.log.publisher import ZIP, Publisher, left, one
from tests.said import refuses
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
    ("content", "code"),
    [
        (lambda: one("../evil"), "entry-outside"),
        (lambda: one("ml-100k/../../evil"), "entry-outside"),
        (lambda: one("/evil"), "entry-outside"),
        (lambda: one("C:/evil"), "entry-outside"),
        (lambda: one("..\\evil"), "entry-outside"),
        (lambda: one("a/" * 2_000 + "u.data"), "entry-too-deep"),
        (lambda: one("u.data", b"/etc/passwd", external_attr=LINK), "entry-not-a-file"),
        (lambda: one("u.data", external_attr=(stat.S_IFIFO | 0o666) << 16), "entry-not-a-file"),
        (encrypted, "entry-encrypted"),
        (lambda: one("u.data", compress_type=zipfile.ZIP_BZIP2), "entry-encrypted"),
        (lying, "damaged-file"),
        (twice, "repeated-entry"),
        (lambda: b"<html>Please log in</html>", "damaged-file"),
        (lambda: one("u.data", b"0" * 1000)[:-30], "damaged-file"),
        (lambda: one("u.data/"), "wrong-dataset"),
        (lambda: one("readme.txt"), "wrong-dataset"),
    ],
)
def test_hostile_archives_are_refused_whole(
    content: Callable[[], bytes], code: str, alone: Path, publisher: Publisher, tmp_path: Path
) -> None:
    """Whatever would leave the folder, link, overwrite or mislead is refused, and nothing at all is left behind."""
    publisher.answers[ZIP] = content()
    before = sorted(tmp_path.rglob("*"))
    with refuses(code):
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
    with refuses("too-large"):
        unpack(bomb, tmp_path / "out", limit=1_000_000)
    with zipfile.ZipFile(bomb, "w") as packed:
        for number in range(10_001):
            packed.writestr(str(number), b"")
    with refuses("too-many-entries"):
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
    with refuses("too-large"):
        unpack(bomb, tmp_path / "out")


def test_an_archive_with_a_comment_is_unpacked(tmp_path: Path) -> None:
    """The record at the end is found before a long comment."""
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("u.data", b"content")
        packed.comment = b"x" * 60_000
    unpack(archive, tmp_path)
    assert (tmp_path / "u.data").read_bytes() == b"content"
