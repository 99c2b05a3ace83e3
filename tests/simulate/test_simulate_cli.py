"""``unskew simulate``, ``simulate ratings`` and ``simulate shop-over-time`` as a person uses them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.commands import code_of
from typer.testing import CliRunner

from unskew.cli import app
from unskew.log import read_log
from unskew_papers.shop import ShopOverTime


def unskew(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "100", "NO_COLOR": "1"})


def simulate(*arguments: str | Path) -> Any:
    return unskew("simulate", *arguments)


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of ratings with column names of its own."""
    rng = np.random.default_rng(0)
    full = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    user, item = np.nonzero(rng.random(full.shape) < 0.4)
    path = tmp_path_factory.mktemp("log") / "stars.csv"
    value = np.clip(np.round(full[user, item] + 3.0), 1, 5).astype(int)
    pl.DataFrame({"customer": user, "film": item, "stars": value}).write_csv(path)
    return path


SIZE = ("--users", "400", "--items", "80", "--days", "30")
COLUMNS = ("--columns", "user=customer,item=film,value=stars")


def test_a_world_is_written_from_a_file(stars: Path, tmp_path: Path) -> None:
    """All eight files; the log's propensities are those of its ratings; the advice it prints works."""
    done = simulate("ratings", "--like", stars, *COLUMNS, "--alpha", "0.5", "--share", "0.2", "--out", tmp_path / "w")
    assert done.exit_code == 0, done.stderr
    names = {path.name for path in (tmp_path / "w").iterdir()}
    models = {"rec_ones", "rec_fours", "rotate", "skewed", "coarsened"}
    assert names == {f"{name}.parquet" for name in ("log", "truth", *models)} | {"truth.json"}
    log = pl.read_parquet(tmp_path / "w" / "log.parquet")
    by_rating = log.group_by("value").agg(pl.col("propensity").unique()).sort("value")
    p = dict(zip(by_rating["value"], by_rating["propensity"].list.first(), strict=True))
    assert p[5] == p[4] and p[3] == pytest.approx(p[4] / 2) and p[1] == pytest.approx(p[4] / 8)
    truth = json.loads((tmp_path / "w" / "truth.json").read_text())
    assert {row["model"] for row in truth} == models
    assert pl.read_parquet(tmp_path / "w" / "truth.parquet").height == 1200
    (advice,) = re.findall(r"unskew (evaluate (?:.*\\\n)+.*)", done.stdout)
    tried = unskew(*advice.replace("\\\n", " ").split())
    assert tried.exit_code == 0 and "rec_fours" in tried.stdout and "per_pair" in tried.stdout, tried.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((*COLUMNS, "--alpha", "0"), "out-of-range"),
        ((*COLUMNS, "--share", "2"), "out-of-range"),
        ((*COLUMNS, "--marginals", "half"), "bad-value"),
        ((*COLUMNS, "--marginals", "0.5,0.6,0.2"), "bad-value"),
        ((*COLUMNS, "--rank", "0"), "out-of-range"),
        ((*COLUMNS, "--users", "0"), "out-of-range"),
        ((), "missing-column"),
    ],
)
def test_what_cannot_be_done_is_said(stars: Path, tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    done = simulate("ratings", "--like", stars, "--out", tmp_path / "w", *arguments)
    assert done.exit_code == 2 and code_of(done.stderr) == code
    assert not (tmp_path / "w").exists()


def test_files_say_what_the_shop_over_time_says(tmp_path: Path) -> None:
    """Four files; the log reads back as the shop's own, and the truth is that of the week behind it."""
    done = simulate("shop-over-time", *SIZE, "--seed", "2", "--out", tmp_path / "w")
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
    again = simulate("shop-over-time", *SIZE, "--out", tmp_path / "w")
    assert again.exit_code == 2 and code_of(again.stderr) == "output-exists"
