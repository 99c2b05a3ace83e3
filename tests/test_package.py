"""What is published: metadata that agree with the code, all files of the package, pins for all that is asked for."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

import unskew

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def name_of(line: str) -> str:
    return re.split(r"[\[<>=!~ ]", line)[0].lower().replace("_", "-")


def test_one_version_everywhere() -> None:
    """In the code, the metadata, the citation and the changelog."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == unskew.__version__
    assert f"\nversion: {unskew.__version__}\n" in citation and f"license: {PROJECT['license']}\n" in citation
    assert f"## {unskew.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_all_files_of_the_package_are_shipped() -> None:
    """A template that is not named in package-data is missing from the wheel, and from nowhere else."""
    folder = ROOT / "src" / "unskew"
    named = PYPROJECT["tool"]["setuptools"]["package-data"]["unskew"]
    others = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
    ]
    assert others and all(any(fnmatch.fnmatch(path, pattern) for pattern in named) for path in others), others
    without = [path.parent for path in folder.rglob("*.py") if not (path.parent / "__init__.py").exists()]
    assert not without, "folders that are no packages are not shipped"


@pytest.mark.parametrize("extra", [None, *PROJECT["optional-dependencies"]])
def test_everything_that_is_asked_for_is_pinned(extra: str | None) -> None:
    """In constraints.txt, so that a clone installs the same tomorrow."""
    pinned = {name_of(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    asked = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    assert {name_of(line) for line in asked} - {"unskew"} <= pinned
