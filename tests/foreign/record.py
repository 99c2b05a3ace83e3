"""Writes ``recorded/``: what LensKit and RecTools give for a small log, to test the recipes without installing them.

LensKit needs torch, and RecTools numpy below 2, so that neither lives in the environment of the tests. Each is asked in
one of its own, on the same two files:

    python -m tests.foreign.record logs                                        # train.csv and test.csv, by unskew
    pip install --only-binary=:all: lenskit==2025.8.1;         python tests/foreign/record.py lenskit
    pip install --only-binary=:all: rectools==0.19.0 'pyarrow<20'; python tests/foreign/record.py rectools

A library's frame of lists is kept as it came, ``NAME.csv``, with the recall@10 that it computes itself, ``NAME.json``.
LensKit divides by min(positives, k), others by positives: nobody has more than 10 here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"


def logs() -> None:
    """A log of clicks, split at random."""
    import unskew as us
    from tests.foreign.rankings import small_log

    for name, part in zip(("train", "test"), us.split.holdout(small_log(), share=0.3, seed=0), strict=True):
        part.to_frame().select("user", "item").write_csv(FOLDER / f"{name}.csv")


def lenskit() -> None:
    """Lists of an item-item model as an ItemListCollection, and their frame."""
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.metrics import Recall, RunAnalysis
    from lenskit.pipeline import topn_pipeline

    train, test = _frames("user_id", "item_id")
    pipeline = topn_pipeline(ItemKNNScorer(max_nbrs=10, feedback="implicit"))
    pipeline.train(from_interactions_df(train))
    lists = recommend(pipeline, test["user_id"].unique().tolist(), n=10, n_jobs=1)
    measured = RunAnalysis()
    measured.add_metric(Recall(10))
    held_out = ItemListCollection.from_df(test, ["user_id"])
    _keep("lenskit", lists.to_df(), measured.measure(lists, held_out).list_metrics(fill_missing=True))


def rectools() -> None:
    """Lists of EASE."""
    from rectools import Columns
    from rectools.dataset import Dataset
    from rectools.metrics import Recall
    from rectools.models import EASEModel

    train, test = (
        frame.assign(**{Columns.Weight: 1.0, Columns.Datetime: "2026-01-01"})
        for frame in _frames(Columns.User, Columns.Item)
    )
    data = Dataset.construct(train)
    users = [user for user in test[Columns.User].unique() if user in set(train[Columns.User])]
    lists = EASEModel(regularization=20.0).fit(data).recommend(users, data, k=10, filter_viewed=True)
    _keep("rectools", lists, Recall(k=10).calc_per_user(lists, test).to_frame("Recall@10"))


def _frames(user: str, item: str) -> list[Any]:
    import pandas as pd

    return [
        pd.read_csv(FOLDER / f"{name}.csv").rename(columns={"user": user, "item": item}) for name in ("train", "test")
    ]


def _keep(name: str, lists: Any, measured: Any) -> None:
    lists.to_csv(FOLDER / f"{name}.csv", index=False)
    column = next(column for column in measured.columns if "Recall" in column)
    recall = {str(user): float(value) for user, value in measured[column].items()}
    (FOLDER / f"{name}.json").write_text(json.dumps(recall, indent=0) + "\n")


if __name__ == "__main__":
    {"logs": logs, "lenskit": lenskit, "rectools": rectools}[sys.argv[1]]()
