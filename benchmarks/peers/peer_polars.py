"""Plain polars, without a metrics library: a join, a window and sums. Shown beside, not a bar."""

from pathlib import Path

import numpy as np
import polars as pl

from peers import common

DISCOUNT = 1.0 / np.log2(np.arange(2, max(common.CUTS) + 2))
IDEAL = np.r_[0.0, np.cumsum(DISCOUNT)]


def test(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "test.parquet")


def listed(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"{name}.parquet")


def metrics(test: pl.DataFrame, lists: pl.DataFrame) -> common.Values:
    rank = pl.col("rank")
    hits = (
        test.lazy()
        .join(lists.lazy(), on=["user", "item"])
        .with_columns(found=rank.rank("ordinal").over("user"), gain=1.0 / (rank + 1).log(2))
        .group_by("user")
        .agg(
            *((rank <= k).sum().alias(f"found@{k}") for k in common.CUTS),
            *(pl.col("gain").filter(rank <= k).sum().alias(f"gain@{k}") for k in common.CUTS),
            *((pl.col("found") / rank).filter(rank <= k).sum().alias(f"precision@{k}") for k in common.CUTS),
        )
    )
    positives = pl.col("positives")
    ideal = pl.lit(pl.Series(IDEAL))
    result = (
        test.lazy()
        .group_by("user")
        .agg(positives=pl.len())
        .join(hits, on="user", how="left")
        .fill_null(0)
        .select(
            *((pl.col(f"found@{k}") / positives).mean().alias(f"recall@{k}") for k in common.CUTS),
            *(
                (pl.col(f"gain@{k}") / ideal.gather(positives.clip(upper_bound=k))).mean().alias(f"ndcg@{k}")
                for k in common.CUTS
            ),
            *((pl.col(f"precision@{k}") / positives).mean().alias(f"map@{k}") for k in common.CUTS),
        )
    )
    return result.collect().row(0, named=True)


if __name__ == "__main__":
    common.main(("polars", "numpy"), test, listed, metrics)
