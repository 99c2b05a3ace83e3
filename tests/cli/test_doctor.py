"""``unskew doctor``: everything that is needed is looked at, what is missing is said with its remedy."""

from __future__ import annotations

import json
import tomllib
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import ROOT, unskew
from unskew.cli import environment
from unskew.cli.environment import Finding
from unskew.kernels.compiled import CacheWarning

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINES = [*PROJECT["dependencies"]] + [
    f'{line}; extra == "{extra}"' for extra, lines in PROJECT["optional-dependencies"].items() for line in lines
]


@pytest.fixture(autouse=True)
def metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this clone's pyproject.toml says, whatever was installed when."""
    fields = {"Requires-Dist": LINES, "Provides-Extra": [*PROJECT["optional-dependencies"]]}
    monkeypatch.setattr(environment, "_metadata", lambda field: fields[field])


def by_name() -> dict[str, Finding]:
    return {each.name: each for each in environment.findings()}


def test_it_says_that_everything_works_and_the_json_says_the_same(tmp_path: Path) -> None:
    """Exit code 0, in the terminal, as a file and on standard output."""
    shown = unskew("doctor", "--json", tmp_path / "doctor.json")
    printed = unskew("doctor", "--json", "-")
    assert shown.returncode == printed.returncode == 0, shown.stdout
    written, said = json.loads((tmp_path / "doctor.json").read_text()), json.loads(printed.stdout)
    assert written["works"] is said["works"] is True
    names = [each["name"] for each in said["findings"]]
    assert [each["name"] for each in written["findings"]] == names
    assert {"unskew", "Python", "compiled kernels", "threads", "BLAS", "memory", "Java", "coat"} <= set(names)
    assert all(name in shown.stdout for name in names)


def test_all_required_packages_and_extras_are_looked_at() -> None:
    """Those of pyproject.toml."""
    found = by_name()
    for line in PROJECT["dependencies"]:
        name = line.partition(">=")[0]
        assert found[name].fine and found[name].kind == "Basics", name
    extras = {each.name for each in found.values() if each.kind == "Extras"}
    assert extras == {*PROJECT["optional-dependencies"], "Java"} - {"dev"}
    assert "metadata" not in found


def _optional() -> dict[str, list[str]]:
    return {extra: lines for extra, lines in PROJECT["optional-dependencies"].items() if extra != "dev"}


@pytest.mark.parametrize("extra", _optional())
def test_metadata_of_another_version_are_said_and_hide_no_extra(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable install of before an extra was added."""
    fields = {
        "Requires-Dist": [line for line in LINES if f'"{extra}"' not in line],
        "Provides-Extra": [each for each in PROJECT["optional-dependencies"] if each != extra],
    }
    monkeypatch.setattr(environment, "_metadata", lambda field: fields[field])
    found = by_name()
    assert found["metadata"].fine is not True and "pip" in found["metadata"].remedy
    assert {each.name for each in found.values() if each.kind == "Extras"} == {*environment.EXTRAS, "Java"}
    assert environment.works(environment.findings())


@pytest.mark.parametrize(("lines", "message"), [(["no-such-package>=1.0"], ""), (["numpy>=999.0"], "999.0")])
def test_what_is_missing_or_too_old_fails(lines: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install; and nothing that would need it is looked at, only what is installed."""
    monkeypatch.setattr(environment, "_metadata", lambda field: lines if field == "Requires-Dist" else [])
    found = environment.findings()
    wrong = [each for each in found if each.fine is False]
    assert len(wrong) == 1 and message in wrong[0].found and f"pip install '{lines[0]}'" in wrong[0].remedy
    assert not environment.works(found)
    assert {each.kind for each in found} == {"Basics", "Extras"}


def test_an_absent_extra_says_how_to_install_it_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is optional."""

    def without_altair(name: str) -> str:
        if name == "altair":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(environment, "version", without_altair)
    report = by_name()["report"]
    assert report.fine is None and "altair" in report.found and "[report]'" in report.remedy
    assert environment.works(environment.findings())


def test_kernels_that_are_not_kept_or_wrong_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder every run compiles anew; a wrong number means a broken compiler."""

    def not_kept(*_: Any) -> float:
        warnings.warn("compiled functions: made up", CacheWarning, stacklevel=1)
        return 2.0

    monkeypatch.setattr("unskew.kernels.selection.smallest", not_kept)
    kernels = by_name()["compiled kernels"]
    assert kernels.fine and "made up" in kernels.found
    monkeypatch.setattr("unskew.kernels.selection.smallest", lambda *_: 3.0)
    assert by_name()["compiled kernels"].fine is False
