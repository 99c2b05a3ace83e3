"""Fetching a data set: whole and checked, or not at all; the publisher is a server on the loopback."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.log.copies import COUNTS, Copies, counts, link
from tests.log.publisher import ZIP, Publisher, left, one, zipped
from tests.said import refuses
from unskew.log import datasets

FETCHED = ("ml-100k", "movietweetings", "open-bandit")
fetch = partial(datasets.fetch, "ml-100k")


@pytest.fixture
def offered(copies: Copies, publisher: Publisher) -> Publisher:
    """ml-100k comes as an archive."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    return publisher


@pytest.mark.parametrize("name", FETCHED)
def test_sets_are_fetched_checked_and_loaded(name: str, copies: Copies, alone: Path, offered: Publisher) -> None:
    """From an archive or file by file, into the folder of the set in the cache; nothing else stays."""
    for download in datasets.source_of(name).downloads if name != "ml-100k" else ():
        offered.answers["/" + download.url.split("/", 3)[3]] = (copies(name) / download.to).read_bytes()
    stages: list[tuple[str, int, int]] = []
    folder = datasets.fetch(name, mirror=offered.url + "/", progress=lambda *told: stages.append(told))
    assert folder == alone / "data" / name == datasets.folder_of(name)
    assert counts(us.load(name)) == COUNTS[name] and left(alone) == [name]
    assert stages[-1][1] == stages[-1][2] > 0


def test_what_is_here_is_not_fetched(copies: Copies, alone: Path, offered: Publisher) -> None:
    """A copy on this machine is enough; only 'again' asks the publisher, and then replaces the cached one."""
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    assert fetch(mirror=offered.url) == place
    assert offered.asked == [] and place.is_symlink()
    assert fetch(mirror=offered.url, again=True) == place
    assert offered.asked == [ZIP] and not place.is_symlink() and left(alone) == ["ml-100k"]


@pytest.mark.parametrize("name", sorted(set(datasets.NAMES) - set(FETCHED)))
def test_what_may_not_be_fetched_is_refused(name: str, alone: Path, publisher: Publisher) -> None:
    """Without a licence to download, or a form that is read here, the user is told what to do."""
    with refuses("not-downloadable", dataset=name):
        datasets.fetch(name, mirror=publisher.url)
    assert publisher.asked == [] and left(alone) == []


@pytest.mark.parametrize("archive", ["another set", "no set"])
def test_a_failed_fetch_keeps_the_old_copy(
    archive: str, copies: Copies, alone: Path, publisher: Publisher, tmp_path: Path
) -> None:
    """What came is read before it is kept."""
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    (other := tmp_path / "other").mkdir()
    for path in copies("ml-100k").iterdir():
        (other / path.name).write_bytes(path.read_bytes()[: 20 if path.name == "u.data" else None])
    publisher.answers[ZIP] = one("readme.txt") if archive == "no set" else zipped(other, "ml-100k")
    with refuses("wrong-dataset", dataset="ml-100k"):
        fetch(mirror=publisher.url, again=True)
    assert left(alone) == ["ml-100k"] and datasets.folder_of("ml-100k") == place


def test_an_interrupted_fetch_leaves_nothing(alone: Path, offered: Publisher) -> None:
    """Ctrl-C in the middle of a download removes what had come."""

    def stop(*_: Any) -> None:
        assert any(path.suffix == ".zip" for path in (alone / "data").rglob("*"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(mirror=offered.url, progress=stop)
    assert left(alone) == []


@pytest.mark.parametrize("before", ["a link that leads nowhere", "a killed download"])
def test_what_was_left_is_no_obstacle(before: str, alone: Path, offered: Publisher) -> None:
    """It goes, and the set is there."""
    place, dead = alone / "data" / "ml-100k", alone / "data" / ".unskew-1-dead.tmp"
    place.parent.mkdir(parents=True)
    if before == "a killed download":
        dead.mkdir()
        (dead / "archive.zip").write_bytes(b"half")
    else:
        place.symlink_to(alone / "gone")
    assert fetch(mirror=offered.url) == place
    assert not place.is_symlink() and counts(us.load("ml-100k")) == COUNTS["ml-100k"] and left(alone) == ["ml-100k"]


def test_every_publisher_is_asked_over_https() -> None:
    """The addresses in the readers are https, and files stay inside the set's folder."""
    for source in map(datasets.source_of, datasets.NAMES):
        assert source.downloads or source.about.obtain
        for download in source.downloads:
            assert download.url.startswith("https://")
            assert ".." not in download.to and not download.to.startswith("/")


def test_a_wrong_checksum_is_refused(alone: Path, offered: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was given, or that of the publisher's own file; the right one is taken."""
    right = hashlib.sha256(offered.answers[ZIP]).hexdigest()  # type: ignore[arg-type]
    with refuses("wrong-checksum"):
        fetch(mirror=offered.url, sha256=["00ff"])
    source = datasets.source_of("ml-100k")
    monkeypatch.setattr(type(source), "downloads", (replace(source.downloads[0], url=offered.url + ZIP),))
    with refuses("wrong-checksum"):
        fetch()
    assert left(alone) == []
    fetch(sha256=["00ff", right.upper()])
    assert left(alone) == ["ml-100k"]


def test_a_copy_that_changed_since_it_was_downloaded_is_refused(alone: Path, offered: Publisher) -> None:
    """The same counts, another rating: only the checksum tells."""
    folder = fetch(mirror=offered.url)
    us.load("ml-100k")
    ratings = (folder / "u.data").read_text()
    user, item, value, rest = ratings.split("\t", 3)
    (folder / "u.data").write_text("\t".join((user, item, "1" if value != "1" else "2", rest)))
    with refuses("wrong-checksum") as said:
        us.load("ml-100k")
    assert "u.data" in str(said.value) and "ml-100k --again" in str(said.value)
    (folder / "SHA256SUMS").write_bytes(b"\xff")
    with refuses("damaged-file"):
        us.load("ml-100k")
