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
    """The table says 10 bytes where 100,000 are packed."""
    return one("u.data", b"0" * 100_000).replace(struct.pack("<L", 100_000), struct.pack("<L", 10))


def encrypted() -> bytes:
    """The table says that the entry is encrypted."""
    made = bytearray(one("u.data"))
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def twice() -> bytes:
    """The same file twice."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        for text in "ab":
            packed.writestr("u.data", text)
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
        (lambda: one("..\x1b[31m/x"), "wrong-dataset"),
        (lambda: one("ml-100k/u.data", external_attr=(stat.S_IFCHR | 0o666) << 16), "entry-not-a-file"),
        (lambda: one("ml-100k.zip", one("ml-100k/u.data")), "wrong-dataset"),
        (lambda: one("ml-100k/u.data", b"\x1b[31m1\t2\t3\t4\n" * 9), "wrong-dataset"),
        (lambda: one("ml-100k/u.data", b"9" * 3_000_000), "wrong-dataset"),
        (lambda: b"", "damaged-file"),
    ],
)
def test_hostile_archives_are_refused_whole(
    content: Callable[[], bytes], code: str, alone: Path, publisher: Publisher, tmp_path: Path
) -> None:
    """Whatever would leave the folder, link, overwrite or mislead is refused, and nothing at all is left behind."""
    publisher.answers[ZIP] = content()
    before = sorted(tmp_path.rglob("*"))
    with refuses(code) as said:
        datasets.fetch("ml-100k", mirror=publisher.url)
    assert "\x1b" not in str(said.value) and len(str(said.value)) < 1500
    assert left(alone) == []
    made = {alone.parent, alone, alone / "data"}
    assert set(tmp_path.rglob("*")) - set(before) <= made
    assert not Path("/evil").exists()


def test_bombs_are_refused_before_they_burst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that unpacks to more than the limit, or has too many entries, or a table that would fill the memory.

    The length of the table is known before it is read.
    """
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(one("zeros", b"\0" * 5_000_000))
    assert bomb.stat().st_size < 10_000
    with refuses("too-large"):
        unpack(bomb, tmp_path / "out", limit=1_000_000)
    for names, code in (
        ((f"{n}" for n in range(10_001)), "too-many-entries"),
        ((f"{n:030000}" for n in range(200)), ""),
    ):
        with zipfile.ZipFile(bomb, "w") as packed:
            for name in names:
                packed.writestr(name, b"")
        if not code:
            monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda *_: pytest.fail("the table was read"))
        with refuses(code or "too-large"):
            unpack(bomb, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_archive_with_a_comment_is_unpacked(tmp_path: Path) -> None:
    """The record at the end is found before a long comment."""
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("u.data", b"content")
        packed.comment = b"x" * 60_000
    unpack(archive, tmp_path)
    assert (tmp_path / "u.data").read_bytes() == b"content"
