"""Options as hostile as a shell lets them be: exit 2 with one short panel, or the right answer."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from unskew.cli import app

REFUSED = {
    "level near 1": ["--level", "0.9999999999999999"],
    "level nan": ["--level", "nan"],
    "threads": ["--threads", "100000"],
    "seed below 0": ["--seed", "-1"],
    "seed too large": ["--seed", "99999999999999999999"],
    "share nan": ["--share", "nan"],
    "share tiny": ["--share", "1e-300"],
    "threshold nan": ["--feedback", "ratings", "--relevant", ">=nan"],
    "by relevant": ["--by", "relevant"],
    "by strata": ["--train", "train.csv", "--by", "popularity(strata=100000000)"],
    "by long": ["--by", "x" * 20_000],
    "nested": ["--estimator", "clipped(" * 300 + "snips" + ", at=0.1)" * 300],
    "dim": ["--train", "train.csv", "--model", "other=factors(dim=100000000)"],
    "model long": ["--train", "train.csv", "--model", f"other={'x' * 20_000}"],
    "model escape": ["--train", "train.csv", "--model", "other=\x1b[31mmf"],
    "model without name": ["--train", "train.csv", "--model", "=mf"],
    "model without spec": ["--train", "train.csv", "--model", "mf="],
    "sample": ["--sample", "\x1b[31mwtd_h"],
    "sample size text": ["--sample", "reg", "--sample-size", "\x1b[31mhalf"],
    "repeats alone": ["--repeats", "2"],
    "two of a name": ["--recs", "one=lists.csv", "--recs", "one=lists.csv"],
    "nothing named": ["--recs", "=lists.csv"],
    "feedback": ["--feedback", "x" * 5000],
    "columns": ["--columns", "owner=user"],
    "columns without sign": ["--columns", "x" * 20_000],
    "long name": ["--recs", f"{'x' * 20_000}="],
    "two of a long name": ["--recs", f"{'x' * 20_000}=a", "--recs", f"{'x' * 20_000}=a"],
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small files."""
    folder = tmp_path_factory.mktemp("shop")
    rows = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 3]})
    rows.write_csv(folder / "test.csv")
    rows.with_columns(pl.col("item") + 3).write_csv(folder / "train.csv")
    rows.with_columns(rank=pl.Series([1, 2, 1, 1])).write_csv(folder / "lists.csv")
    return folder


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_hostile_options_are_one_short_error(options: list[str], shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback, nothing blamed on unskew, nothing that a terminal would obey."""
    monkeypatch.chdir(shop)
    done = CliRunner().invoke(app, ["evaluate", "test.csv", "--recs", "a=lists.csv", *options])
    assert done.exit_code == 2, (done.output, done.exception)
    assert "fault of unskew" not in done.output and "Traceback" not in done.output
    assert "\x1b[31m" not in done.output and len(done.output) < 4000


@pytest.mark.parametrize("name", ["a=b", "émoji 🙂", "[red]x[/red]", "[/red]", "x" * 2000, "=x"[1:], " a "])
def test_names_of_models_are_only_names(name: str, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a model is called, it is evaluated; what stands before the first '=' is its name."""
    monkeypatch.chdir(shop)
    done = CliRunner().invoke(app, ["evaluate", "test.csv", "--recs", f"{name}=lists.csv"])
    called = name.split("=")[0]
    assert done.exit_code == (0 if called == name else 2), (done.output, done.exception)
    assert "fault of unskew" not in done.output
