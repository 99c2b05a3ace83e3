"""The code of ``docs/other_libraries.md`` runs as written, in a folder with a simulated shop."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import unskew as us
from tests.cli.commands import ROOT, unskew
from tests.models.test_models import lists_of

PAGE = (ROOT / "docs" / "other_libraries.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    assert unskew("simulate", "-o", found / "shop", "--users", "300", "--items", "120").returncode == 0
    return found


@pytest.mark.parametrize("number", range(PAGE.count("```python")))
def test_code_runs(number: int, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Each block alone; where it makes a model, this makes lists without seen items."""
    code = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[number]
    for library in ("implicit", "cornac"):
        if f"import {library}" in code:
            request.getfixturevalue(library)
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    exec(code, names)
    if "model" in names:
        train = us.read_log("shop/train.parquet")
        lists = names["model"].recommend(train.users, 5, seen=train)  # type: ignore[attr-defined]
        assert lists.count_seen(train) == 0 and {len(found) for found in lists_of(lists).values()} == {5}
    else:
        assert "cross_validate" in code or "recall" in names
