"""``unskew data`` as a person uses it: list, show, add and fetch."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import flat, refused, unskew
from tests.log.copies import write_coat, write_movietweetings
from tests.log.publisher import ZIP, Publisher, one

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


def data(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``unskew data``."""
    return unskew("data", *arguments, env=environment(home))


def coat(folder: Path) -> Path:
    """A made-up copy of Coat."""
    folder.mkdir(parents=True)
    write_coat(folder)
    return folder


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_list_names_every_set(home: Path) -> None:
    """Each set has a row: where it is, or which command leads to it, and its licence."""
    coat(home / "sets" / "coat")
    done = data(home, "list")
    assert done.returncode == 0, done.stderr
    rows = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if line.count("│") == 5}
    assert set(NAMES) <= rows.keys()
    assert "MB" in rows["coat"]
    assert "yahoo-r3" in rows and "MIT" in rows["movietweetings"]


def test_show_reads_the_copy(home: Path) -> None:
    """Details and counts come from actually reading; licence and citation stand beside them."""
    coat(home / "sets" / "coat")
    done = data(home, "show", "coat")
    assert done.returncode == 0, done.stderr
    for words in ("6,960 rows, 290 users", "4,640 rows", "Schnabel", "none stated", "kind:1", "87,000 pairs"):
        assert words in flat(done.stdout)


def test_add_checks_and_registers(home: Path) -> None:
    """A copy anywhere becomes known by its name; --quiet says nothing."""
    mine = coat(home / "downloads" / "coat")
    done = data(home, "add", "coat", home / "downloads")
    assert done.returncode == 0 and "6,960 rows" in flat(done.stdout), done.stderr
    assert str(mine) in data(home, "show", "coat").stdout.replace("\n", "")
    quiet = data(home, "add", "coat", mine, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_add_refuses_another_file(home: Path) -> None:
    """A changed copy exits with 2 in one panel that names the file, and is not registered."""
    mine = coat(home / "mine")
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
    (home / "films").mkdir()
    write_movietweetings(home / "films")
    publisher.answers |= {f"{FILMS}/{path.name}": path.read_bytes() for path in (home / "films").iterdir()}
    done = data(home, "fetch", "movietweetings", "--again", "--mirror", publisher.url)
    assert done.returncode == 0, done.stderr
    assert "MIT" in done.stderr and "Dooms" in done.stderr
    folder = home / "cache" / "unskew" / "data" / "movietweetings"
    assert str(folder) in done.stdout.replace("\n", "")
    assert sorted(path.name for path in folder.iterdir()) == ["SHA256SUMS", "movies.dat", "ratings.dat"]
    publisher.answers.clear()
    assert data(home, "fetch", "movietweetings").returncode == 0


def test_fetch_refuses_a_hostile_archive(home: Path, publisher: Publisher) -> None:
    """An entry that would leave the folder is refused, and nothing stays."""
    publisher.answers[ZIP] = one("../../../evil")
    done = data(home, "fetch", "ml-100k", "--again", "--mirror", publisher.url, "--quiet")
    refused(done, "entry-outside")
    assert [path for path in home.rglob("*") if path.is_file()] == []
