"""All workloads, one after the other: what fails, is missing or is stopped costs nothing of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import suite
from workloads import HEADINGS, WORKLOADS, Workload

Made = Callable[..., Workload]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Workloads that are one line long, and a page that they write."""
    written = tmp_path / "page.md"
    written.write_text("")
    monkeypatch.setattr("page.PAGE", written)
    monkeypatch.setattr(suite, "fix_threads", lambda: 2)

    def make(name: str, line: str = "", **more: Any) -> Workload:
        script = tmp_path / f"{name}.py"
        script.write_text(line or f"import os; os.utime({str(written)!r}, (4e9, 4e9)); open({name!r}, 'w')")
        return Workload(name, f"what {name} measures", HEADINGS[:1], 1, script=str(script), **more)

    monkeypatch.setattr(suite, "HERE", tmp_path / "benchmarks")
    return make


def chosen(monkeypatch: pytest.MonkeyPatch, *workloads: Workload) -> None:
    monkeypatch.setattr(suite, "WORKLOADS", workloads)


def test_a_failure_is_named_and_the_rest_is_run(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen(monkeypatch, made("first", "raise SystemExit(3)"), made("silent", "pass"), made("last"))
    assert suite.main([]) == 1
    shown = capsys.readouterr().out
    assert "ended with status 3" in shown and "kept no results" in shown
    assert (tmp_path / "last").exists()


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_its_script_and_its_environments_are_there(workload: Workload) -> None:
    folder = Path(__file__).parents[2] / "benchmarks"
    assert (folder / workload.file).exists()
    assert all((folder / "peers" / f"{env}.txt").exists() for env in workload.peers)
