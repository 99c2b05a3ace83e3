"""``unskew simulate shop-over-time`` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
from tests.cli.commands import code_of
from typer.testing import CliRunner

from unskew.cli import app
from unskew.log import read_log
from unskew.simulate import ShopOverTime

SIZE = ("--users", "400", "--items", "80", "--days", "30")


def simulate(*arguments: str | Path) -> Any:
    environment = {"COLUMNS": "100", "NO_COLOR": "1"}
    return CliRunner().invoke(app, ["simulate", "shop-over-time", *map(str, arguments)], env=environment)


def test_files_say_what_the_shop_says(tmp_path: Path) -> None:
    """Four files; the log reads back as the shop's own, and the truth is that of the week behind it."""
    done = simulate(*SIZE, "--seed", "2", "--out", tmp_path / "w")
    assert done.exit_code == 0, done.stderr
    assert {path.name for path in (tmp_path / "w").iterdir()} == {
        "log.parquet", "items.parquet", "full.parquet", "truth.json"
    }  # fmt: skip
    shop = ShopOverTime(users=400, items=80, days=30, seed=2, future=7)
    log = read_log(tmp_path / "w" / "log.parquet", keep=["place"])
    assert log.to_frame().drop("position").sort("user", "item").equals(shop.log.to_frame())
    full = pl.read_parquet(tmp_path / "w" / "full.parquet")
    assert full.equals(shop.full_log(30, 7).to_frame())
    truth = json.loads((tmp_path / "w" / "truth.json").read_text())
    assert {row["model"] for row in truth} == {"popular", "recent", "item_knn", "svd"}
    table = shop.ab_test({"item_knn": "item_knn(neighbours=50)"}).table().row(0, named=True)
    told = {row["metric"]: row for row in truth if row["model"] == "item_knn"}
    assert told["clicks"]["value"] == table["clicks"] and told["recall@10"]["error"] == table["recall@10_error"]
    items = pl.read_parquet(tmp_path / "w" / "items.parquet")
    lived = (
        log.to_frame()
        .join(items, on="item")
        .select(inside=pl.col("time").dt.date().is_between("first_day", "last_day"))
    )
    assert lived["inside"].all() and len(lived) == len(log)
    assert f"{len(log):,} rows" in done.stdout and "item_knn 50%" in done.stdout
    again = simulate(*SIZE, "--out", tmp_path / "w")
    assert again.exit_code == 2 and code_of(again.stderr) == "output-exists"


def test_candidates_can_be_named(tmp_path: Path) -> None:
    """--model takes the place of the usual candidates; a model that is none is told before anything is written."""
    done = simulate(*SIZE, "--model", "mine=item_knn(neighbours=3)", "--out", tmp_path / "w", "--quiet")
    assert done.exit_code == 0 and not done.stdout
    assert {row["model"] for row in json.loads((tmp_path / "w" / "truth.json").read_text())} == {"mine"}
    wrong = simulate(*SIZE, "--model", "mine=item_kn", "--out", tmp_path / "v")
    assert wrong.exit_code == 2 and code_of(wrong.stderr) == "unknown-name" and not (tmp_path / "v").exists()
