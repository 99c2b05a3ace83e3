"""Models from files, as a person gives them: ``--model name=FILE.npz``, and the guide's page as it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.commands import code_of, unskew

import unskew as us
from unskew_papers.models import Factors


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated shop, and models of its training log in files."""
    made = tmp_path_factory.mktemp("models")
    done = unskew("simulate", "-o", "shop", "--users", "300", "--items", "120", cwd=made)
    assert done.returncode == 0, done.stderr
    train = us.read_log(made / "shop" / "train.parquet")
    Factors(dim=4, epochs=5).fit(train).save(made / "warp.npz")
    rated = us.Log.from_frame(train.to_frame().with_columns(value=pl.lit(1.0)), feedback="ratings")
    us.models.MF(dim=2, rounds=5, tolerance=1.0).fit(rated).save(made / "mf.npz")
    rng = np.random.default_rng(0)
    users, items = train.users.values.to_numpy(), train.items.values.to_numpy()
    factors: dict[str, Any] = {
        "user_factors": rng.normal(size=(len(users), 3)),
        "item_factors": rng.normal(size=(len(items), 3)),
    }
    np.savez(made / "plain.npz", users=users, items=items, **factors)
    us.models.GivenFactors(users.astype(str), items.astype(str), **factors).save(made / "texts.NPZ")
    return made


def test_files_and_names_stand_side_by_side(folder: Path) -> None:
    """Every kind of file and a model that is fitted, in their order, with the numbers of Python."""
    files = {"warp": "warp.npz", "plain": "plain.npz", "mf": "mf.npz", "texts": "texts.NPZ"}
    named = [word for name, file in files.items() for word in ("--model", f"{name}={file}")]
    logs = ["shop/test.parquet", "--train", "shop/train.parquet", "--metric", "recall@10", "--estimator", "naive"]
    done = unskew("evaluate", *logs, "--model", "pop=most_popular", *named, "--json", "r.json", "-q", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    found = {row["model"]: row["value"] for row in json.loads((folder / "r.json").read_text())["estimates"]}
    train = us.read_log(folder / "shop" / "train.parquet")
    models = {"pop": us.models.MostPopular().fit(train)} | {n: us.models.load(folder / f) for n, f in files.items()}
    test = us.read_log(folder / "shop" / "test.parquet")
    asked = us.evaluate(test, models, metrics=["recall@10"], estimators=["naive"], train=train)
    assert found == {row.model: row.value for row in asked.estimates} and list(found) == ["pop", *files]
    assert found["texts"] == found["plain"] > 0.0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--model", "f=absent.npz"], "missing-file"),
        (["--model", "f=shop/popular.parquet"], "wrong-extension"),
        (["--model", "f=other.npz"], "missing-array"),
        (["--model", "plain.npz"], "bad-string"),
        (["--recs", "f=plain.npz"], "wrong-extension"),
        (["--model", "f=plain.npz", "--model", "k=item_knn"], "missing-argument"),
        (["--model", "f=plain.npz", "--metric", "mae"], "no-values"),
    ],
)
def test_wrong_files_are_told_in_one_panel(folder: Path, arguments: list[str], code: str) -> None:
    """And a file alone needs no training log: nothing is fitted."""
    np.savez(folder / "other.npz", a=np.ones(3))
    evaluate = ["evaluate", "shop/test.parquet", "--estimator", "naive", "-q"]
    done = unskew(*evaluate, *arguments, cwd=folder)
    assert done.returncode == 2 and done.stderr.count("╭") == done.stderr.count("╰") == 1
    assert code_of(done.stderr) == code
    done = unskew(*evaluate, "--model", "f=plain.npz", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
