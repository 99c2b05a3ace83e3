"""Open Bandit, the small sample of the men's campaign: fashion items shown by two policies that logged propensities.

The random policy shows every item with the same probability: it is the MCAR part. Bernoulli Thompson sampling
("bts") prefers what was clicked before: the MNAR part. Rows are impressions and carry no visitor, so each is a user
of its own ("bts-17" is row 17 of that file), a pair is seen once, and estimates are averages over impressions.
``value`` is the click, ``propensity`` the policy's probability to show this item at this position; the position
(1 to 3) is kept as a column.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from unskew.log.datasets.base import About, Dataset, Download, Source, expect, expect_range
from unskew.log.log import Log
from unskew.log.sources import reading

ITEMS, ROWS = 34, 10_000
_SAMPLE = "https://raw.githubusercontent.com/st-tech/zr-obp/12eb4f1738b8220498f9faed5ff6a4ffe5f4c626/obp/dataset/obd/"
_LOGGED = ("timestamp", "item_id", "position", "click", "propensity_score")
_USER = tuple(f"user_feature_{k}" for k in range(4)) + tuple(f"user-item_affinity_{k}" for k in range(ITEMS))
_ITEM = tuple(f"item_feature_{k}" for k in range(4))


class OpenBandit(Source):
    """A CSV of impressions and one of items per policy."""

    about = About(
        name="open-bandit",
        title="Open Bandit Dataset, small sample (men)",
        description="10,000 impressions each under a random and a Thompson sampling policy, with true probabilities.",
        licence="Apache-2.0 (the repository that holds the sample)",
        citation=(
            "Y. Saito, S. Aihara, M. Matsutani, Y. Narita. Open Bandit Dataset and Pipeline: Towards Realistic and "
            "Reproducible Off-Policy Evaluation. NeurIPS Datasets and Benchmarks 2021. arXiv:2008.07146"
        ),
        homepage="https://github.com/st-tech/zr-obp",
    )
    files = tuple(f"{policy}/men/{name}.csv" for policy in ("random", "bts") for name in ("men", "item_context"))
    downloads = tuple(Download(_SAMPLE + name, to=name) for name in files)

    def read(self, folder: Path) -> Dataset:
        """Both logs; features of the impressions and of the items."""
        random, bts = _impressions(folder, "random"), _impressions(folder, "bts")
        return Dataset(
            self.about,
            mnar=_log(folder, bts),
            mcar=_log(folder, random),
            user_features=pl.concat([bts, random]).select("user", *_USER),
            item_features=_items(folder / "random" / "men" / "item_context.csv"),
        )


def _impressions(folder: Path, policy: str) -> pl.DataFrame:
    path = folder / policy / "men" / "men.csv"
    with reading(str(path)):
        rows = pl.read_csv(path.read_bytes(), columns=[*_LOGGED, *_USER]).with_row_index("row")
        rows = rows.select(
            pl.format(f"{policy}-{{}}", "row").alias("user"),
            pl.lit(policy).alias("policy"),
            pl.col("timestamp").str.to_datetime("%Y-%m-%d %H:%M:%S%.f%z", time_unit="us", time_zone="UTC"),
            pl.col("item_id", "position", "click").cast(pl.Int64),
            pl.col("propensity_score").cast(pl.Float64),
            *_USER,
        )
    expect(path, "rows", len(rows), ROWS)
    expect(path, "items", rows["item_id"].n_unique(), ITEMS)
    expect_range(path, "item_id", rows["item_id"], 0, ITEMS - 1)
    expect_range(path, "position", rows["position"], 1, 3)
    expect_range(path, "click", rows["click"], 0, 1)
    return rows


def _log(folder: Path, rows: pl.DataFrame) -> Log:
    names = {"item": "item_id", "value": "click", "time": "timestamp", "propensity": "propensity_score"}
    source = str(folder / rows["policy"][0] / "men" / "men.csv")
    return Log.from_frame(rows, columns=names, feedback="conversions", keep=["position"], source=source)


def _items(path: Path) -> pl.DataFrame:
    """The two policies name the same categories by different hashes; those of the random policy are given."""
    with reading(str(path)):
        items = pl.read_csv(path.read_bytes(), columns=["item_id", *_ITEM])
    expect(path, "items", len(items), ITEMS)
    return items.rename({"item_id": "item"})
