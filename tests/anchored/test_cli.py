"""``unskew evaluate --answers``: files in, a headline and an account out."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.anchored.tiny import ITEMS, USERS, tiny
from tests.cli.commands import flat, unskew


@pytest.fixture
def files(tmp_path: Path) -> Path:
    world = tiny(3)
    world.test().write_parquet(tmp_path / "test.parquet")
    world.answers(dict.fromkeys(world.unseen, 0.5)).write_csv(tmp_path / "answers.csv")
    pl.DataFrame({"user": USERS}).write_csv(tmp_path / "users.csv")
    pl.DataFrame({"item": ITEMS}).write_csv(tmp_path / "items.csv")
    for name, frame in world.recs().items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_answers_make_the_headline(files: Path) -> None:
    """The account says what was asked, and messages speak of options."""
    given: list[str | Path] = ["--feedback", "conversions", "--metric", "recall@2", "--items", files / "items.csv"]
    lists = [word for name in ("one", "other") for word in ("--recs", f"{name}={files / f'{name}.parquet'}")]
    done = unskew(
        "evaluate", files / "test.parquet", *lists, *given, "--users", files / "users.csv",
        "--answers", files / "answers.csv", "--json", files / "out.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads((files / "out.json").read_text())
    assert record["headline"]["estimator"] == "anchored" and record["inputs"]["answers"]["answered"] == 6
    wrong = unskew("evaluate", files / "test.parquet", *lists, *given, "--fixed-relevance")
    assert wrong.returncode != 0
    assert "--answers" in flat(wrong.stderr + wrong.stdout)
