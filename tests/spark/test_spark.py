"""Spark gives the results of the engine in memory: estimates, intervals, verdicts, tipping points, warnings.

All tests are in this file, so that there is one JVM (tests/run.py gives whole files to workers).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.conftest import missing
from tests.spark.worlds import World, draw, rated


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session of two cores."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        missing("Spark needs pyspark and Java: pip install 'unskew[spark]', apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


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


def assert_same(found: Any, expected: Any, place: str = "") -> None:
    """Equal, numbers to 1e-9."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), place
        for name, value in expected.items():
            assert_same(found[name], value, f"{place}.{name}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), f"{place}: {found} {expected}"
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{place}[{number}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), place
    else:
        assert found == expected, place


WORLDS: dict[str, tuple[World, int]] = {
    "propensities of the log, intervals drawn": (
        draw(1, metrics=["recall@5", "ndcg@5"], interval="bootstrap", replicates=60, by="group", people=True), 3
    ),
    "popularity, texts": (
        draw(2, text=True, propensity="popularity(gamma=1)", estimators=["naive", "snips", "gs(strata=3)"]), 5
    ),
    "exposure path": (draw(3, metrics=["recall@5"], by="popularity(strata=2)"), 1),
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
