"""``unskew plan``: the table and the draw of ``us.plan``, files all or none, and errors in the command line's words."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.cli.commands import refused, unskew
from tests.design.shop import shop

RECS = ("--recs", "good=good.parquet", "--recs", "fair=fair.parquet")
HOW = ("--seen", "seen.parquet", "--feedback", "conversions", "--metric", "recall@4")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small shop as files."""
    folder, world = tmp_path_factory.mktemp("plan"), shop(users=60, items=25, k=4)
    for name, frame in {**world.models, "log": world.log, "seen": world.seen}.items():
        frame.write_parquet(folder / f"{name}.parquet")
    return folder


def test_a_plan_and_its_draw(files: Path) -> None:
    """The same rows as in Python, everything that was asked for written, and what the draw rests on said."""
    done = unskew(
        "plan", "log.parquet", *RECS, *HOW, "--draw", "40", "-o", "ask.parquet", "--seed", "3", "--per-user", "2",
        "--json", "plan.json", cwd=files,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "wrote ask.parquet" in done.stderr
    models = {name: files / f"{name}.parquet" for name in ("good", "fair")}
    plan = us.plan(
        models, log=files / "log.parquet", seen=files / "seen.parquet", feedback="conversions", metric="recall@4",
        per_user=2,
    )  # fmt: skip
    assert pl.read_parquet(files / "ask.parquet").equals(plan.draw(40, seed=3).frame)
    assert json.loads((files / "plan.json").read_text())["pairs"][0]["rows"] == plan.pairs[0].rows


def test_repeated_pairs_and_wrong_rows(files: Path) -> None:
    """What the error advises is accepted, and what ``evaluate`` was told stands in the command that it prints."""
    log, lists = pl.read_parquet(files / "log.parquet"), RECS
    wrong = pl.DataFrame({"user": [None], "item": log["item"][:1], "value": [1.0]}, schema=log.schema)
    pl.concat([log, log[:1].with_columns(value=1.0 - pl.col("value")), wrong]).write_parquet(files / "messy.parquet")
    repeated = unskew("plan", "messy.parquet", *lists, *HOW, "--invalid", "drop", cwd=files)
    refused(repeated, "repeated-pair", "--duplicates")
    how = ("--invalid", "drop", "--duplicates", "first")
    assert unskew("plan", "messy.parquet", *lists, *HOW, *how, cwd=files).returncode == 0
    done = unskew(
        "evaluate", "messy.parquet", *lists, "--train", *HOW[1:], *how, "--json", "messy.json", cwd=files
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    settings = json.loads((files / "messy.json").read_text())["inputs"]["settings"]
    assert (settings["invalid"], settings["duplicates"]) == ("drop", "first")


def test_errors_name_options_and_nothing_is_half_written(files: Path) -> None:
    """One model, a draw without a file, more rows than there are, an output that would replace an input."""
    one = unskew("plan", "log.parquet", *RECS[:2], *HOW, cwd=files)
    refused(one, "too-few-models", "--recs")
    lost = unskew("plan", "log.parquet", *RECS, *HOW, "--draw", "9", cwd=files)
    refused(lost, "missing-argument")
    many = unskew(
        "plan", "log.parquet", *RECS, *HOW, "--draw", "900", "--per-user", "1", "-o", "m.csv", "--json", "m.json",
        cwd=files,
    )  # fmt: skip
    refused(many, "out-of-range", "(--per-user)")
    assert not (files / "m.csv").exists() and not (files / "m.json").exists()
    same = unskew("plan", "log.parquet", *RECS, *HOW, "--draw", "9", "-o", "seen.parquet", cwd=files)
    refused(same, "output-is-input", "seen.parquet")
    fitted = ("--model", "a=most_popular", "--model", "b=random", "--feedback", "conversions")
    refused(unskew("plan", "log.parquet", *fitted, cwd=files), "missing-argument", "--seen")
