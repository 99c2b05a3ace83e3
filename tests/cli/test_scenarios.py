"""The command line where nobody knows the propensities: the path carries the answer, and everything shows it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.commands import flat, unskew

MODELS = ("popular", "item_knn", "challenger", "random")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small shop whose log has no column of propensities."""
    found = tmp_path_factory.mktemp("shop")
    done = unskew("simulate", "-o", found, "--users", "300", "--items", "120")
    assert done.returncode == 0, done.stderr
    bare = pl.read_parquet(found / "test.parquet").drop("propensity")
    bare.write_parquet(found / "bare.parquet")
    return found


def test_a_log_without_propensities_is_answered_by_the_path(folder: Path, tmp_path: Path) -> None:
    """Terminal, page and JSON agree: the small table, the order, the range, and what is not covered."""
    recs = [word for name in MODELS for word in ("--recs", f"{name}={folder / name}.parquet")]
    files = ("--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    done = unskew("evaluate", folder / "bare.parquet", "--train", folder / "train.parquet", *recs, *files)
    assert done.returncode == 0, done.stderr
    said, found = flat(done.stdout), json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert found["headline"]["estimator"] == "exposure_path" and found["headline"]["debiased"]
    assert "Leaderboard, recall@10" in said and "Not debiased" not in said
    assert said.count(flat(found["verdicts"][-1]["not_covered"])) == 1
    (table,) = found["scenarios"]
    assert len(table["points"]) == 11 and table["estimated"] is None
    order = [row["model"] for row in found["leaderboard"]]
    averages = {row["model"]: sum(row["value"]) / 11 for row in table["values"]}
    assert order == sorted(averages, key=lambda model: -averages[model])
    assert order.index("random") == 3 and not found["leaderboard"][3]["in_best_group"]
    assert all(v["verdict"] not in ("better", "worse") for v in found["verdicts"])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<section id="scenarios">' in text and '<section id="leaderboard">' in text
