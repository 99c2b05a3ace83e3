"""Fetching a data set: whole and checked, or not at all; the publisher is a server on the loopback."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.log.copies import COUNTS, Copies, counts, link
from tests.log.publisher import ZIP, Publisher, left, one, zipped
from tests.said import refuses
from unskew.log import datasets


def test_an_archive_is_fetched_checked_and_loaded(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """ml-100k: the archive's top folder becomes the set's folder in the cache, and nothing else stays."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    stages: list[tuple[str, int, int]] = []
    folder = datasets.fetch("ml-100k", mirror=publisher.url, progress=lambda *told: stages.append(told))
    assert folder == alone / "data" / "ml-100k" == datasets.folder_of("ml-100k")
    assert counts(us.load("ml-100k")) == COUNTS["ml-100k"]
    assert left(alone) == ["ml-100k"]
    assert stages[-1] == ("downloading ml-100k.zip", len(publisher.answers[ZIP]), len(publisher.answers[ZIP]))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["movietweetings", "open-bandit"])
def test_single_files_are_fetched(name: str, copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Sets that are published file by file arrive in the folders that the reader expects."""
    for download in datasets.source_of(name).downloads:
        path = "/" + download.url.split("/", 3)[3]
        publisher.answers[path] = (copies(name) / download.to).read_bytes()
    datasets.fetch(name, mirror=publisher.url + "/")
    assert counts(us.load(name)) == COUNTS[name]
    assert left(alone) == [name]


def test_what_is_here_is_not_fetched(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """A copy on this machine is enough; only 'again' asks the publisher, and then replaces the cached one."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    assert datasets.fetch("ml-100k", mirror=publisher.url) == place
    assert publisher.asked == [] and place.is_symlink()
    assert datasets.fetch("ml-100k", mirror=publisher.url, again=True) == place
    assert publisher.asked == [ZIP] and not place.is_symlink()
    assert left(alone) == ["ml-100k"]


@pytest.mark.parametrize("name", ["coat", "online-retail", "yahoo-r3"])
def test_what_may_not_be_fetched_is_refused(name: str, alone: Path, publisher: Publisher) -> None:
    """Without a licence to download, or a form that is read here, the user is told what to do."""
    with refuses("not-downloadable", dataset=name):
        datasets.fetch(name, mirror=publisher.url)
    assert publisher.asked == [] and left(alone) == []


def test_an_archive_with_another_set_is_refused(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """What came is read before it is kept; the message names the file as it stands in the archive."""
    content = io.BytesIO(zipped(copies("ml-100k"), "ml-100k"))
    with zipfile.ZipFile(content) as packed:
        files = {entry.filename: packed.read(entry) for entry in packed.infolist() if not entry.is_dir()}
    files["ml-100k/u.data"] = files["ml-100k/u.data"][: files["ml-100k/u.data"].index(b"\n") + 1]
    with zipfile.ZipFile(content, "w") as packed:
        for name, part in files.items():
            packed.writestr(name, part)
    publisher.answers[ZIP] = content.getvalue()
    with refuses("wrong-dataset", dataset="ml-100k"):
        datasets.fetch("ml-100k", mirror=publisher.url)
    assert left(alone) == []


def test_a_failed_fetch_keeps_the_old_copy(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Fetching again replaces a copy only by a good one."""
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    publisher.answers[ZIP] = one("readme.txt")
    with pytest.raises(us.InputError):
        datasets.fetch("ml-100k", mirror=publisher.url, again=True)
    assert left(alone) == ["ml-100k"] and datasets.folder_of("ml-100k") == place


def test_an_interrupted_fetch_leaves_nothing(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Ctrl-C in the middle of a download removes what had come."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")

    def stop(*_: Any) -> None:
        assert any(path.suffix == ".zip" for path in (alone / "data").rglob("*"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("ml-100k", mirror=publisher.url, progress=stop)
    assert left(alone) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_control_c_at_the_command_line_leaves_nothing(tmp_path: Path, publisher: Publisher) -> None:
    """A real SIGINT in the middle of a download: the process ends with an error, and the cache is empty."""
    arrived = threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        handler.wfile.write(b"0" * 100_000)
        handler.wfile.flush()
        arrived.set()
        time.sleep(300.0)

    publisher.answers[ZIP] = slow
    command = [sys.executable, "-m", "unskew", "data", "fetch", "ml-100k", "--mirror", publisher.url, "--again"]
    world = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    fetching = subprocess.Popen(command, env=world, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert arrived.wait(60.0)
    data = tmp_path / "unskew" / "data"
    until = time.monotonic() + 120.0
    while not any(path.stat().st_size for path in data.rglob("*.zip")) and time.monotonic() < until:
        time.sleep(0.02)
    fetching.send_signal(signal.SIGINT)
    _, said = fetching.communicate(timeout=120.0)
    assert fetching.returncode != 0 and b"Traceback" not in said
    assert list(data.iterdir()) == []


def test_a_link_that_leads_nowhere_is_replaced(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """A copy that was linked into the cache and is gone is no obstacle."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    place = alone / "data" / "ml-100k"
    place.parent.mkdir(parents=True)
    place.symlink_to(alone / "gone")
    assert datasets.fetch("ml-100k", mirror=publisher.url) == place
    assert not place.is_symlink() and counts(us.load("ml-100k")) == COUNTS["ml-100k"] and left(alone) == ["ml-100k"]


def test_every_publisher_is_asked_over_https() -> None:
    """The addresses in the readers are https, and files stay inside the set's folder."""
    for name in datasets.NAMES:
        source = datasets.source_of(name)
        assert source.downloads or source.about.obtain
        for download in source.downloads:
            assert download.url.startswith("https://")
            assert ".." not in download.to and not download.to.startswith("/")


def test_a_wrong_checksum_is_refused(
    copies: Copies, alone: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was given, or that of the publisher's own file; the right one is taken."""
    content = zipped(copies("ml-100k"), "ml-100k")
    publisher.answers[ZIP] = content
    right = hashlib.sha256(content).hexdigest()
    with refuses("wrong-checksum"):
        datasets.fetch("ml-100k", mirror=publisher.url, sha256=["00ff"])
    source = datasets.source_of("ml-100k")
    at_the_publisher = replace(source.downloads[0], url=publisher.url + ZIP)
    monkeypatch.setattr(type(source), "downloads", (at_the_publisher,))
    with refuses("wrong-checksum"):
        datasets.fetch("ml-100k")
    assert left(alone) == []
    datasets.fetch("ml-100k", sha256=["00ff", right.upper()])
    assert left(alone) == ["ml-100k"]


def test_a_copy_that_changed_since_it_was_downloaded_is_refused(
    copies: Copies, alone: Path, publisher: Publisher
) -> None:
    """The same counts, another rating: only the checksum tells."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    folder = datasets.fetch("ml-100k", mirror=publisher.url)
    us.load("ml-100k")
    ratings = (folder / "u.data").read_text().splitlines()
    user, item, value, time_ = ratings[0].split("\t")
    ratings[0] = "\t".join((user, item, "1" if value != "1" else "2", time_))
    (folder / "u.data").write_text("\n".join(ratings) + "\n")
    with refuses("wrong-checksum") as said:
        us.load("ml-100k")
    assert "u.data" in str(said.value) and "fetch ml-100k --again" in str(said.value)
    (folder / "SHA256SUMS").write_bytes(b"\xff")
    with refuses("damaged-file"):
        us.load("ml-100k")


def test_what_a_killed_download_left_goes_with_the_next(copies: Copies, alone: Path, publisher: Publisher) -> None:
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    dead = alone / "data" / ".unskew-1-dead.tmp"
    dead.mkdir(parents=True)
    (dead / "archive.zip").write_bytes(b"half")
    datasets.fetch("ml-100k", mirror=publisher.url)
    assert left(alone) == ["ml-100k"]
