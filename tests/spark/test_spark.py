"""Spark gives the results of the engine in memory: estimates, intervals, verdicts, tipping points, warnings.

All tests are in this file, so that there is one JVM (tests/run.py gives whole files to workers).
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import unskew as us
from tests.audit.logs import skewed
from tests.conftest import missing
from tests.said import refuses
from tests.stream.files import CALLS, FILES, Call, assert_same, filled, made
from unskew.cli import app
from unskew.core.errors import InputError, RefusedError
from unskew.result import Result

QUICK = {  # for small data: nothing is compiled that runs a few times only
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session with one worker, so that kernels are compiled once."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        missing("Spark needs pyspark and Java: pip install 'unskew[spark]', apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]")
    for name, value in QUICK.items():
        builder = builder.config(name, value)
    ctrl_c = signal.getsignal(signal.SIGINT)  # Spark takes it, and does not give it back
    session = builder.getOrCreate()
    yield session
    session.stop()
    signal.signal(signal.SIGINT, ctrl_c)


def to_spark(session: Any, slices: int = 2) -> Callable[[pl.DataFrame], Any]:
    """Frames as DataFrames of so many partitions, in their order."""

    def made(frame: pl.DataFrame) -> Any:
        return session.createDataFrame(frame.to_arrow()).coalesce(1) if slices == 1 else _sliced(session, frame, slices)

    return made


def _sliced(session: Any, frame: pl.DataFrame, slices: int) -> Any:
    step = max(1, math.ceil(len(frame) / slices))
    found = None
    for start in range(0, max(len(frame), 1), step):
        part = session.createDataFrame(frame[start : start + step].to_arrow()).coalesce(1)
        found = part if found is None else found.unionAll(part)
    return found


def both(spark: Any, call: Call, partitions: int, slices: int = 2) -> tuple[Result, Result]:
    """What Spark says of frames, and the engine in memory."""
    made_of = to_spark(spark, slices)
    given = filled(call, lambda where, name: made_of(made(name)) if where in (*FILES, "mcar") else made(name))
    return us.spark.evaluate(**given, partitions=partitions), us.evaluate(**filled(call))


ASKED = {
    "likes": 3,
    "implicit: interval, bootstrap": 20,  # sums are merged in a tree
    "strangers": 7,
    "bayes": 3,
    "ratings: errors, targets": 4,
    "conversions: outcome, means": 3,
    "wrong rows": 3,
    "repeated": 1,
}


@pytest.mark.parametrize("name", ASKED)
def test_spark_gives_the_results_of_memory(spark: Any, name: str) -> None:
    """All of the result as JSON has it, whatever the number of parts; wrong and repeated rows are counted alike."""
    found, expected = both(spark, CALLS[name], ASKED[name])
    assert_same(found, expected)


def test_a_table_of_guesses_is_read_by_spark(spark: Any, tmp_path: Path) -> None:
    """Each part has its users' rows; pairs that it lacks get the default, and are counted."""
    made("gaps").drop_nulls().write_parquet(tmp_path / "q.parquet")
    outcome = f"given({tmp_path / 'q.parquet'}, default=0.25)"
    found, expected = both(spark, CALLS["guesses by default"] | {"outcome": outcome}, 3)
    assert expected.inputs["outcome"]["unknown"]
    assert_same(found, expected)


def test_one_user_with_very_many_rows_and_empty_parts(spark: Any) -> None:
    """A user is never divided, and parts without rows, or with lists alone, count nothing."""
    heavy = pl.DataFrame({"user": 1, "item": np.arange(30_000), "propensity": 0.5})
    light = pl.DataFrame({"user": [2, 3, 3], "item": [5, 6, 7], "propensity": [0.5, 0.25, 0.5]})
    nobody = pl.DataFrame({"user": np.arange(100, 110), "item": 5, "rank": 1})
    lists = pl.DataFrame({"user": [1, 1, 2, 3], "item": [4, 9, 6, 6], "rank": [1, 2, 1, 1]})
    given = {
        "test": pl.concat([heavy, light], how="vertical_relaxed"),
        "one": pl.concat([lists, nobody], how="vertical_relaxed"),
        "other": lists.with_columns(item=pl.col("item") + 1),
    }
    there = {name: to_spark(spark, 1)(rows) for name, rows in given.items()}
    found = us.spark.evaluate(there.pop("test"), there, refused="skip", partitions=18)
    assert_same(found, us.evaluate(given.pop("test"), given, refused="skip"))


def test_what_spark_does_not_do_is_refused(spark: Any) -> None:
    """What needs the whole log, before anything is read; wrong rows; inputs that are no DataFrames; odd options."""
    made_of = to_spark(spark, 1)
    given = filled(CALLS["wrong rows"], lambda where, name: made_of(made(name))) | {"invalid": "error"}
    clean = filled(CALLS["repeated"], lambda where, name: made_of(made(name)))
    train = made("shop.train")
    for code, kind, call in (
        ("needs-whole-log", RefusedError, {**clean, "per_user": True}),
        ("needs-whole-log", RefusedError, {**clean, "propensity": "logistic_mf(dim=2)"}),
        ("needs-whole-log", RefusedError, {**clean, "outcome": "logistic_mf(dim=2)"}),
        ("wrong-type", InputError, {**clean, "train": train}),
        ("unknown-argument", InputError, {**clean, "engine": "stream"}),
        ("out-of-range", InputError, {**clean, "partitions": 0}),
    ):
        with refuses(code, kind):
            us.spark.evaluate(**call)
    for wrong in ({**given, "partitions": 3}, {**clean, "duplicates": "error", "partitions": 3}):
        with pytest.raises(InputError):  # found by a worker, whose error comes without its code
            us.spark.evaluate(**wrong)


def test_rows_that_change_are_refused(spark: Any) -> None:
    """A lost part that Spark computes again must have the same rows: its checksum says so."""
    from unskew.engine.spark import folding

    rows = [folding.Partial({4: 1}, None).row, folding.Partial({9: 2}, None).row]
    partials = spark.createDataFrame(rows, folding.COLUMNS)
    assert folding.fold(partials, 2, {4: 1, 9: 2}).parts == {4: 1, 9: 2}
    with refuses("changed-rows"):
        folding.fold(partials, 2, {4: 1, 9: 3})
    for rows_, parts in ((partials, {4: 1, 9: 2, 11: 5}), (partials.unionAll(partials), None)):  # missing; there twice
        with pytest.raises(AssertionError):
            folding.fold(rows_, 2, parts)


def test_files_on_the_command_line(spark: Any, tmp_path: Path) -> None:
    """``--engine spark`` takes the session that exists, and leaves it as it is."""
    files = {name: tmp_path / f"{name}.parquet" for name in ("bare", "train", "tastes", "popular")}
    for name, path in files.items():
        made(f"shop.{name}").write_parquet(path)
    words = ["evaluate", files["bare"], "--train", files["train"], "--quiet", "--refused", "skip"]
    words += [word for name in ("tastes", "popular") for word in ("--recs", f"{name}={files[name]}")]
    found, expected = run("spark", words, tmp_path), run("memory", words, tmp_path)
    assert_same(found, expected)
    assert spark.range(3).count() == 3
    assert CliRunner().invoke(app, [*map(str, words), "--engine", "spark", "--dry-run"]).exit_code != 0


def run(engine: str, words: list[Any], folder: Path) -> Any:
    """What a command writes with this engine."""
    out = folder / f"{engine}.json"
    done = CliRunner().invoke(app, [*map(str, words), "--engine", engine, "--json", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text())


def test_an_audit_is_that_of_memory(spark: Any, tmp_path: Path) -> None:
    """All of it, beside a log drawn at random; on the command line too, and propensities are not checked."""
    frame = skewed(80, 60, 1, value=True, time=True, policy=True, propensity=True)
    mcar = frame.select("user", "item", "value").sample(120, seed=2).with_columns(value=pl.col("value") * 0.5)
    made_of = to_spark(spark)
    found = us.spark.audit(made_of(frame), mcar=made_of(mcar), feedback="ratings", relevant=">=3", partitions=4)
    assert_same(found.to_dict(), us.audit(frame, mcar=mcar, feedback="ratings", relevant=">=3").to_dict())
    with refuses("not-enough-memory", RefusedError):
        us.spark.audit(made_of(frame), propensities=["known"])
    frame.select("user", "item").write_parquet(tmp_path / "log.parquet")
    words = ["audit", tmp_path / "log.parquet", "--quiet"]
    assert_same(run("spark", words, tmp_path), run("memory", words, tmp_path))


@pytest.mark.parametrize("strategy", ["wtd_h", "reg"])
def test_samples_are_those_of_memory(spark: Any, strategy: str) -> None:
    """The same rows with the same weights, in whatever partitions they lie."""
    test, train, made_of = made("shop.test").drop("channel"), made("shop.train"), to_spark(spark)
    drawn = us.sample(test, strategy, train=train, size=0.4, seed=3)
    found = us.spark.sample(made_of(test), strategy, train=made_of(train), size=0.4, seed=3)
    expected = drawn.to_frame().select(*test.columns, "sampling_weight").sort("user", "item")
    assert_frame_equal(pl.DataFrame(pl.from_arrow(found.toArrow())).sort("user", "item"), expected)
    with refuses("sampled-already"):
        us.spark.sample(found, strategy, train=made_of(train))
