"""Outputs never replace inputs or one another, are judged before the work, and appear all or none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.cli.commands import refused, unskew
from tests.said import refuses
from unskew.cli.options import check_outputs, write_outputs
from unskew.result import Result


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A log, lists and predictions, too small to be worth an evaluation."""
    pl.DataFrame({"user": [1], "item": [1], "propensity": [0.5]}).write_csv(tmp_path / "test.csv")
    pl.DataFrame({"user": [1], "item": [1], "prediction": [0.5]}).write_csv(tmp_path / "pa.csv")
    return tmp_path


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
def test_an_output_over_a_file_inside_a_spec_is_refused(
    files: Path, monkeypatch: pytest.MonkeyPatch, link: Callable[[str, str], None] | None
) -> None:
    """By its own name, or by a link to it."""
    monkeypatch.chdir(files)
    if link is not None:
        link("pa.csv", "other.csv")
    path = Path("pa.csv" if link is None else "other.csv")
    for specs in (["given(./pa.csv)"], ["calibrated(known(pa.csv), folds=2)"], ["sndr(q = pa.csv)"]):
        with refuses("output-is-input"):
            check_outputs(specs=specs, csv=path)
    with refuses("output-is-input"):
        check_outputs(Path("pa.csv"), csv=path)
    check_outputs(Path("test.csv"), specs=["given(test.csv)", "logistic_mf(dim=10)", None], csv=path)
    (files / "logs" / "day").mkdir(parents=True)
    (files / "logs" / "day" / "one.csv").write_text("item\n1\n")
    for train in ("logs", "logs/*/*.csv", "logs/**/o?e.csv"):  # stand for the files that are counted
        with refuses("output-is-input"):
            check_outputs(specs=[f"counted(popularity, train={train})"], csv=Path("logs/day/one.csv"))
    check_outputs(specs=["logs(dim=3)"], csv=Path("logs/day/one.csv"))


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "a.csv").symlink_to("a.json")
    (tmp_path / "b.html").symlink_to("new.parquet")  # neither exists yet
    with refuses("repeated-output"):
        check_outputs(json=tmp_path / "a.json", csv=tmp_path / "a.csv")
    with refuses("repeated-output"):
        check_outputs(html=tmp_path / "b.html", parquet=tmp_path / "new.parquet")


def test_if_the_page_fails_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = Result((), (), (), {}, ())
    (tmp_path / "a.csv").write_text("former")
    monkeypatch.setattr(Result, "to_dict", lambda self: {})

    def fail(self: Result, path: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Result, "to_html", fail)
    outputs = {kind: tmp_path / f"a.{kind}" for kind in ("json", "csv", "parquet", "html")}
    with pytest.raises(ZeroDivisionError):
        write_outputs(result, **outputs)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "former"


def test_simulate_replaces_only_when_told_and_never_what_it_reads(tmp_path: Path) -> None:
    (tmp_path / "train.parquet").write_text("mine")
    shop = ("simulate", "--users", "30", "--items", "30", "-q", "-o", tmp_path)
    done = unskew(*shop)
    refused(done, "output-exists", "train.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["train.parquet"]
    assert (tmp_path / "train.parquet").read_text() == "mine"
    assert unskew(*shop, "--force").returncode == 0
    assert len(pl.read_parquet(tmp_path / "train.parquet")) > 0

    rows = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "value": [1.0, 2.0, 3.0, 5.0]})
    rows.write_parquet(tmp_path / "log.parquet")
    ratings = ("simulate", "ratings", "--like", tmp_path / "log.parquet", "-q", "-o", tmp_path, "--force")
    done = unskew(*ratings)
    refused(done, "output-is-input")
    assert pl.read_parquet(tmp_path / "log.parquet").equals(rows)


def test_python_writers_keep_the_files_that_a_result_was_made_from(files: Path) -> None:
    inputs = {"test": {"source": str(files / "test.csv")}, "outcome": {"model": f"given({files}/pa.csv)"}}
    result = Result((), (), (), inputs, ())
    for name in ("test.csv", "pa.csv"):
        with refuses("output-is-input"):
            result.to_csv(files / name)
    result.to_csv(files / "new.csv")


def test_charts_without_addresses_are_refused_before_the_work(tmp_path: Path) -> None:
    """Their engine would end the process by a signal, without a word and without any output."""
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom unskew.cli.options import check_outputs\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))\n"
        "check_outputs(json=Path(sys.argv[1]) / 'a.json')\ncheck_outputs(html=Path(sys.argv[1]) / 'a.html')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "4.0 GB" in ran.stderr
