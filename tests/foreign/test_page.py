"""The code of ``docs/other_libraries.md`` runs as written, in a folder with a simulated shop."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import polars as pl
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


def test_the_call_for_a_librarys_number_gives_the_textbook_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """recall@10 of a user is the share of the held-out items in the first ten, and the mean of that over users."""
    (section,) = (part for part in PAGE.split("\n## ") if "recall = " in part)
    monkeypatch.chdir(folder)
    held_out: dict[Any, set[Any]] = {}
    for user, item in pl.read_parquet("shop/test.parquet").select("user", "item").iter_rows():
        held_out.setdefault(user, set()).add(item)
    first = pl.read_parquet("shop/item_knn.parquet").filter(pl.col("rank") <= 10)
    listed: dict[Any, set[Any]] = {}
    for user, item in first.select("user", "item").iter_rows():
        listed.setdefault(user, set()).add(item)
    textbook = sum(len(items & listed.get(user, set())) / len(items) for user, items in held_out.items()) / len(
        held_out
    )
    names: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[0], names)
    assert names["recall"] == pytest.approx(textbook, abs=1e-12) and textbook > 0.0
    (command,) = re.findall(r"^```bash\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    done = unskew(*shlex.split(command)[1:], "--json", "-", cwd=folder)
    (row,) = json.loads(done.stdout)["estimates"]
    assert row["value"] == pytest.approx(textbook, abs=1e-12)
