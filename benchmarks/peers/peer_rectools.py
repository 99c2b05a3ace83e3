"""RecTools: two pandas frames → ``calc_metrics``."""

from pathlib import Path

import pandas as pd
from rectools.metrics import MAP, NDCG, Recall, calc_metrics

from peers import common

METRICS = {
    f"{name}@{k}": metric
    for k in common.CUTS
    for name, metric in (
        ("recall", Recall(k=k)),
        ("ndcg", NDCG(k=k, divide_by_achievable=True)),
        ("map", MAP(k=k)),
    )
}


def test(folder: Path) -> pd.DataFrame:
    return read(folder / "test.parquet")


def listed(folder: Path, name: str) -> pd.DataFrame:
    return read(folder / f"{name}.parquet")


def metrics(test: pd.DataFrame, lists: pd.DataFrame) -> common.Values:
    return {name: float(value) for name, value in calc_metrics(METRICS, lists, test).items()}


def read(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path).rename(columns={"user": "user_id", "item": "item_id"})


if __name__ == "__main__":
    common.main(("rectools", "pandas", "numpy"), test, listed, metrics)
