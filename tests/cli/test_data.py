"""``unskew data`` as a person uses it: list, show, add and fetch."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.commands import flat, refused, unskew

NAMES = ("coat", "ml-100k", "movietweetings", "online-retail", "open-bandit", "yahoo-r3")
FILMS = "/sidooms/MovieTweetings/4d8280a3f1ea83e3e23f13d1710d19f43564274f/snapshots/100K"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for the cache and for copies."""
    (tmp_path / "sets").mkdir()
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    """Of a machine whose cache is in ``home`` and whose UNSKEW_DATA is ``home/sets``."""
    told = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb", "XDG_CACHE_HOME": str(home / "cache")}
    return {**os.environ, **told, "UNSKEW_DATA": str(home / "sets")}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "unskew", "data", *map(str, arguments)]


def data(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``unskew data``."""
    return unskew("data", *arguments, env=environment(home))


def write_coat(folder: Path) -> Path:
    """A made-up copy of Coat."""
    (folder / "user_item_features").mkdir(parents=True)
    column = np.arange(300)
    for name, each in (("train", 24), ("test", 16)):
        np.savetxt(folder / f"{name}.ascii", np.tile(np.where(column < each, column % 5 + 1, 0), (290, 1)), fmt="%d")
    np.savetxt(folder / "propensities.ascii", np.full((290, 300), 0.08))
    for name, rows in (("user", 290), ("item", 300)):
        np.savetxt(folder / "user_item_features" / f"{name}_features.ascii", np.ones((rows, 2)), fmt="%d")
        (folder / "user_item_features" / f"{name}_features_map.txt").write_text("gender:men\ngender:women")
    return folder


def films() -> dict[str, bytes]:
    """A made-up copy of MovieTweetings, as its publisher offers it."""
    rows = (f"{k % 16554 + 1}::{(k // 16554 * 37 + k) % 10506:07}::{k % 11}::{1365000000 + k}" for k in range(100_000))
    titles = (f"{item:07}::A film (1913)::Drama" for item in range(10_506))
    return {f"{FILMS}/ratings.dat": "\n".join(rows).encode(), f"{FILMS}/movies.dat": "\n".join(titles).encode()}


class Publisher(ThreadingHTTPServer):
    """A server on the loopback that offers some bytes; a pause makes it stop in the middle of each."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files: dict[str, bytes] = {}
        self.pause = 0.0
        self.begun = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        self.server.begun.set()
        time.sleep(self.server.pause)
        with suppress(OSError):
            self.wfile.write(content[len(content) // 2 :])
        return None

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    server = Publisher()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_list_names_every_set(home: Path) -> None:
    """Each set has a row: where it is, or which command leads to it, and its licence."""
    write_coat(home / "sets" / "coat")
    done = data(home, "list")
    assert done.returncode == 0, done.stderr
    rows = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if line.count("│") == 5}
    assert set(NAMES) <= rows.keys()
    assert "MB" in rows["coat"]
    assert "yahoo-r3" in rows and "MIT" in rows["movietweetings"]


def test_show_reads_the_copy(home: Path) -> None:
    """Details and counts come from actually reading; licence and citation stand beside them."""
    write_coat(home / "sets" / "coat")
    done = data(home, "show", "coat")
    assert done.returncode == 0, done.stderr
    for words in ("6,960 rows, 290 users", "4,640 rows", "Schnabel", "none stated", "gender:men", "87,000 pairs"):
        assert words in flat(done.stdout)


def test_add_checks_and_registers(home: Path) -> None:
    """A copy anywhere becomes known by its name; --quiet says nothing."""
    mine = write_coat(home / "downloads" / "coat")
    done = data(home, "add", "coat", home / "downloads")
    assert done.returncode == 0 and "6,960 rows" in flat(done.stdout), done.stderr
    assert str(mine) in data(home, "show", "coat").stdout.replace("\n", "")
    quiet = data(home, "add", "coat", mine, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_add_refuses_another_file(home: Path) -> None:
    """A changed copy exits with 2 in one panel that names the file, and is not registered."""
    mine = write_coat(home / "mine")
    (mine / "test.ascii").write_text("1 2 3\n")
    done = data(home, "add", "coat", mine)
    refused(done, "wrong-count", "test.ascii")
    assert not (home / "cache").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["show", "coats"], "unknown-name", "'coat'"),
        (["add", "coat", "nowhere"], "missing-folder", "nowhere"),
        (["fetch", "coat"], "not-downloadable", "coat"),
        (["fetch", "yahoo-r3"], "not-downloadable", "yahoo-r3"),
        (["fetch", "ml-100k", "--again", "--mirror", "http://example.org"], "unsafe-address", "https"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_panel(home: Path, arguments: list[str], code: str, named: str) -> None:
    """Exit code 2, one panel, no traceback."""
    refused(data(home, *arguments), code, named)


def test_fetch_shows_the_licence_and_puts_the_set_into_the_cache(home: Path, publisher: Publisher) -> None:
    """Licence and citation come first, then the files; a second time nothing is downloaded."""
    publisher.files = films()
    done = data(home, "fetch", "movietweetings", "--again", "--mirror", publisher.url)
    assert done.returncode == 0, done.stderr
    assert "MIT" in done.stderr and "Dooms" in done.stderr
    folder = home / "cache" / "unskew" / "data" / "movietweetings"
    assert str(folder) in done.stdout.replace("\n", "")
    assert sorted(path.name for path in folder.iterdir()) == ["SHA256SUMS", "movies.dat", "ratings.dat"]
    publisher.files = {}
    assert data(home, "fetch", "movietweetings").returncode == 0


def test_fetch_refuses_a_hostile_archive(home: Path, publisher: Publisher) -> None:
    """An entry that would leave the folder is refused, and nothing stays."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("../../../evil", "x")
    publisher.files["/datasets/movielens/ml-100k.zip"] = content.getvalue()
    done = data(home, "fetch", "ml-100k", "--again", "--mirror", publisher.url, "--quiet")
    refused(done, "entry-outside")
    assert [path for path in home.rglob("*") if path.is_file()] == []
