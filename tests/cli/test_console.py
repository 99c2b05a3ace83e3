"""What the commands say: text is shown as it is, errors are one panel, and streams may be closed or full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from rich.table import Table

from tests.hostile.processes import shop
from unskew.cli import console

HOSTILE = "\x1b[31mred\x07\u202e"
SHOWN = "\\x1b[31mred\\x07\\u202e"


def failing(error: BaseException) -> Any:
    def command() -> None:
        raise error

    return console.guarded(command)


def said(error: BaseException, capsys: pytest.CaptureFixture[str]) -> str:
    """The panel's words on one line."""
    with pytest.raises(SystemExit) as ended:
        failing(error)()
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_running_out_of_memory_says_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    words = said(MemoryError("Unable to allocate 38.1 MiB for an array"), capsys)
    assert "Parquet" in words and "UNSKEW_TRACEBACK" not in words


def test_an_error_of_the_system_is_no_fault_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    words = said(OSError(28, "full", f"{HOSTILE}.csv"), capsys)
    assert f"{SHOWN}.csv: " in words and "full" in words and "UNSKEW_TRACEBACK" not in words


def test_a_panic_of_polars_is_an_error_with_a_panel(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no ``Exception``."""
    assert "PanicException: index out of bounds" in said(pl.exceptions.PanicException("index out of bounds"), capsys)


def test_a_fault_keeps_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSKEW_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())()


def test_names_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """``report[v2].json`` stays, in a line and in a table; so does ``:smile:``."""
    table = Table("file", title="[red]title")
    table.add_row("report[v2].json")
    table.add_row(HOSTILE)
    console.out.print("wrote report[v2].json :smile: [/]", HOSTILE)
    console.out.print(table)
    shown = capsys.readouterr().out
    assert shown.count("report[v2].json") == 2 and ":smile: [/]" in shown and "[red]title" in shown
    assert shown.count(SHOWN) == 2


def run(*arguments: str, redirected: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a shell, its streams redirected."""
    command = f'"{sys.executable}" -m unskew "$@" {redirected}'
    return subprocess.run(["bash", "-c", command, "bash", *arguments], capture_output=True, text=True, cwd=folder)


def test_errors_of_usage_show_options_as_text() -> None:
    done = run(f"--{HOSTILE}[bold]{'x' * 10_000}")
    assert done.returncode == 2 and len(done.stderr) < 2000
    assert "\x1b[31m" not in done.stderr and "\\x1b[31mred" in done.stderr and "[bold]" in done.stderr
    assert "Usage: " in done.stderr


LISTS = ("--recs", "alpha=alpha.csv", "--recs", "beta=beta.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_error_stream_that_takes_nothing_changes_nothing(tmp_path: Path) -> None:
    """Closed, or behind it a full disk: the result, its files and the exit code are the same."""
    shop(Random(0), tmp_path)
    ends = []
    how = ("--strategy", "reg", "--size", "0.5", "--out", "out.csv")
    for redirected in ("2> /dev/null", "2>&-", "2> /dev/full"):
        done = run("sample", "log.csv", *how, redirected=redirected, folder=tmp_path)
        outputs = sorted(path.name for path in tmp_path.glob("out.*"))
        ends.append((done.returncode, done.stdout, outputs))
        for name in outputs:
            (tmp_path / name).unlink()
    assert ends[0][0] == 0 and ends[0][1] and ends[0][2]
    assert ends[0] == ends[1] == ends[2]
    refused = run("sample", "nowhere.csv", *how, redirected="2> /dev/full", folder=tmp_path)
    assert (refused.returncode, refused.stdout, list(tmp_path.glob("out.*"))) == (2, "", [])


ASKED = ("evaluate", "log.csv", *LISTS, "--propensity", "known")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Both streams where nothing odd is set."""
    folder = tmp_path_factory.mktemp("usual")
    shop(Random(0), folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COLUMNS", "NUMBA_NUM_THREADS"):
            patch.delenv(name, raising=False)
        done = run(*ASKED, folder=folder)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("COLUMNS", value) for value in ("1000000000", "²")),
        *(("NUMBA_NUM_THREADS", value) for value in ("-1", "x")),
    ],
)
def test_settings_that_nobody_can_use_are_as_if_not_set(
    name: str, value: str, usual: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No width of a terminal and no number of threads: the same tables."""
    shop(Random(0), tmp_path)
    monkeypatch.setenv(name, value)
    odd = run(*ASKED, folder=tmp_path)
    assert (odd.returncode, odd.stdout, odd.stderr) == (0, *usual) and odd.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="ulimit is one of Unix")
@pytest.mark.parametrize("most", [5, 7, 10])
def test_few_open_files_are_told(most: int, tmp_path: Path) -> None:
    """Never a traceback; below five files Python itself does not begin."""
    shop(Random(0), tmp_path)

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    done = subprocess.run(
        [sys.executable, "-m", "unskew", "audit", "log.csv"],
        capture_output=True, text=True, cwd=tmp_path, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr and "fault" not in done.stderr
    assert done.returncode == 0 or "Too many open files" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("data", "list"), ("--help",), ("--version",)])
def test_an_output_that_cannot_be_written_is_told(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, redirected="> /dev/full")
    assert done.returncode == 2
    assert "space" in done.stderr and "Traceback" not in done.stderr and "UNSKEW_TRACEBACK" not in done.stderr


def test_a_closed_output_is_no_error() -> None:
    assert run("data", "list", redirected=">&- 2>&-").returncode == 0
    assert run("nonsense", redirected=">&- 2>&-").returncode == 2


def test_a_reader_that_leaves_is_no_error() -> None:
    done = run("--help", redirected="| true; exit ${PIPESTATUS[0]}")
    assert done.returncode in (0, 1, 141) and done.stderr == ""
