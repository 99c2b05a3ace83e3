"""A third party's parts, one kind after the other, wherever built-in ones can be used; and how they become known."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.outside import parts
from tests.report.every_output import shown
from tests.said import refuses
from unskew import models, propensity, split
from unskew.simulate import World, relevant_for

HERE = Path(__file__).parent
WORLD = World(users=300, items=60, seed=3, relevant=relevant_for(60))


def valued(log: us.Log, values: Any, feedback: str) -> us.Log:
    """The same pairs with values, logged propensities and times."""
    frame = pl.DataFrame({"user": log.users.values[log.user], "item": log.items.values[log.item]})
    rng = np.random.default_rng(len(log))
    extra = {"value": rng.choice(values, len(log)), "propensity": np.full(len(log), 0.3), "time": np.arange(len(log))}
    return us.Log.from_frame(frame.with_columns(**extra), feedback=feedback)


CONVERSIONS = [valued(log, [0.0, 1.0], "conversions") for log in (WORLD.train, WORLD.test)]
RATINGS = [valued(log, [1.0, 2.0, 3.0, 4.0, 5.0], "ratings") for log in (WORLD.train, WORLD.test)]


def lists(train: us.Log) -> dict[str, Any]:
    return {"popular": us.models.MostPopular().fit(train), "own": models.make("alphabetical(skip=3)").fit(train)}


def test_propensities_in_checks_audits_and_comparisons(tmp_path: Path) -> None:
    """One that reads a column of the pair's own row, and one that is fitted."""
    train, test = CONVERSIONS
    own = ["by_value(low=0.2, high=0.4)", "root_count", "calibrated(root_count, method=platt)"]
    checks = us.propensity.check(own, train, folds=2)
    assert all(name.split("(")[0] in shown(checks, tmp_path) for name in own)
    assert checks["by_value"].log_loss is None and checks["by_value"].unasked
    assert checks["root_count"].log_loss is not None
    assert "root_count" in shown(us.audit(train, propensities=own[:2]), tmp_path)
    compared = us.compare_propensities(test, lists(train), train=train, propensities=[*own[:2], "popularity"])
    assert "by_value" in shown(compared, tmp_path)


def test_a_propensity_that_reads_a_column_says_so_where_it_is_missing() -> None:
    """Training rows without it are left out of what they would be used for; a test log without it is refused."""
    train, test = CONVERSIONS

    class Strict(parts.ByValue):
        def of(self, log: us.Log) -> Any:
            assert log.value is None or len(log.value) == len(log)
            return propensity.Scored(np.where(log.value > 0.0, 0.4, 0.2))  # type: ignore[operator]

    found = us.evaluate(test, lists(train), train=WORLD.train, propensity=Strict(), target="pooled")
    assert found.estimates
    with refuses("missing-column", column="value"):
        us.evaluate(WORLD.test, lists(WORLD.train), train=WORLD.train, propensity=Strict())
    with refuses("missing-column", column="value"):
        us.propensity.check(Strict(), WORLD.train)


@pytest.mark.parametrize("estimator", ["direct", "sndr", "snips(over=list)"])
def test_an_outcome_model_and_a_metric(tmp_path: Path, estimator: str) -> None:
    """The own metric of lists under sums, with the own guess of unseen pairs."""
    train, test = CONVERSIONS
    found = us.evaluate(
        test, lists(train), train=train, propensity="known(part=test)", outcome="constant(q=0.2)",
        estimators=[estimator], target="per_user_sum", metrics=["geometric(ratio=0.3)@10"],
    )  # fmt: skip
    assert "geometric(ratio=0.3)@10" in shown(found, tmp_path)
    value = {e.model: e.value for e in found.estimates}
    if estimator == "direct":  # every listed pair counts q times its worth: Σ 0.3^(rank − 1)
        assert value["own"] == pytest.approx(0.2 * (1.0 - 0.3**10) / 0.7)


def test_a_rating_metric(tmp_path: Path) -> None:
    """Huber's loss lies below both halves of what it is made of."""
    train, test = RATINGS
    fitted = {f"mf{dim}": us.models.MF(dim).fit(train) for dim in (1, 2)}
    found = us.evaluate(
        test, fitted, train=train, propensity="by_value(low=0.2, high=0.4)", metrics=["huber", "mae", "mse"],
        estimators=["naive", "snips"],
    )  # fmt: skip
    assert "huber" in shown(found, tmp_path) and any(v.metric == "huber" for v in found.verdicts_)
    value = {(e.model, e.metric, e.estimator): e.value for e in found.estimates}
    for (model, metric, estimator), huber in value.items():
        if metric == "huber":
            assert huber <= min(value[model, "mae", estimator], 0.5 * value[model, "mse", estimator])


def test_a_splitter() -> None:
    """Its canonical string gives it back; its parts are known to be cut by time."""
    splitter = split.make("leave_last(rows=2)")
    assert str(splitter) == "leave_last(rows=2)" and str(split.make("leave_last")) == "leave_last(rows=1)"
    ((train, test),) = splitter.splits(CONVERSIONS[0])
    counts = np.diff(CONVERSIONS[0].indptr)
    assert (np.diff(test.indptr) == np.minimum(counts, 2)).all() and test.cut_by_time
    for user in range(20):
        mine, theirs = test.time[test.user == user], train.time[train.user == user]  # type: ignore[index]
        assert not len(theirs) or not len(mine) or theirs.max() < mine.min()
    assert us.evaluate(test, lists(train), train=train, propensity="root_count").estimates
    with pytest.raises(us.InputError, match="'time'"):
        splitter.splits(WORLD.train)


COMMANDS = """
import sys
from unskew.cli import app
for line in sys.stdin.read().splitlines():
    app(line.split("|"), standalone_mode=False)
"""


def test_an_entry_point_brings_parts_to_the_command_line(tmp_path: Path) -> None:
    """An installed package names its module under ``unskew.parts``; nobody imports it."""
    site = tmp_path / "site"
    (site / "own_parts-1.0.dist-info").mkdir(parents=True)
    (site / "own_parts.py").write_text((HERE / "parts.py").read_text())
    (site / "own_parts-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts\nVersion: 1.0\n")
    (site / "own_parts-1.0.dist-info" / "entry_points.txt").write_text(
        "[unskew.parts]\nown = own_parts\n[unskew.commands]\nbusiest = own_parts:busiest\nlost = own_parts:nowhere\n"
    )
    for name, log in (("train", WORLD.train), ("test", WORLD.test)):
        log.to_frame().write_parquet(tmp_path / f"{name}.parquet")
    evaluate = (
        "evaluate|test.parquet|--train|train.parquet|--model|own=alphabetical(skip=3)|--model|popular=most_popular|"
        "--metric|geometric(ratio=0.3)@10|--propensity|root_count|--json|r.json|--html|r.html|--quiet"
    )
    audit = "audit|train.parquet|--feedback|implicit|--propensity|root_count|--json|a.json|--html|a.html|--quiet"
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    run = subprocess.run(
        [sys.executable, "-c", COMMANDS], text=True,
        input="\n".join([evaluate, audit, "parts|geometric", "busiest|test.parquet|--json|b.json|--quiet"]),
        capture_output=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert {e["metric"] for e in found["estimates"]} == {"geometric(ratio=0.3)@10"}
    assert "root_count" in (tmp_path / "a.json").read_text() and "geometric" in (tmp_path / "r.html").read_text()
    assert "| `ratio` | `0.5` | " in run.stdout
    assert json.loads((tmp_path / "b.json").read_text())["rows"] == int(np.diff(WORLD.test.indptr).max())
    wrong = subprocess.run(
        [sys.executable, "-m", "unskew", "lost"], text=True, capture_output=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path}, timeout=600, check=False,
    )  # fmt: skip
    assert wrong.returncode == 2 and "broken-entry-point" in wrong.stderr and "Traceback" not in wrong.stderr


def test_a_package_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    """The message says whose entry point it is."""
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[unskew.parts]\nbroken = no_such_module\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    run = subprocess.run(
        [sys.executable, "-c", "import unskew; unskew.metrics.make('nobody@3')"], text=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": path}, timeout=600, check=False,
    )  # fmt: skip
    assert "'broken' (no_such_module)" in run.stderr


def test_the_page_on_extending_shows_these_parts() -> None:
    """Every class on docs/extending.md is one of this folder's, word for word."""
    page = (HERE.parents[1] / "docs" / "extending.md").read_text()
    source = (HERE / "parts.py").read_text()
    shown = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(shown) >= 7 and all(block.strip() in source for block in shown)


def test_the_reference_page_is_up_to_date() -> None:
    """``python docs/parts.py`` writes it."""
    docs = HERE.parents[1] / "docs"
    run = subprocess.run(
        [sys.executable, "-c", "import parts; print(parts.text(), end='')"], text=True, capture_output=True,
        cwd=docs, timeout=600, check=True,
    )  # fmt: skip
    assert run.stdout == (docs / "parts.md").read_text()
