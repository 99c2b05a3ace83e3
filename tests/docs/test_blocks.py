"""Every code block of README and docs runs as written, page by page, in a folder that holds the files it speaks of.

Commands of ``unskew`` run; of ``make``, ``python FILE`` and ``python -m MODULE`` only what they name is looked up:
they are run by the suite or take long. ``unskew reproduce`` takes minutes to hours: its words are checked. The blocks
of docs/extending.md are the parts of ``tests/outside/parts.py`` and run there, those of docs/other_libraries.md need
other libraries and run in ``tests/foreign``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.conftest import missing
from tests.docs import files
from tests.docs.blocks import PAGES, ROOT, SHELL, Block, blocks
from unskew.cli import app
from unskew.log import datasets

ELSEWHERE = {ROOT / "docs" / name for name in ("extending.md", "other_libraries.md")}
RUN = {
    page: found
    for page in PAGES
    if page not in ELSEWHERE and (found := [b for b in blocks(page) if b.language in (*SHELL, "python")])
}
SETS = ("coat", "ml-100k")
MINUTES = os.environ.get("UNSKEW_WORLDS") == "all"
TARGETS = {line.split(":")[0] for line in (ROOT / "Makefile").read_text().splitlines() if line[:1].isalpha()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    files.write(folder)
    return folder


@pytest.fixture
def here(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the files, as the folder in which one works."""
    folder = tmp_path / "work"
    shutil.copytree(written, folder)
    monkeypatch.chdir(folder)
    yield folder


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_as_written(page: Path, here: Path) -> None:
    """In order, and with what the blocks before have made."""
    for name in SETS:
        if any(name in block.text for block in RUN[page]) and datasets.folder_of(name) is None:
            missing(f"data set '{name}', which UNSKEW_DATA or ../shared/data may hold")
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in RUN[page]:
        if block.mark.startswith("not run:") or (block.mark == "minutes" and not MINUTES):
            continue
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        else:
            for words in block.commands:
                run(words, block)


def run(words: list[str], block: Block) -> None:
    """One command of a shell block."""
    place = f"{block.place}: {' '.join(words)}"
    match words:
        case ["unskew", "reproduce", *rest]:
            found = CliRunner().invoke(app, ["reproduce", *rest, "--help"])
            assert found.exit_code == 0, place
        case ["unskew", *rest]:
            target = Path(rest.pop(rest.index(">") + 1)) if ">" in rest else None
            found = CliRunner().invoke(app, [word for word in rest if word != ">"])
            assert found.exit_code == 0, f"{place}\n{found.output}"
            if target:
                target.write_text(found.stdout)
        case ["make", *targets]:
            assert TARGETS.issuperset(targets), place
        case ["python", "-m", module, *_]:
            assert (ROOT / f"{module.replace('.', '/')}.py").exists(), place
        case ["python", path, *_]:
            assert (ROOT / path).exists(), place
        case _:
            pytest.fail(f"{place}: nobody checks this command; say why with <!-- not run: … -->")


def test_every_block_names_its_language() -> None:
    """Otherwise nobody knows whether it should run: text is ```text."""
    assert [block.place for page in PAGES for block in blocks(page) if not block.language] == []
