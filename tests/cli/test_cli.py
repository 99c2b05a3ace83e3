"""The command line as a person uses it: files in, tables and files out, one panel when something is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from tests.cli.commands import code_of, flat, process, refused, unskew


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


def test_simulate_writes_logs_lists_and_the_truth(shop: Path) -> None:
    """Everything the next command needs is there, and the truth has a value per model, metric and target."""
    names = {"train", "test", "users", "full", "popular", "item_knn", "challenger", "random"}
    assert {path.stem for path in shop.glob("*.parquet")} == names
    truth = json.loads((shop / "truth.json").read_text())
    assert {row["target"] for row in truth} == {"per_user", "pooled", "per_user_sum"}
    assert all(row["value"] >= 0.0 for row in truth)


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


def test_a_column_of_propensities_is_used_and_said_so(shop: Path, bare: Path, tmp_path: Path) -> None:
    """Nothing asked for: the log's own propensities debias, and without them or a training log it says Not debiased."""
    lists: list[str | Path] = ["--recs", shop / "popular.parquet", "--recs", shop / "challenger.parquet"]
    done = unskew("evaluate", shop / "test.parquet", "--train", shop / "train.parquet", *lists, "--json",
                  tmp_path / "r.json")  # fmt: skip
    record = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 0 and "used" in {w["code"] for w in record["warnings"]}
    assert record["headline"]["debiased"] and record["headline"]["estimator"] == "snips"
    assert record["inputs"]["settings"]["propensity"] == "known" and "Not debiased" not in done.stdout
    done = unskew("evaluate", bare, *lists, "--json", tmp_path / "n.json")
    record = json.loads((tmp_path / "n.json").read_text())
    assert done.returncode == 0 and "Not debiased: " in done.stdout and "exposure_path" in done.stdout
    assert record["headline"]["title"].startswith("Not debiased: ") and not record["headline"]["debiased"]


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


def test_failure_leaves_no_output(shop: Path, bare: Path, tmp_path: Path) -> None:
    """A refused run writes none of the files it was asked for."""
    out = tmp_path / "r.json"
    done = unskew("evaluate", bare, "--recs", shop / "random.parquet", "--estimator", "snips", "--json", out)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_help_is_quick_and_complete() -> None:
    """--help names every command; --version prints the version."""
    done = process("--help")
    assert all(command in done.stdout for command in ("demo", "evaluate", "simulate"))
    assert re.fullmatch(r"unskew \d+\.\d+\.\d+\n", process("--version").stdout)


def test_several_propensities_are_compared(shop: Path, tmp_path: Path) -> None:
    """--propensity twice gives the comparison in every format; what only one supports is told, mistakes are a panel."""
    files: list[str | Path] = ["--train", shop / "train.parquet", "--users", shop / "users.parquet"]
    lists: list[str | Path] = ["--recs", f"popular={shop / 'popular.parquet'}", "--recs", shop / "challenger.parquet"]
    what = ["--estimator", "snips", "--estimator", "ips", "--propensity", "known", "--propensity", "uniform"]
    outputs: list[str | Path] = []
    for kind in ("json", "csv", "parquet", "html"):
        outputs += [f"--{kind}", tmp_path / f"c.{kind}"]
    done = unskew("evaluate", shop / "test.parquet", *files, *lists, *what, *outputs)
    assert done.returncode == 0, done.stderr
    assert "recall@10 × ips" in flat(done.stdout)
    record, table = json.loads((tmp_path / "c.json").read_text()), pl.read_csv(tmp_path / "c.csv")
    alone = unskew(
        "evaluate", shop / "test.parquet", *files, *lists, *what[:-2], "--json", tmp_path / "one.json", "--quiet"
    )
    assert alone.returncode == 0, alone.stderr
    assert record["results"]["known"]["estimates"] == json.loads((tmp_path / "one.json").read_text())["estimates"]
    assert [row["value"] for row in record["estimates"]] == table["value"].to_list()
    assert "<html" in (tmp_path / "c.html").read_text() and len(pl.read_parquet(tmp_path / "c.parquet")) == len(table)
    wrong = unskew("evaluate", shop / "test.parquet", *files, *lists, *what, "--propensity", "unifrm")
    refused(wrong, "unknown-name", "'uniform'")
