"""``unskew split``: folds as files, all of them or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.cli.commands import refused, unskew
from unskew.split import files, make_splits, write_splits

WINDOWS = "sliding_window(width=1d, folds=3, min_users=2)"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Five users over ten days, shuffled; some pairs repeat, and a column that is nobody's business."""
    rng = np.random.default_rng(0)
    rows = 300
    frame = pl.DataFrame(
        {
            "user": rng.integers(0, 5, rows),
            "item": rng.integers(0, 100, rows),
            "time": rng.integers(1_700_000_000, 1_700_000_000 + 10 * 86_400, rows),
            "colour": rng.choice(["red", "blue"], rows),
        }
    )
    path = tmp_path / "log.parquet"
    frame.write_parquet(path)
    return path


def test_every_fold_is_a_folder_of_two_files(log: Path, tmp_path: Path) -> None:
    """The files hold the rows of the splits in the order of time; the manifest and the terminal say what they are."""
    done = unskew("split", log, "--split", WINDOWS, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "colour" in done.stdout and "--keep" in done.stdout
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    splits = make_splits(us.read_log(log), WINDOWS)
    assert manifest["splitter"] == str(splits.splitter) and len(manifest["folds"]) == len(splits) == 3
    for fold, split in zip(manifest["folds"], splits, strict=True):
        assert fold["window"]["start"] == split.window.start  # type: ignore[union-attr]
        for part, expected in zip(("train", "test"), split, strict=True):
            found = pl.read_parquet(tmp_path / "out" / fold["files"][part])
            assert found.height == fold[f"{part}_rows"] and found["time"].is_sorted()
            assert found.sort("user", "item").equals(expected.to_frame().sort("user", "item"))


def test_columns_are_kept_on_request(log: Path, tmp_path: Path) -> None:
    """Under their own names."""
    done = unskew("split", log, "--split", "holdout(share=0.5)", "--keep", "colour", "-o", tmp_path / "out")
    assert done.returncode == 0 and "--keep" not in done.stdout
    assert "--share 0.5 --model" in done.stdout
    assert set(pl.read_parquet(tmp_path / "out/000/test.parquet")["colour"]) == {"red", "blue"}


def test_what_is_there_is_replaced_only_on_request(log: Path, tmp_path: Path) -> None:
    """Then folds of the earlier split that the new one lacks are removed, and nothing else is."""
    out = tmp_path / "out"
    assert unskew("split", log, "--split", "k_fold(folds=4)", "-o", out, "-q").returncode == 0
    (out / "003" / "mine.txt").write_text("kept")
    refused(unskew("split", log, "--split", WINDOWS, "-o", out), "output-exists", "--force")
    assert len(list(out.glob("*/*.parquet"))) == 8
    done = unskew("split", log, "--split", "k_fold(folds=2)", "-o", out, "--force", "-q")
    assert done.returncode == 0 and not done.stdout
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        *("000/test.parquet", "000/train.parquet", "001/test.parquet", "001/train.parquet"),
        *("003/mine.txt", "manifest.json"),
    ]
    assert not (out / "002").exists()


def test_names_of_a_foreign_manifest_are_not_obeyed(log: Path, tmp_path: Path) -> None:
    """Only files that a split could have written are removed."""
    out, other = tmp_path / "out", tmp_path / "other.parquet"
    out.mkdir()
    other.write_text("mine")
    (out / "manifest.json").write_text(json.dumps({"folds": [{"files": {"train": "../other.parquet"}}]}))
    assert unskew("split", log, "--split", "k_fold(folds=2)", "-o", out, "--force", "-q").returncode == 0
    assert other.read_text() == "mine"


def test_a_run_that_fails_leaves_nothing(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither files nor folders, where there were none; an earlier split stays whole."""
    splits = make_splits(us.read_log(log), WINDOWS)

    def fail(*_: Any) -> None:
        raise OSError("full")

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_json", fail)
        with pytest.raises(OSError, match="full"):
            write_splits(splits, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    write_splits(splits, tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*")}
    assert len(before) == 7
    monkeypatch.setattr(files, "write_json", fail)
    with pytest.raises(OSError, match="full"):
        write_splits(make_splits(us.read_log(log), "k_fold(folds=5)"), tmp_path / "out", force=True)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*")} == before
    assert not (tmp_path / "out" / "004").exists()


def test_files_of_leave_one_out_are_known_as_such(log: Path, tmp_path: Path) -> None:
    """A row was held out with one chance in as many rows as its user has: propensities are refused for it."""
    out = tmp_path / "out"
    assert unskew("split", log, "--split", "leave_one_out(repeats=2)", "-o", out, "-q").returncode == 0
    whole, test = us.read_log(log), pl.read_parquet(out / "001/test.parquet")
    sizes = dict(zip(whole.users.values, np.diff(whole.indptr), strict=True))
    assert [1.0 / sizes[user] for user in test["user"]] == test["sampling_weight"].to_list()
    train, held_out = us.read_log(out / "001/train.parquet"), out / "001/test.parquet"
    popular = us.models.MostPopular().fit(train)
    found = us.evaluate(held_out, {"popular": popular}, train=out / "001/train.parquet", metrics=["recall@5"])
    assert {estimate.estimator for estimate in found.estimates} == {"naive"}
    with pytest.raises(us.RefusedError, match="popularity"):
        us.evaluate(held_out, {"popular": popular}, train=train, propensity="popularity", metrics=["recall@5"])


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["--split", "sliding"], "unknown-name", "'sliding_window'"),
        (["--split", "sliding_window(width=15m)"], "bad-value", "min"),
        (["--split", WINDOWS, "--columns", "time=when"], "missing-column", "'when'"),
        (["--split", "sliding_window(width=1d)"], "few-users", "30"),
        (["--split", "k_fold(folds=2)", "--keep", "size"], "missing-column", "'size'"),
    ],
)
def test_what_cannot_be_split_is_said(log: Path, tmp_path: Path, arguments: list[str], code: str, named: str) -> None:
    """In one panel, and nothing is written."""
    refused(unskew("split", log, *arguments, "-o", tmp_path / "out"), code, named)
    assert not (tmp_path / "out").exists()
    inside = tmp_path / "out" / "000" / "train.parquet"
    inside.parent.mkdir(parents=True)
    log.rename(inside)  # where an output would be
    before = inside.read_bytes()
    again = unskew("split", inside, "--split", "k_fold(folds=2)", "-o", tmp_path / "out", "--force")
    refused(again, "output-is-input")
    assert inside.read_bytes() == before
