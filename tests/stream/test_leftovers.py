"""Nothing is left on disk, however a stream ends, and what went wrong is said in one error."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.said import refuses
from tests.stream.files import CALLS, Layout, laid_out, sized
from unskew.engine.stream import numbers, spill


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(place))
    return place


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    return {**laid_out(CALLS["repeated"], Layout(), tmp_path / "files")[1], "engine": "stream"}


def left(place: Path) -> list[str]:
    return [path.name for path in place.rglob("*")]


@pytest.mark.parametrize("stage", ["reading", "aligning", "estimating"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_when_a_run_is_broken_off(
    stage: str, error: type[BaseException], place: Path, files: dict[str, Any]
) -> None:
    seen = []

    def progress(found: str, done: int, total: int) -> None:
        seen.append(len(left(place)))
        if found == stage:
            raise error

    with sized(Layout(chunk=100, piece=100)):
        with pytest.raises(error):
            us.evaluate(**files, progress=progress)
        assert max(seen) > 0 and left(place) == []
        if error is ValueError:
            us.evaluate(**files)
            assert left(place) == []


def test_a_full_disk_is_one_clear_error(place: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(numbers.Numbers, "write", full)
    with sized(Layout()), refuses("disk-full"):
        us.evaluate(**files)
    assert left(place) == []


def test_a_disk_that_is_too_small_is_refused_before_anything_is_written(place: Path) -> None:
    with refuses("too-little-disk"), spill.folder_for(10**18):
        pass
    assert left(place) == []
