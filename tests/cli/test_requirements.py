"""Pipelines: exit codes of ``--require``, and JSON on standard output with nothing beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import flat, process, refused, unskew
from tests.evaluation.shop import better, kept
from tests.worlds import listed, pairs_of

USERS, ITEMS, K = 400, 40, 5


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with known propensities; the lists of good know what is liked, those of twin nearly as well."""
    folder, rng = tmp_path_factory.mktemp("shop"), np.random.default_rng(0)
    likes = rng.random((USERS, ITEMS)) < 0.3
    p = np.clip(np.arange(1, ITEMS + 1) ** -0.5, 0.2, 0.9)
    pairs_of(likes & (rng.random((USERS, ITEMS)) < p), propensity=p).write_csv(folder / "test.csv")
    for name, noise in (("good", 0.6), ("twin", 0.6), ("poor", 9.0)):
        best = np.argsort(-(likes + noise * rng.random((USERS, ITEMS))), axis=1)[:, :K]
        listed(best).write_csv(folder / f"{name}.csv")
    return folder


def command(shop: Path, *more: str | Path, names: tuple[str, ...] = ("good", "poor")) -> list[str | Path]:
    lists = [word for name in names for word in ("--recs", f"{name}={shop / name}.csv")]
    return ["evaluate", shop / "test.csv", *lists, "--propensity", "known", "--metric", "recall@5", *more]


RIGHT, WRONG = better("good", "poor", "recall@5"), better("poor", "good", "recall@5")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (["--require", RIGHT], 0),
        (["--require", RIGHT, "--require", kept("good", "poor", "1 %", "recall@5")], 0),
        (["--require", WRONG], 1),
        (["--require", kept("poor", "good", "0.001", "recall@5")], 1),
        (["--require", better("good", "twin", "recall@5")], 3),
        (["--require", kept("good", "twin", "30 %", "recall@5")], 0),
        (["--estimator", "naive", "--require", RIGHT], 3),
        (["--estimator", "direct", "--require", RIGHT], 3),
        (["--estimator", "direct"], 2),
        (["--dry-run", "--require", RIGHT], 2),
    ],
)
def test_the_exit_code_answers(shop: Path, asked: list[str], code: int) -> None:
    """What is refused, alike or not debiased is undecided; without a requirement a refusal is an error."""
    names = ("good", "twin") if "twin" in asked[-1] else ("good", "poor")
    done = unskew(*command(shop, *asked, names=names))
    assert done.returncode == code, done.stderr
    for text in asked[1::2] if code < 2 else ():
        assert f"{text} {'no' if code else 'yes'}:" in flat(done.stdout)
    quiet = unskew(*command(shop, *asked, "--quiet", names=names))
    assert quiet.returncode == code and quiet.stdout == "" and bool(quiet.stderr) is bool(done.stderr)


def test_a_statement_that_cannot_be_read_is_an_error_before_the_work(shop: Path) -> None:
    for text, code in (("better", "unknown-model"), (better("good", "poor", "recall@7"), "unknown-name")):
        done = unskew(*command(shop, "--require", text, "--json", shop / "never.json"))
        refused(done, code, "--require")
    assert not (shop / "never.json").exists()


def test_a_margin_that_nothing_could_miss_is_an_error_after_the_work(shop: Path) -> None:
    """How large a score is, is known only then: what was asked to be written is."""
    text = kept("poor", "good", "2", "recall@5")
    done = unskew(*command(shop, "--require", text, "--json", shop / "vacuous.json", "-q"))
    refused(done, "vacuous-margin", "--require", "2 %")
    assert json.loads((shop / "vacuous.json").read_text())["requirements"] == []


def test_json_on_standard_output_stands_alone(shop: Path) -> None:
    """The answers are in it, and on the error stream; the command and the date say where it comes from."""
    asked = command(shop, "--json", "-", "--require", RIGHT)
    done = process(*asked)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["requirements"][0]["answer"] == "yes"
    assert found["written"]["command"].startswith("unskew evaluate ") and f"'{RIGHT}'" in found["written"]["command"]
    assert RIGHT in flat(done.stderr)
    assert not (Path("-")).exists()
