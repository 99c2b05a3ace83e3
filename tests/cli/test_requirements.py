"""Pipelines: exit codes of ``--require``, and JSON on standard output with nothing beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.commands import flat, process, unskew
from unskew.result import Result

USERS, ITEMS, K = 400, 40, 5


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with known propensities; the lists of good know what is liked, those of twin nearly as well."""
    folder, rng = tmp_path_factory.mktemp("shop"), np.random.default_rng(0)
    likes = rng.random((USERS, ITEMS)) < 0.3
    p = np.clip(np.arange(1, ITEMS + 1) ** -0.5, 0.2, 0.9)
    user, item = np.nonzero(likes & (rng.random((USERS, ITEMS)) < p))
    pl.DataFrame({"user": user, "item": item, "propensity": p[item]}).write_csv(folder / "test.csv")
    for name, noise in (("good", 0.6), ("twin", 0.6), ("poor", 9.0)):
        best = np.argsort(-(likes + noise * rng.random((USERS, ITEMS))), axis=1)[:, :K]
        columns = {
            "user": np.repeat(np.arange(USERS), K),
            "item": best.ravel(),
            "rank": np.tile(np.arange(K) + 1, USERS),
        }
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
    return folder


def command(shop: Path, *more: str | Path, names: tuple[str, ...] = ("good", "poor")) -> list[str | Path]:
    lists = [word for name in names for word in ("--recs", f"{name}={shop / name}.csv")]
    return ["evaluate", shop / "test.csv", *lists, "--propensity", "known", "--metric", "recall@5", *more]


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        (["good better than poor on recall@5"], 0),
        (["good better than poor on recall@5", "good not worse than poor by 1 % on recall@5"], 0),
        (["poor better than good on recall@5"], 1),
        (["poor not worse than good by 0.001 on recall@5"], 1),
    ],
)
def test_the_exit_code_answers(shop: Path, statements: list[str], code: int) -> None:
    asked = [word for text in statements for word in ("--require", text)]
    done = unskew(*command(shop, *asked))
    assert done.returncode == code, done.stderr
    said = flat(done.stdout)
    for text in statements:
        assert f"required: {text} {'no' if code else 'yes'}:" in said


def test_what_cannot_be_told_is_undecided(shop: Path) -> None:
    """Two that are alike; and anything where nothing is debiased."""
    done = unskew(*command(shop, "--require", "good better than twin on recall@5", names=("good", "twin")))
    assert done.returncode == 3 and "undecided: the difference may be 0" in flat(done.stdout)
    wide = "good not worse than twin by 30 % on recall@5"
    done = unskew(*command(shop, "--require", wide, "--quiet", names=("good", "twin")))
    assert done.returncode == 0 and done.stdout == done.stderr == ""
    done = unskew(*command(shop, "--estimator", "naive", "--require", "good better than poor on recall@5"))
    assert done.returncode == 3 and "undoes the skew" in flat(done.stdout)


def test_what_is_refused_is_undecided(shop: Path) -> None:
    """The whole evaluation, or this metric; without a requirement a refusal is an error."""
    refused = command(shop, "--estimator", "direct")
    assert unskew(*refused).returncode == 2
    done = unskew(*refused, "--require", "good better than poor on recall@5")
    assert done.returncode == 3 and "unskew cannot do this" in done.stderr
    done = unskew(*command(shop, "--dry-run", "--require", "good better than poor on recall@5"))
    assert done.returncode == 2 and "--dry-run" in done.stderr


def test_a_statement_that_cannot_be_read_is_an_error_before_the_work(shop: Path) -> None:
    for text, why in (("better", "begin with the name of a model"), ("good better than poor on recall@7", "recall@7")):
        done = unskew(*command(shop, "--require", text, "--json", shop / "never.json"))
        assert done.returncode == 2 and "--require" in flat(done.stderr) and why in flat(done.stderr)
    assert not (shop / "never.json").exists()


def test_a_margin_that_nothing_could_miss_is_an_error_after_the_work(shop: Path) -> None:
    """How large a score is, is known only then: what was asked to be written is."""
    text = "poor not worse than good by 2 on recall@5"
    done = unskew(*command(shop, "--require", text, "--json", shop / "vacuous.json", "-q"))
    assert done.returncode == 2 and "--require" in flat(done.stderr) and "Did you mean 2 %?" in flat(done.stderr)
    assert json.loads((shop / "vacuous.json").read_text())["requirements"] == []


def test_json_on_standard_output_stands_alone(shop: Path) -> None:
    """The answers are in it, and on the error stream; the command and the date say where it comes from."""
    asked = command(shop, "--json", "-", "--require", "good better than poor on recall@5")
    done = process(*asked)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["requirements"][0]["answer"] == "yes"
    assert (
        found["written"]["command"].startswith("unskew evaluate ")
        and "'good better than poor on recall@5'" in found["written"]["command"]
    )
    assert "required: good better than poor" in flat(done.stderr)
    assert not (Path("-")).exists()


def test_json_on_standard_output_is_the_file(shop: Path, tmp_path: Path) -> None:
    for words in (command(shop), ["audit", shop / "test.csv"]):
        printed = unskew(*words, "--json", "-")
        written = unskew(*words, "--json", tmp_path / "r.json", "--quiet")
        assert printed.returncode == written.returncode == 0
        one, other = json.loads(printed.stdout), json.loads((tmp_path / "r.json").read_text())
        assert one.pop("written")["versions"] == other.pop("written")["versions"] and one == other
    done = unskew(*command(shop), "--json", tmp_path / "r.json", "-q")
    assert done.returncode == 0 and Result.from_json(tmp_path / "r.json").require("good better than poor on recall@5")


def test_several_propensities_and_folds_answer_too(shop: Path, tmp_path: Path) -> None:
    both = command(
        shop,
        "--propensity",
        "uniform",
        "--json",
        tmp_path / "c.json",
        "-q",
        "--require",
        "good better than poor on recall@5",
    )
    assert unskew(*both).returncode == 0
    assert json.loads((tmp_path / "c.json").read_text())["requirements"][0]["answer"] == "yes"
    folds: list[str | Path] = [
        "cross-validate",
        shop / "test.csv",
        "--split",
        "k_fold(folds=2)",
        "--model",
        "a=most_popular",
        "--model",
        "b=random",
    ]
    asked = [
        "--metric",
        "recall@5",
        "--estimator",
        "naive",
        "--no-store",
        "--json",
        "-",
        "--require",
        "a better than b on recall@5",
    ]
    done = unskew(*folds, *asked)
    assert done.returncode == 3 and json.loads(done.stdout)["macro"]["requirements"][0]["answer"] == "undecided"
