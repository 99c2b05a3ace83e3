"""The full table from Parquet by hand, in plain polars, beside ours: ``python benchmarks/by_hand.py [--repeats N]``.

The files and the table are those of ``run.py``: recall, ndcg and map at four cut-offs of two models by naive, snips and
gs, with popularity propensities counted on the training log, normal intervals, and the difference of the models with
its p-value. By hand that is a few joins, windows and sums; nothing is checked, no row is accounted for, and no
sensitivity, no warning and no verdict beside the p-value is worked out. gs uses exact quantiles for its strata (ours
are right to 0.3 %), all other numbers must agree. Every run has a fresh process to itself, imports not counted;
compiled code is there already. Prints medians, and how many times polars ours takes.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl

from data import QUICK, Size, ensure
from ours import ESTIMATORS
from peers import common

HERE = Path(__file__).parent
WEIGHTS = {"naive": "one", "snips": "inverse", "gs(strata=5)": "mean"}  # of the numerator
BOUND, CLOSE = 1.5, 1e-9
DISCOUNT = 1.0 / (pl.col("rank") + 1).log(2)
IDS = ["user", "item"]


def weighted(folder: Path) -> pl.LazyFrame:
    """The held-out rows with the weights of every estimator, and the place of each weight among those of its user."""
    counts = pl.scan_parquet(folder / "train.parquet").group_by("item").agg(count=pl.len())
    n, w = pl.col("count").fill_null(1), pl.col("inverse")
    return (
        pl.scan_parquet(folder / "test.parquet")
        .join(counts, on="item", how="left")
        .with_columns(one=1.0, inverse=(n / counts.select(pl.col("count").max()).collect().item()) ** -1.5)
        .with_columns(stratum=pl.sum_horizontal(w > w.quantile(q / 5) for q in range(1, 5)))
        .with_columns(mean=w.mean().over("user", "stratum"))
        .with_columns(
            pl.col(each).rank("ordinal", descending=True).over("user").alias(f"place of {each}")
            for each in WEIGHTS.values()
        )
    )


def divisors(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Of each user: the sums of weights, and the most that a list could gain."""
    ideals = [
        (pl.col(w) / (pl.col(f"place of {w}") + 1).log(2)).filter(pl.col(f"place of {w}") <= k).sum().alias(f"{w}@{k}")
        for w in WEIGHTS.values()
        for k in common.CUTS
    ]
    return rows.group_by("user").agg(pl.col("one").sum(), pl.col("inverse").sum(), *ideals)


def per_user(rows: pl.LazyFrame, users: pl.LazyFrame, lists: Path, model: str) -> pl.LazyFrame:
    """Every metric of every user by every estimator."""
    worths = {
        "recall": pl.lit(1.0),
        "ndcg": DISCOUNT,
        "map": pl.col("rank").rank("ordinal").over("user") / pl.col("rank"),
    }
    hits = rows.join(pl.scan_parquet(lists), on=IDS).with_columns(**worths)
    sums = [
        (pl.col(w) * pl.col(family)).filter(pl.col("rank") <= k).sum().alias(f"{family}@{k} {w} {model}")
        for w in WEIGHTS.values()
        for family in common.FAMILIES
        for k in common.CUTS
    ]
    found = users.join(hits.group_by("user").agg(sums), on="user", how="left").fill_null(0.0)
    return found.select(
        "user",
        *(
            pl.col(f"{family}@{k} {w} {model}")
            / pl.col(f"{w}@{k}" if family == "ndcg" else "one" if w == "one" else "inverse")
            for w in WEIGHTS.values()
            for family in common.FAMILIES
            for k in common.CUTS
        ),
    )


def table(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Estimates with intervals, and differences with p-values."""
    rows = weighted(folder).collect().lazy()
    users = divisors(rows).collect().lazy()
    first, second = (per_user(rows, users, folder / f"{name}.parquet", name) for name in common.MODELS)
    both = first.join(second, on="user").collect()
    estimates, differences, n = [], [], len(both)
    for estimator, w in WEIGHTS.items():
        for metric in common.METRICS:
            columns = [both[f"{metric} {w} {model}"].to_numpy() for model in common.MODELS]
            for model, column in zip(common.MODELS, columns, strict=True):
                value, half = float(column.mean()), 1.96 * float(column.std()) / math.sqrt(n)
                cell = {"model": model, "metric": metric, "estimator": estimator}
                estimates.append(cell | {"value": value, "low": value - half, "high": value + half})
            apart = columns[0] - columns[1]
            z = float(apart.mean()) * math.sqrt(n) / max(float(apart.std()), 1e-300)
            differences.append({"metric": metric, "estimator": estimator, "p": math.erfc(abs(z) / math.sqrt(2.0))})
    return estimates, differences


def once(folder: Path) -> None:
    """One table, and what it took."""
    watch = common.Watch()
    estimates, differences = table(folder)
    taken = watch.read()
    common.report(taken, ("polars",), estimates=estimates, rows=len(estimates), verdicts=len(differences))


def compare(folder: Path) -> float:
    """The largest difference from our estimates, of naive and snips."""
    from unskew import evaluate

    result = evaluate(
        folder / "test.parquet",
        {name: folder / f"{name}.parquet" for name in common.MODELS},
        metrics=list(common.METRICS),
        estimators=list(ESTIMATORS),
        propensity="popularity(gamma=2)",
        target="per_user",
        train=folder / "train.parquet",
    )
    keys = ["model", "metric", "estimator"]
    joined = result.table().filter(target="per_user").join(pl.DataFrame(table(folder)[0]), on=keys)
    exact = joined.filter(pl.col("estimator") != "gs(strata=5)")
    assert len(exact) == 2 * 2 * len(common.METRICS)
    return float((exact["value"] - exact["value_right"]).abs().max())  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small data set, to see that everything runs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        once(Path(arguments.once))
        return
    folder = ensure(QUICK if arguments.quick else Size())
    apart = compare(folder)
    print(f"largest difference of naive and snips: {apart:.1e}")
    assert apart < CLOSE, "not the same work"
    commands = {
        "plain polars": [sys.executable, __file__, "--once", str(folder)],
        "unskew": [sys.executable, str(HERE / "ours.py"), str(folder), "normal"],
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for _ in range(arguments.repeats):  # by turns, so that a busy moment hits both
        for name, command in commands.items():
            done = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True)
            found[name].append(json.loads(done.stdout.strip().split("\n")[-1]))
    medians = {
        name: {key: statistics.median(run[key] for run in runs) for key in ("seconds", "cpu", "peak_mb")}
        for name, runs in found.items()
    }
    for name, taken in medians.items():
        print(f"{name:14} {taken['seconds']:6.2f} s   CPU {taken['cpu']:6.2f} s   {taken['peak_mb']:6,.0f} MB")
    times = {key: medians["unskew"][key] / medians["plain polars"][key] for key in ("seconds", "cpu")}
    print(f"unskew takes {times['seconds']:.2f} times polars (CPU {times['cpu']:.2f}; at most {BOUND})")


if __name__ == "__main__":
    main()
