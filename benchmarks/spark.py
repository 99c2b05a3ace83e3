"""Evaluating on Spark beside Spark itself: ``python benchmarks/spark.py [--rows N] [--cores N]``.

The files are those of ``engines.py``: held-out rows with propensities, ten of each user, and lists of two models,
twenty items for each user. ``unskew``: recall@10 by naive and snips with intervals, verdicts and tipping points.
``spark``: the same files read, joined by user and item, grouped by user and summed, for both models, and nothing else.
Both in sessions of their own with the same settings, after a warm-up on few rows (workers start, kernels compile). The
aim is at most twice what Spark takes; a full run is kept in ``results/spark.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from engines import files
from promise import Promise, at_most
from store import Measured, alone, busy, conditions, keep, machine, table, versions
from workloads import ENGINES

ROWS, CORES, AIM = 10_000_000, 2, 2.0
JOBS = ("spark", "unskew")
NAMES = ("test", "a", "b")
console = Console(soft_wrap=True)


def session(cores: int) -> Any:
    """A session like that of ``unskew evaluate --engine spark``."""
    from pyspark.sql import SparkSession

    from unskew.cli.spark import SETTINGS

    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "6g")
    for name, value in {**SETTINGS, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "16"}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def once(folder: Path, job: str, cores: int) -> None:
    """One job, after a warm-up; the last line is what was measured."""
    spark = session(cores)
    few = {name: folder / f"few-{name}.parquet" for name in NAMES}
    for name, path in few.items():
        pl.scan_parquet(folder / f"{name}.parquet").filter(pl.col("user") < 200).head(20_000).sink_parquet(path)
    run = _unskew if job == "unskew" else _spark
    run({name: spark.read.parquet(str(path)) for name, path in few.items()})
    start = time.perf_counter()
    values = run({name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in NAMES})
    seconds = time.perf_counter() - start
    spark.stop()
    packages = {name: version(name) for name in ("unskew", "pyspark", "polars")}
    print(json.dumps({"seconds": seconds, "values": values, "versions": packages}))


def _unskew(frames: dict[str, Any]) -> dict[str, float]:
    import unskew as us

    test, *lists = (frames[name] for name in NAMES)
    asked: Any = {"estimators": ["naive", "snips"], "metrics": ["recall@10"], "duplicates": "first"}
    result = us.spark.evaluate(test, dict(zip(NAMES[1:], lists, strict=True)), **asked)
    return {e.model: e.value for e in result.estimates if e.estimator == "snips"}


def _spark(frames: dict[str, Any]) -> dict[str, float]:
    from pyspark.sql import functions as sql

    weight, found = 1.0 / sql.col("propensity"), {}
    for name in NAMES[1:]:
        hit = sql.coalesce((sql.col("rank") <= 10).cast("double"), sql.lit(0.0))
        by_user = (
            frames["test"].join(frames[name], ["user", "item"], "left").groupBy("user")
            .agg(sql.sum(weight * hit).alias("hits"), sql.sum(weight).alias("all"))
        )  # fmt: skip
        row = by_user.agg(sql.sum("hits"), sql.sum("all")).collect()[0]
        found[name] = float(row[0] / row[1])
    return found


def promises(found: Measured | None) -> list[Promise]:
    """Time beside Spark's own read, join and group."""
    times = found["jobs"]["unskew"]["seconds"] / found["jobs"]["spark"]["seconds"] if found else None
    others = found is not None and busy(found)
    what = f"Spark `local[{CORES}]`, 10 million rows, times Spark's own join and group"
    return [at_most(what, AIM, times, busy=others)]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    jobs = found["jobs"]
    rows = [(job, f"{m['seconds']:.1f}", f"{m['seconds'] / jobs['spark']['seconds']:.2f}") for job, m in jobs.items()]
    lines = [
        "### Spark on one machine",
        "",
        f"`python benchmarks/spark.py` on {conditions(found)}. {versions(jobs['unskew'])}.",
        "",
        f"The files of the stream with {found['rows']:,} held-out rows, on `local[{found['cores_of_spark']}]`: unskew "
        "gives recall@10 by naive and snips with intervals, verdicts and tipping points, Spark reads, joins and groups "
        "the same files; both after a warm-up. By the clock, as most of the work is done in other processes.",
        "",
        *table(("", "seconds", "times Spark"), rows),
    ]
    return {ENGINES: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cores", type=int, default=CORES)
    options = parser.parse_args()
    if options.job[:1] == ["once"]:
        return once(Path(options.job[1]), options.job[2], options.cores)
    folder = files(options.rows, "shuffled")
    found = {
        job: alone(Path(sys.executable), "spark.py", "once", str(folder), job, "--cores", str(options.cores))
        for job in JOBS
    }
    for job, each in found.items():
        console.print(f"{options.rows:,} rows, local[{options.cores}], {job}: {each['seconds']:.1f} s", each["values"])
    results = {"rows": options.rows, "cores_of_spark": options.cores, "jobs": found, **machine()}
    console.print(sections(results)[ENGINES])
    return keep("spark", results) if (options.rows, options.cores) == (ROWS, CORES) else None


if __name__ == "__main__":
    main()
