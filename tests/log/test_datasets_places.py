"""Named data sets: where copies are looked for, added and remembered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.log.copies import R3, Copies, link, write_coat
from tests.said import refusal, refuses
from unskew.core import locks
from unskew.log import datasets
from unskew.log.datasets import places


@pytest.mark.parametrize(("wrong", "right"), [("ml100k", "ml-100k"), ("Coat", "coat"), ("yahoo", "yahoo-r3")])
def test_an_unknown_name_gets_the_nearest(wrong: str, right: str) -> None:
    """The error names the near miss and all that there is; what is no text is no name."""
    with refuses("unknown-name", near=[right]) as said:
        us.load(wrong)
    assert "open-bandit" in str(said.value)
    nameless: tuple[Any, ...] = (None, 5, {})
    for no_name in nameless:
        assert refusal(us.load, no_name).code == "wrong-type"


@pytest.mark.parametrize("name", datasets.NAMES)
def test_what_is_not_here_says_how_to_get_it(name: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading never downloads; the error tells the commands, the publisher and the licence."""
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("load went to the network"))
    with pytest.raises(us.InputError) as caught:
        us.load(name)
    source = datasets.source_of(name)
    words = [f" add {name}", source.about.licence, source.about.homepage]
    words += [f" {name}\n"] if source.downloads else [source.about.obtain]
    assert all(word in str(caught.value) for word in words)


def test_places_are_asked_in_order(
    copies: Copies, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registered, UNSKEW_DATA, beside the checkout, beside the current folder, cache: the first that has a copy."""
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "code" / "unskew")
    (tmp_path / "code" / "unskew").mkdir(parents=True)
    (tmp_path / "code" / "unskew" / "pyproject.toml").touch()
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "env"))
    found = [alone / "data", tmp_path / "at/shared/data", tmp_path / "code/shared/data", tmp_path / "env"]
    expected = [link(copies, "coat", place / "coat") for place in found]
    datasets.add("coat", copies("coat"))
    assert datasets.folder_of("coat") == copies("coat")
    (alone / "datasets.json").unlink()
    for place in reversed(expected):
        assert datasets.folder_of("coat") == place
        place.unlink()
    assert datasets.folder_of("coat") is None


def test_a_named_folder_must_be_there(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistyped UNSKEW_DATA would be passed over, and another copy be read; a folder that lacks the set may be."""
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "typo"))
    assert refusal(datasets.folder_of, "coat").code == "missing-folder"
    (tmp_path / "typo").mkdir()
    assert datasets.folder_of("coat") is None


def test_a_registered_copy_may_lie_one_folder_down(copies: Copies, alone: Path, tmp_path: Path) -> None:
    """The folder above, or a file inside, is as good as the folder itself; others' entries stay."""
    link(copies, "coat", tmp_path / "downloads" / "coat")
    datasets.add("yahoo-r3", copies("yahoo-r3") / R3)
    datasets.add("coat", str(tmp_path / "downloads"))
    assert datasets.folder_of("coat") == copies("coat")
    assert datasets.folder_of("yahoo-r3") == copies("yahoo-r3")


@pytest.mark.parametrize(
    ("name", "path", "word"),
    [
        ("coat", ".", "train.ascii"),
        ("coat", "coat.zip", "train.ascii"),
        ("online-retail", ".", "online_retail.csv"),
        *(("coat", path, "") for path in ("nowhere", None, "~nosuchuser/x", "x" * 300, "a\0b", 5, "\x1b[31m")),
    ],
)
def test_a_folder_without_the_set_is_refused(name: str, path: Any, word: str, alone: Path) -> None:
    """The error names what is missing, and nothing is registered."""
    Path("coat.zip").touch()
    with refuses("wrong-dataset" if word else "missing-folder") as said:
        datasets.add(name, path)
    assert word in str(said.value) and "\x1b" not in str(said.value)
    assert not alone.exists()


def test_a_registered_copy_that_is_gone_is_told(copies: Copies, alone: Path, tmp_path: Path) -> None:
    """Deleting the copy leads to an error that says where it was."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_coat(folder)
    datasets.add("coat", folder)
    folder.rename(tmp_path / "elsewhere")
    assert str(folder) in str(refusal(us.load, "coat"))


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"[]", b"null", b"NaN", b"", b"\x00", b"1" * 5000, b'{"coat": 1}', b"\xff", b'{"coat": "\\ud800"}'),
        *(b"[" * 100_000, b'{"a":' * 100_000, b'{"coat": "a", "coat": "b"}', b" " * 2_000_000),
        b'{"coat": "/dev/zero"}',
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_spoilt_registry_is_named(content: bytes, alone: Path) -> None:
    """The list of registered copies is not overwritten when it cannot be read."""
    alone.mkdir(parents=True)
    (alone / "datasets.json").write_bytes(content)
    said = str(refusal(us.load, "coat"))
    assert ("datasets.json" in said or content.startswith(b'{"coat": "')) and len(said) < 1500
    assert (alone / "datasets.json").read_bytes() == content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
@pytest.mark.parametrize("name", ["datasets.json", "data/coat/SHA256SUMS"])
def test_a_pipe_is_not_waited_for(name: str, alone: Path) -> None:
    """Neither as the registry nor as checksums."""
    (alone / "data" / "coat").mkdir(parents=True)
    write_coat(alone / "data" / "coat")
    os.mkfifo(alone / name)
    with refuses("not-a-file", file=str(alone / name)):
        us.load("coat")


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("linux", ".cache/unskew"), ("darwin", "Library/Caches/unskew"), ("win32", "AppData/Local/unskew/Cache")],
)
def test_the_cache_is_where_the_platform_keeps_it(
    platform: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without XDG_CACHE_HOME (or with a relative one) the platform's habit counts."""
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert places.cache() == tmp_path / expected


def test_registrations_at_the_same_time_are_all_kept(alone: Path, tmp_path: Path) -> None:
    """Each reads the list and writes it back, which must not fall between another's two steps."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom unskew.log.datasets import places\n"
        "for n in range(20):\n    places.register(f'{sys.argv[1]}-{n}', Path('.'))\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(run)]) for run in range(3)]
    assert [run.wait(120) for run in runs] == [0, 0, 0]
    assert len(places.registry()) == 60
    assert sorted(path.name for path in alone.iterdir()) == ["datasets.json"]


def test_a_lock_that_is_never_given_back_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with locks.alone(path), refuses("locked"), locks.alone(path, patience=0.1):
        pytest.fail("two are inside")
