"""Models from files, as a person gives them: ``--model name=FILE.npz``, and the guide's page as it is written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.commands import flat, unskew

import unskew as us
from unskew_papers.models import Factors

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


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


def test_a_file_needs_no_training_log(folder: Path) -> None:
    """Nothing is fitted."""
    done = unskew("evaluate", "shop/test.parquet", "--model", "f=plain.npz", "--estimator", "naive", "-q", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "f=absent.npz"], ["absent.npz", "no such file"]),
        (["--model", "f=shop.npz"], ["shop.npz", "no such file"]),
        (["--model", "f=shop/popular.parquet"], ["ends in .npz", "--recs f=shop/popular.parquet"]),
        (["--model", "f=text.npz"], ["text.npz", "not a model"]),
        (["--model", "f=other.npz"], ["no array 'users'", "user_factors, item_factors"]),
        (["--model", "f=strangers.npz"], ["none of the", "'u0'", "written the same way"]),
        (["--model", "plain.npz"], ["--model name=plain.npz"]),
        (["--recs", "f=plain.npz"], ["holds a model", "--model f=plain.npz"]),
        (["--model", "f=plain.npz", "--model", "k=item_knn"], ["--train"]),
        (["--model", "f=plain.npz", "--metric", "mae"], ["mae"]),
    ],
)
def test_wrong_files_are_told_in_one_panel(folder: Path, arguments: list[str], words: list[str]) -> None:
    """What is wrong, where, and what to do."""
    (folder / "text.npz").write_text("hello")
    np.savez(folder / "other.npz", a=np.ones(3))
    np.savez(
        folder / "strangers.npz", users=["u0"], items=["i0"], user_factors=np.ones((1, 1)), item_factors=np.ones((1, 1))
    )
    done = unskew("evaluate", "shop/test.parquet", *arguments, "--estimator", "naive", cwd=folder)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.count("╭") == done.stderr.count("╰") == 1
    for word in words:
        assert word in flat(done.stderr)


def test_the_help_says_so() -> None:
    """What the file holds, where people look."""
    said = flat(unskew("evaluate", "--help").stdout)
    assert "name=FILE.npz" in said and "users, items, user_factors, item_factors" in said


def test_the_page_runs_as_it_is_written(folder: Path) -> None:
    """Both pieces of Python, then the command: its number is that of Python."""
    page = PAGE.read_text().split("## Factors made elsewhere")[1].split("\n## ")[0]
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    code += "\nresult.to_json('python.json')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    (command,) = re.findall(r"```bash\nunskew (evaluate .*?)\n```", page)
    ran = unskew(*command.split(), "--json", "page.json", "-q", cwd=folder)
    assert ran.returncode == 0, flat(ran.stderr)
    python, line = (
        {row["model"]: row["value"] for row in json.loads((folder / name).read_text())["estimates"]}
        for name in ("python.json", "page.json")
    )
    assert python["svd"] == line["svd"] > 0.0
