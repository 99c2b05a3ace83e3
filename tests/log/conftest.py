"""What the tests of named data sets share: copies, a machine without data, a publisher."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.log.copies import Copies
from tests.log.publisher import Publisher
from unskew.log.datasets import places


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(tmp_path_factory.mktemp("copies"))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any data: an empty cache, no UNSKEW_DATA, no checkout. Gives back the cache."""
    (tmp_path / "at" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "at" / "work")
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UNSKEW_DATA", raising=False)
    return tmp_path / "cache" / "unskew"


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()
    yield made
    made.server.shutdown()
    made.server.server_close()
