"""Conversions on the command line say what the library says; what is wrong is one panel with its code."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.cli.commands import Done, unskew
from tests.said import told

ESTIMATORS = ["naive", "ips", "snips(over=list)", "direct", "dr", "sndr", "switch(tau=20)"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated shop whose seen pairs convert or not, as files."""
    folder = tmp_path_factory.mktemp("shop")
    done = unskew("simulate", "-o", folder, "--users", "400", "--items", "100", "--feedback", "conversions")
    assert done.returncode == 0, done.stderr
    return folder


def evaluate(shop: Path, *more: str | Path) -> Done:
    lists = [word for name in ("popular", "challenger") for word in ("--recs", f"{name}={shop / f'{name}.parquet'}")]
    return unskew(
        "evaluate", shop / "test.parquet", "--train", shop / "train.parquet", "--users", shop / "users.parquet",
        "--feedback", "conversions", "--metric", "dcg@10", "--propensity", "known", *lists, *more,
    )  # fmt: skip


def given(shop: Path) -> dict[str, object]:
    """The same as arguments."""
    files = {name: shop / f"{name}.parquet" for name in ("test", "train", "users", "popular", "challenger")}
    models = {name: files.pop(name) for name in ("popular", "challenger")}
    return {**files, "models": models, "feedback": "conversions", "metrics": ["dcg@10"], "propensity": "known"}


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--outcome", "means(shrink=5)"], {"outcome": "means(shrink=5)", "estimators": ESTIMATORS}),
        (["--outcome", "means", "--in-sample"], {"outcome": "means", "in_sample": True, "estimators": None}),
        (["--outcome", "given(TABLE, default=0.2)"], {"outcome": "given(TABLE, default=0.2)", "estimators": ["dr"]}),
    ],
)
def test_the_command_says_what_the_library_says(
    shop: Path, flags: list[str], options: dict[str, object], tmp_path: Path
) -> None:
    """Fitted models, in sample too, and predictions from a file, with a default for the pairs that it lacks."""
    table = tmp_path / "q.csv"
    pl.read_parquet(shop / "test.parquet").select("user", "item", prediction=pl.lit(0.2)).write_csv(table)
    asked = {**options, "outcome": str(options["outcome"]).replace("TABLE", str(table))}
    flags = [flag.replace("TABLE", str(table)) for flag in flags]
    flags += [word for name in options["estimators"] or () for word in ("--estimator", name)]  # type: ignore[attr-defined]
    done = evaluate(shop, *flags, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    expected = us.evaluate(**given(shop) | asked).to_dict()  # type: ignore[arg-type]
    for part in ("estimates", "verdicts"):
        for row, other in zip(found[part], json.loads(json.dumps(expected[part])), strict=True):
            near = {name: pytest.approx(v, rel=1e-12) for name, v in other.items() if isinstance(v, float)}
            assert row == other | near
    assert found["inputs"]["outcome"] == json.loads(json.dumps(expected["inputs"]["outcome"]))


def test_what_is_wrong_is_one_panel(shop: Path, tmp_path: Path) -> None:
    """A table of predictions with a gap: the library names the file, column and row, and the command shows it."""
    path = tmp_path / "q.csv"
    path.write_text("user,item,prediction\n1,2,0.5\n1,3,\n")
    asked = {"outcome": f"given({path})", "estimators": ["dr"]}
    assert told(us.evaluate, **given(shop) | asked)[1] == "prediction"
    done = evaluate(shop, "--estimator", "dr", "--outcome", f"given({path})")
    assert done.returncode != 0 and done.stdout == "" and "Traceback" not in done.stderr
    assert path.name in done.stderr.replace("\n", "") and "prediction" in done.stderr
