"""``unskew simulate ratings`` as a person uses it; ``unskew simulate`` alone still makes a shop."""

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


def test_options_reach_the_world(stars: Path, tmp_path: Path) -> None:
    """The busiest part, the log's own marginals, another seed, no words."""
    folder = tmp_path / "w"
    shared = ("ratings", "--like", stars, *COLUMNS, "--out", folder, "--quiet", "--force", "--share", "0.3")
    assert simulate(*shared, "--users", "20", "--items", "10").stdout == ""
    first = pl.read_parquet(folder / "log.parquet")
    assert pl.read_parquet(folder / "truth.parquet").height == 200
    simulate(*shared, "--users", "20", "--items", "10", "--seed", "1")
    assert not pl.read_parquet(folder / "log.parquet").equals(first)
    simulate(*shared, "--marginals", "own")
    given = pl.read_csv(stars)["stars"].value_counts(normalize=True).sort("stars")["proportion"]
    made = pl.read_parquet(folder / "truth.parquet")["value"].value_counts(normalize=True).sort("value")["proportion"]
    assert made.to_list() == pytest.approx(given.to_list(), abs=1e-3)
    simulate(*shared, "--marginals", "0.2,0.3,0.5")
    assert pl.read_parquet(folder / "truth.parquet")["value"].max() == 3


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


def test_simulate_alone_makes_a_shop(tmp_path: Path) -> None:
    """As ever; without a folder it says what is missing, and for ratings it names the other command."""
    done = simulate("-o", tmp_path / "shop", "--users", "60", "--items", "40")
    assert done.exit_code == 0 and (tmp_path / "shop" / "challenger.parquet").exists()
    assert "--output" in simulate().stderr
    assert code_of(simulate("-o", tmp_path / "x", "--feedback", "ratings").stderr) == "bad-value"
