"""What people look at: the verdict first, then the table, then skipped windows; every output; the command."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import unskew as us
from tests.cli.commands import flat, unskew
from tests.cross_validation import logs
from tests.report.every_output import content, shown
from tests.said import refuses
from unskew.cli.folds import models_of

NAMES = {"popular": "most_popular", "iknn": "item_knn(neighbours=10)"}


@pytest.fixture(scope="module")
def found() -> us.CrossValidation:
    frame = logs.frame()
    last = frame["time"].max()
    assert isinstance(last, int)
    quiet = frame.filter(~pl.col("time").is_between(last - 2 * logs.WEEK, last - logs.WEEK))
    return us.cross_validate(us.Log.from_frame(quiet), NAMES, split=logs.WEEKS, metrics=["recall@5", "dcg@5"])


def text_of(found: us.CrossValidation, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(found)
    return console.export_text()


@pytest.mark.parametrize("width", [80, 130])
def test_a_terminal_says_the_verdict_and_every_line_fits(found: us.CrossValidation, width: int) -> None:
    """First the verdict; then both models, and what was skipped."""
    lines = text_of(found, width).splitlines()
    assert max(map(len, lines)) <= width
    text, title = "\n".join(lines), str(found.macro.headline()["title"])[:40]
    assert title in text and str(found.skipped[0].reason) in text
    assert text.index(title) < text.rindex("popular")


def test_the_command(tmp_path: Path) -> None:
    """Names or strings as models, files in every format, folds that are found again, and errors with options."""
    log = tmp_path / "log.parquet"
    logs.frame().write_parquet(log)
    asked = ["cross-validate", str(log), "--split", logs.WEEKS, "--model", "most_popular"]
    asked += ["--model", "iknn=item_knn(neighbours=10)", "--estimator", "naive", "--store", str(tmp_path / "kept")]
    first = unskew(*asked, "--json", str(tmp_path / "a.json"), "--csv", str(tmp_path / "a.csv"))
    assert first.returncode == 0, first.stderr
    assert "most_popular" in first.stdout and "iknn" in first.stdout
    assert len(list((tmp_path / "kept").rglob("*.unit"))) == 4
    again = unskew(*asked, "--json", str(tmp_path / "b.json"), "--workers", "1", "--quiet")
    assert again.returncode == 0, again.stderr
    assert content(tmp_path / "a.json") == content(tmp_path / "b.json")
    for options in (["--no-store"], ["--metric", "recal@5"]):
        bad = unskew(*asked, *options)
        assert bad.returncode == 2 and options[-1].split("@")[0] in flat(bad.stderr)


def test_models_that_cannot_be_named_or_fitted() -> None:
    """The same for all commands that fit models fold by fold."""
    for given, code in (
        (["iknn=item_knn", "iknn=random"], "repeated-name"),
        (["saved.npz"], "not-supported"),  # it has seen the future
        (["name="], "bad-string"),
        (None, "missing-argument"),
    ):
        with refuses(code):
            models_of(given)
    asked = ["item_knn(neighbours=5)", "b=svd(dim=2)"]
    assert models_of(asked) == {"item_knn(neighbours=5)": "item_knn(neighbours=5)", "b": "svd(dim=2)"}


def test_every_output_is_made(found: us.CrossValidation, tmp_path: Path) -> None:
    """Terminal, notebook, tables, files and the page."""
    assert "iknn" in shown(found, tmp_path)
