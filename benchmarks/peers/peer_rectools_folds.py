"""RecTools: ``cross_validate`` over windows of a ``TimeRangeSplitter``; ``LOG DAYS FOLDS MODELS``, one JSON line.

Set to what unskew does: users without a past are not judged, items without one are; ndcg's ideal is what the user's
held-out items allow; unskew's recent days do not include the moment exactly so many days ago; and implicit counts an
item among its own neighbours, which matters to nothing but their number, since seen items are not recommended.
"""

import json
import sys
from datetime import timedelta

import pandas as pd
from implicit.nearest_neighbours import CosineRecommender
from rectools import Columns
from rectools.dataset import Dataset
from rectools.metrics import NDCG, Recall
from rectools.model_selection import TimeRangeSplitter, cross_validate
from rectools.models import ImplicitItemKNNWrapperModel, PopularModel, PureSVDModel

from peers.common import Watch, report

METRICS = {"recall@10": Recall(k=10), "ndcg@10": NDCG(k=10, divide_by_achievable=True)}
MODELS = {
    "most_popular": lambda: PopularModel(),
    "recently_popular(days=30)": lambda: PopularModel(period=timedelta(days=30) - timedelta(microseconds=1)),
    "item_knn(neighbours=50)": lambda: ImplicitItemKNNWrapperModel(CosineRecommender(K=51)),
    "svd(dim=20)": lambda: PureSVDModel(factors=20),
}


def main() -> None:
    path, days, folds, asked = sys.argv[1:]
    models = {name: MODELS[name]() for name in json.loads(asked)}
    watch = Watch()
    frame = pd.read_parquet(path).rename(columns={"user": Columns.User, "item": Columns.Item, "time": Columns.Datetime})
    frame[Columns.Weight] = 1.0
    splitter = TimeRangeSplitter(f"{days}D", int(folds), filter_cold_items=False)
    found = cross_validate(Dataset.construct(frame), splitter, METRICS, models, k=10, filter_viewed=True)
    taken = watch.read()
    values: dict[str, list[float]] = {}
    for row in found["metrics"]:
        for metric in METRICS:
            values.setdefault(f"{row['model']} {metric}", []).append(float(row[metric]))
    report(taken, ("rectools", "pandas", "numpy"), values=values)


main()
