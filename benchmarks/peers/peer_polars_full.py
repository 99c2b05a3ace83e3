"""Plain polars on the whole work: naive, snips and gs of all metrics, standard errors, and differences of two models.

    P_i = n_i^1.5 (popularity, γ = 2; n counted in training, at least 1),   w = 1/P,   ŵ = mean of w in (user, stratum)
    recall = Σ_hits w / Σ w,   ndcg = Σ_hits w·discount / ideal,   map = Σ_hits w·precision / Σ w,   averaged over users

What a person would write by hand, without any check of the inputs, tipping point, refusal or warning. Values are those
of unskew (``tests/benchmarks/test_polars_full.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from peers import common

STRATA = 5
WEIGHTS = {"naive": "one", "snips": "weight", "gs": "mean"}
NAMES = [f"{estimator} {metric}" for estimator in WEIGHTS for metric in common.METRICS]


@dataclass
class Held:
    """Held-out rows with weights, what lists are divided by, and the columns of the model before."""

    rows: pl.DataFrame
    below: pl.DataFrame
    before: pl.DataFrame | None = None
    table: dict[str, tuple[float, float]] = field(default_factory=dict)
    differences: dict[str, tuple[float, float]] = field(default_factory=dict)


def discount(rank: pl.Expr) -> pl.Expr:
    return 1.0 / (rank + 1).log(2)


def test(folder: Path) -> Held:
    """Rows with their three weights; per user the sums of weights and the ideals of ndcg."""
    counts = pl.scan_parquet(folder / "train.parquet").group_by("item").agg(n=pl.len())
    rows = (
        pl.scan_parquet(folder / "test.parquet")
        .join(counts, on="item", how="left")
        .with_columns(one=pl.lit(1.0), weight=pl.col("n").fill_null(1).cast(pl.Float64) ** -1.5)
        .collect()
    )
    edges = [rows["weight"].quantile(q / STRATA) for q in range(1, STRATA)]
    stratum = pl.sum_horizontal(pl.col("weight") > edge for edge in edges)
    rows = rows.with_columns(stratum=stratum).with_columns(mean=pl.col("weight").mean().over("user", "stratum"))
    place = {name: pl.col(name).rank("ordinal", descending=True).over("user") for name in WEIGHTS.values()}
    below = (
        rows.lazy()
        .with_columns(**{f"{name} place": each for name, each in place.items()})
        .group_by("user")
        .agg(
            *(pl.col(name).sum().alias(f"{name} sum") for name in WEIGHTS.values()),
            *(
                (pl.col(name) * discount(pl.col(f"{name} place"))).filter(pl.col(f"{name} place") <= k).sum()
                .alias(f"{name} ideal@{k}")
                for name in WEIGHTS.values() for k in common.CUTS
            ),
        )
        .collect()
    )  # fmt: skip
    return Held(rows, below)


def listed(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"{name}.parquet")


def metrics(held: Held, lists: pl.DataFrame) -> common.Values:
    """The table of one model, and its differences from the model before; naive values are given back."""
    rank, precision = pl.col("rank"), pl.col("rank").rank("ordinal").over("user") / pl.col("rank")
    sums = []
    for name in WEIGHTS.values():
        for k in common.CUTS:
            w = pl.col(name).filter(rank <= k)
            sums += [
                w.sum().alias(f"{name} recall@{k}"),
                (w * discount(rank).filter(rank <= k)).sum().alias(f"{name} ndcg@{k}"),
                (w * pl.col("precision").filter(rank <= k)).sum().alias(f"{name} map@{k}"),
            ]
    hits = held.rows.lazy().join(lists.lazy(), on=["user", "item"]).with_columns(precision=precision)
    ratios = []
    for estimator, name in WEIGHTS.items():
        for metric in common.METRICS:
            family, cut = metric.split("@")
            below = pl.col(f"{name} ideal@{cut}" if family == "ndcg" else f"{name} sum")
            ratios.append((pl.col(f"{name} {metric}") / below).alias(f"{estimator} {metric}"))
    joined = held.below.lazy().join(hits.group_by("user").agg(sums), on="user", how="left").fill_null(0.0)
    columns = joined.select("user", *ratios).collect()
    held.table = _means(columns)
    if held.before is not None:
        pairs = columns.join(held.before, on="user", suffix=" before")
        held.differences = _means(pairs.select(pl.col(name) - pl.col(f"{name} before") for name in NAMES))
    held.before = columns
    return {metric: held.table[f"naive {metric}"][0] for metric in common.METRICS}


def _means(columns: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Means over users with their standard errors."""
    mean = columns.select(pl.col(NAMES).mean()).row(0)
    error = columns.select(pl.col(NAMES).std() / columns.height**0.5).row(0)
    return dict(zip(NAMES, zip(mean, error, strict=True), strict=True))


if __name__ == "__main__":
    common.main(("polars", "numpy"), test, listed, metrics)
