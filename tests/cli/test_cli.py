"""The command line as a person uses it: files in, tables and files out, one panel when something is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from tests.cli.commands import code_of, flat, process, unskew


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated shop as files."""
    folder = tmp_path_factory.mktemp("shop")
    done = process("simulate", "-o", folder, "--users", "300", "--items", "120")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def bare(shop: Path) -> Path:
    """The same test log without its column of propensities."""
    (shop / "bare").mkdir()
    path = shop / "bare" / "test.parquet"
    pl.read_parquet(shop / "test.parquet").drop("propensity").write_parquet(path)
    return path


def test_evaluate_prints_a_verdict_and_writes_every_format(shop: Path, tmp_path: Path) -> None:
    """One command gives the table, the verdict, and JSON, CSV, Parquet and HTML files that agree."""
    done = process(
        "evaluate", shop / "test.parquet", "--train", shop / "train.parquet", "--users", shop / "users.parquet",
        "--recs", f"popular={shop / 'popular.parquet'}", "--recs", shop / "challenger.parquet",
        "--model", "knn=item_knn(neighbours=20)", "--metric", "recall@10", "--metric", "dcg@10",
        "--estimator", "naive", "--estimator", "snips", "--propensity", "known",
        "--json", tmp_path / "r.json", "--csv", tmp_path / "r.csv", "--parquet", tmp_path / "r.parquet",
        "--html", tmp_path / "r.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "challenger" in done.stdout and "recall@10" in done.stdout
    record = json.loads((tmp_path / "r.json").read_text())
    table, frame = pl.read_csv(tmp_path / "r.csv"), pl.read_parquet(tmp_path / "r.parquet")
    assert len(record["estimates"]) == len(table) == len(frame) == 3 * 2 * 2
    assert [row["value"] for row in record["estimates"]] == frame["value"].to_list() == table["value"].to_list()
    assert {row["model"] for row in record["estimates"]} == {"popular", "challenger", "knn"}
    assert "<html" in (tmp_path / "r.html").read_text()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["--recs", "x=nowhere.parquet"], "missing-file", "nowhere.parquet"),
        ([], "", "--recs"),
        (["--model", "knn=item_knn"], "missing-argument", "--train"),
        (["--recs", "POP", "--metric", "recal@10"], "unknown-name", "recall"),
        (["--recs", "POP", "--estimator", "snips"], "", "propensit"),
        (["--recs", "POP", "--propensity", "popularity(gamma=1)"], "no-training-log", "--train"),
        (["--recs", "POP", "--estimator", "ips", "--propensity", "known"], "", "snips"),
        (["--recs", "POP", "--level", "2"], "out-of-range", "level"),
        (["--recs", "POP", "--json", "out.csv"], "wrong-extension", ".json"),
        (["--recs", "POP", "--json", "nowhere/out.json"], "missing-folder", "nowhere"),
        (["--recs", "POP", "--columns", "user=nobody"], "missing-column", "nobody"),
        (["--recs", "POP", "--by", "planet"], "missing-column", "planet"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_panel(
    shop: Path, bare: Path, arguments: list[str], code: str, named: str
) -> None:
    """Wrong input exits with 2, names what is wrong, shows no traceback, and makes no folder."""
    log = shop / "test.parquet" if "known" in arguments else bare
    given = [a.replace("POP", f"pop={shop / 'popular.parquet'}") for a in arguments]
    done = unskew("evaluate", log, *given, cwd=shop)
    assert not (shop / "nowhere").exists() and named in flat(done.stderr)
    assert done.returncode == 2 and code_of(done.stderr).startswith(code)


def test_help_is_quick_and_complete() -> None:
    """--help names every command; --version prints the version."""
    done = process("--help")
    assert all(command in done.stdout for command in ("demo", "evaluate", "simulate"))
    assert re.fullmatch(r"unskew \d+\.\d+\.\d+\n", process("--version").stdout)
