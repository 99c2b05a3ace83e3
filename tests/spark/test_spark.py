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
from tests.spark.same import assert_same
from tests.spark.worlds import GUESSED, World, draw, guessed, rated
from unskew.cli import app

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


WORLDS: dict[str, tuple[World, int]] = {
    "propensities of the log, intervals drawn": (
        draw(1, metrics=["recall@5", "ndcg@5"], interval="bootstrap", replicates=60, by="group", people=True), 3
    ),
    "popularity, texts": (
        draw(2, text=True, propensity="popularity(gamma=1)", estimators=["naive", "snips", "gs(strata=3)"]), 5
    ),
    "exposure path": (draw(3, metrics=["recall@5"], by="popularity(strata=2)"), 1),
    "places": (draw(3, metrics=["recall@5"], places=True, columns={"test:position": "rank"}, invalid="drop"), 4),
    "thresholds": (
        draw(4, kind="ratings", relevant=">=4", metrics=["recall@5", "map@5"], target=["pooled", "per_user"]), 20
    ),
    "errors of predictions": (rated(5, metrics=["mae", "rmse"], estimators=["naive", "ips", "snips"]), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_spark_gives_the_results_of_memory(spark: Any, name: str) -> None:
    """All of the result as JSON has it, whatever the number of parts; with 20 the sums are merged in a tree."""
    world, parts = WORLDS[name]
    expected = us.evaluate(**world.given(), refused="skip").to_dict()
    found = us.spark.evaluate(**world.given(to_spark(spark)), refused="skip", partitions=parts).to_dict()
    assert_same(found, expected)


def test_outcome_models_are_asked_part_by_part(spark: Any, tmp_path: Path) -> None:
    """Means are fitted to sums of all parts; a table of guesses is read by Spark, and each part has its users' rows."""
    for world in (draw(6, **GUESSED, outcome="means(shrink=5)"), guessed(6, tmp_path / "guesses.parquet")):
        expected = us.evaluate(**world.given(), refused="skip").to_dict()
        found = us.spark.evaluate(**world.given(to_spark(spark)), refused="skip", partitions=3).to_dict()
        assert_same(found, expected)


def test_naive_bayes_from_a_random_sample(spark: Any) -> None:
    """Counts of values merge; the random sample may be a DataFrame too."""
    world = draw(7, kind="ratings", relevant=">=4", propensity="naive_bayes", estimators=["naive", "snips"], share=0.5)
    sample = world.test.drop("propensity").sample(60, seed=1)
    options = {**world.options, "mcar": sample, "refused": "skip"}
    world = World(world.test.drop("propensity"), world.models, world.train, None, options)
    made = to_spark(spark, 1)
    found = us.spark.evaluate(**{**world.given(made), "mcar": made(sample)}, partitions=3)
    assert_same(found.to_dict(), us.evaluate(**world.given()).to_dict())


def test_one_user_with_very_many_rows_and_empty_parts(spark: Any) -> None:
    """A user is never divided, and parts without rows, or with lists alone, count nothing."""
    items = 30_000
    heavy = pl.DataFrame({"user": 1, "item": np.arange(items), "propensity": 0.5})
    light = pl.DataFrame({"user": [2, 3, 3], "item": [5, 6, 7], "propensity": [0.5, 0.25, 0.5]})
    nobody = pl.DataFrame({"user": np.arange(100, 110), "item": 5, "rank": 1})
    lists = pl.DataFrame({"user": [1, 1, 2, 3], "item": [4, 9, 6, 6], "rank": [1, 2, 1, 1]})
    models = {
        "one": pl.concat([lists, nobody], how="vertical_relaxed"),
        "other": lists.with_columns(item=pl.col("item") + 1),
    }
    world = World(pl.concat([heavy, light], how="vertical_relaxed"), models, options={"refused": "skip"})
    found = us.spark.evaluate(**world.given(to_spark(spark, 1)), partitions=18).to_dict()
    assert_same(found, us.evaluate(**world.given()).to_dict())


def test_repeated_and_wrong_rows_are_counted_or_named(spark: Any) -> None:
    """Rows are dropped with the same counts and notes as in memory, or refused with column, row and remedy."""
    world = draw(8, propensity="popularity(gamma=1)", refused="skip", invalid="drop")
    assert world.train is not None
    bad = pl.DataFrame({"user": [None, 3], "item": [2, None], "propensity": [0.5, 0.5]})
    test = pl.concat([world.test, world.test[:5], bad.cast(world.test.schema)])
    dirty = World(test, world.models, world.train, None, world.options)
    given = dirty.given(to_spark(spark))
    assert_same(us.spark.evaluate(**given, partitions=3).to_dict(), us.evaluate(**dirty.given()).to_dict())
    with pytest.raises(us.InputError, match=r"test \(partition \d+ of the DataFrame\): column 'user' must have"):
        us.spark.evaluate(**{**given, "invalid": "error"}, partitions=3)
    with pytest.raises(us.InputError, match="is there twice, in two rows"):
        us.spark.evaluate(**{**given, "duplicates": "error"}, partitions=3)


def test_what_needs_the_whole_log_is_refused(spark: Any) -> None:
    """Before anything is read; and inputs that are no DataFrames are named."""
    world = draw(9)
    given = world.given(to_spark(spark, 1))
    for options in ({"per_user": True}, {"propensity": "logistic_mf(dim=2)"}, {"outcome": "logistic_mf(dim=2)"}):
        with pytest.raises(us.RefusedError, match="whole log in memory"):
            us.spark.evaluate(**{**given, **options})
    with pytest.raises(us.InputError, match="train is a DataFrame"):
        us.spark.evaluate(**{**given, "train": world.train})
    with pytest.raises(us.InputError, match="engine=… is an option of"):
        us.spark.evaluate(**given, engine="stream")
    with pytest.raises(us.InputError, match="partitions"):
        us.spark.evaluate(**given, partitions=0)


def test_rows_that_change_are_refused(spark: Any) -> None:
    """A lost part that Spark computes again must have the same rows: its checksum says so."""
    from unskew.engine.spark import folding

    rows = [folding.Partial({4: 1}, None).row, folding.Partial({9: 2}, None).row]
    partials = spark.createDataFrame(rows, folding.COLUMNS)
    assert folding.fold(partials, 2, {4: 1, 9: 2}).parts == {4: 1, 9: 2}
    with pytest.raises(us.InputError, match="changed while they were evaluated"):
        folding.fold(partials, 2, {4: 1, 9: 3})
    with pytest.raises(AssertionError, match="missing"):
        folding.fold(partials, 2, {4: 1, 9: 2, 11: 5})
    with pytest.raises(AssertionError, match="counted twice"):
        folding.fold(partials.unionAll(partials), 2, None)


def test_files_on_the_command_line(spark: Any, tmp_path: Path) -> None:
    """``--engine spark`` takes the session that exists, and leaves it as it is."""
    world = draw(10, metrics=["recall@5"])
    assert world.train is not None
    world.test.write_parquet(tmp_path / "test.parquet")
    world.train.write_parquet(tmp_path / "train.parquet")
    words = ["evaluate", str(tmp_path / "test.parquet"), "--train", str(tmp_path / "train.parquet"), "--quiet"]
    for name, frame in world.models.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
        words += ["--recs", f"{name}={tmp_path / name}.parquet"]
    runner = CliRunner()
    found, expected = tmp_path / "spark.json", tmp_path / "memory.json"
    for engine, out in (("spark", found), ("memory", expected)):
        done = runner.invoke(app, [*words, "--refused", "skip", "--engine", engine, "--json", str(out)])
        assert done.exit_code == 0, done.output
    assert_same(json.loads(found.read_text()), json.loads(expected.read_text()))
    assert spark.range(3).count() == 3
    refused = runner.invoke(app, [*words, "--engine", "spark", "--dry-run"])
    assert refused.exit_code != 0


def test_an_audit_is_that_of_memory(spark: Any, tmp_path: Path) -> None:
    """All of it, beside a log drawn at random; on the command line too, and propensities are not checked."""
    frame = skewed(80, 60, 1, value=True, time=True, policy=True, propensity=True)
    mcar = frame.select("user", "item", "value").sample(120, seed=2).with_columns(value=pl.col("value") * 0.5)
    made = to_spark(spark)
    found = us.spark.audit(made(frame), mcar=made(mcar), feedback="ratings", relevant=">=3", partitions=4)
    assert_same(found.to_dict(), us.audit(frame, mcar=mcar, feedback="ratings", relevant=">=3").to_dict())
    with pytest.raises(us.RefusedError, match="needs it in memory"):
        us.spark.audit(made(frame), propensities=["known"])
    frame.select("user", "item").write_parquet(tmp_path / "log.parquet")
    written = {engine: tmp_path / f"{engine}.json" for engine in ("spark", "memory")}
    for engine, out in written.items():
        words = ["audit", str(tmp_path / "log.parquet"), "--quiet", "--engine", engine, "--json", str(out)]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    assert_same(*(json.loads(out.read_text()) for out in written.values()))


@pytest.mark.parametrize("strategy", ["wtd_h", "reg"])
def test_samples_are_those_of_memory(spark: Any, strategy: str) -> None:
    """The same rows with the same weights, in whatever partitions they lie."""
    world = draw(11)
    assert world.train is not None
    made = to_spark(spark)
    drawn = us.sample(world.test, strategy, train=world.train, size=0.4, seed=3)
    found = us.spark.sample(made(world.test), strategy, train=made(world.train), size=0.4, seed=3)
    expected = drawn.to_frame().select(*world.test.columns, "sampling_weight").sort("user", "item")
    assert_frame_equal(pl.DataFrame(pl.from_arrow(found.toArrow())).sort("user", "item"), expected)
    with pytest.raises(us.InputError, match="a sample already"):
        us.spark.sample(found, strategy, train=made(world.train))
