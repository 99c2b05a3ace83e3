"""``unskew evaluate --predictions``: files in, a verdict and JSON out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.cli.commands import code_of, flat, unskew
from tests.ratings.test_verdicts import world


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of ratings and three models' predictions."""
    folder = tmp_path_factory.mktemp("ratings")
    frame, models = world(20)
    frame.write_parquet(folder / "test.parquet")
    for name, guess in models.items():
        user, item = (index.ravel() for index in np.indices(guess.shape))
        pl.DataFrame({"user": user, "item": item, "prediction": guess.ravel()}).write_parquet(
            folder / f"{name}.parquet"
        )
    return folder


def test_predictions_are_judged_by_mae(files: Path, tmp_path: Path) -> None:
    """The command of the guide: a verdict in words, and a JSON that holds what Python says."""
    done = unskew(
        "evaluate", files / "test.parquet", "--predictions", f"near={files / 'near.parquet'}",
        "--predictions", files / "rosy.parquet", "--feedback", "ratings", "--propensity", "known", "--metric", "mae",
        "--json", tmp_path / "r.json", "--html", tmp_path / "r.html", "--csv", tmp_path / "r.csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {"near", "rosy", "mae", "`propensity`"} <= set(flat(done.stdout).replace(",", " ").split())
    record = json.loads((tmp_path / "r.json").read_text())
    direct = us.evaluate(
        files / "test.parquet", {"near": files / "near.parquet", "rosy": files / "rosy.parquet"}, metrics=["mae"],
        propensity="known", feedback="ratings",
    )  # fmt: skip
    assert [(e["model"], e["estimator"]) for e in record["estimates"]] == [
        (m, e) for e in ("naive", "snips") for m in ("near", "rosy")
    ]
    assert [e["value"] for e in record["estimates"]] == [e.value for e in direct.estimates]
    assert {e["target"] for e in record["estimates"]} == {"per_pair"}
    assert [v["verdict"] for v in record["verdicts"]] == ["behind", "ahead"]
    assert record["inputs"]["models"]["near"]["rows"] == 150 * 12
    assert pl.read_csv(tmp_path / "r.csv")["value"].to_list() == [e.value for e in direct.estimates]


def test_wrong_predictions_are_one_panel(files: Path, tmp_path: Path) -> None:
    """Missing pairs, names used twice, a missing file: exit code 2 or 1, one message, no traceback."""
    short = tmp_path / "short.csv"
    pl.read_parquet(files / "near.parquet").head(900).write_csv(short)
    base: list[str | Path] = ["evaluate", files / "test.parquet", "--feedback", "ratings"]
    done = unskew(*base, "--predictions", short)
    assert done.returncode != 0 and "--invalid drop" in flat(done.stderr)
    done = unskew(*base, "--predictions", short, "--invalid", "drop", "--json", tmp_path / "d.json")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "d.json").read_text())
    rows = pl.read_parquet(files / "test.parquet")
    assert list(record["inputs"]["test"]["dropped"].values()) == [len(rows.filter(pl.col("user") >= 75))]
    near = files / "near.parquet"
    done = unskew(*base, "--predictions", f"m={near}", "--recs", f"m={near}")
    assert done.returncode != 0 and code_of(done.stderr) == "repeated-name"
    done = unskew(*base, "--predictions", f"m={tmp_path / 'none.parquet'}")
    assert done.returncode != 0 and "none.parquet" in flat(done.stderr)
    assert "Traceback" not in done.stderr
