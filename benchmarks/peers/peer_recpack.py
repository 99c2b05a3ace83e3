"""RecPack: its ``Timed`` scenario and pipeline, window after window; ``LOG DAYS FOLDS MODELS``, one JSON line.

Windows end with the day of the last row. RecPack's most popular lists at most 200 items (its default), less those that
a user has seen.
"""

import json
import sys
import warnings

import pandas as pd
from recpack.pipelines import PipelineBuilder  # type: ignore[import-not-found]
from recpack.preprocessing.preprocessors import DataFramePreprocessor  # type: ignore[import-not-found]
from recpack.scenarios import Timed  # type: ignore[import-not-found]

from peers.common import Watch, report

DAY = 86_400
METRICS = {"recall@10": "RecallK", "ndcg@10": "NDCGK"}
MODELS = {
    "most_popular": ("Popularity", {}),
    "item_knn(neighbours=50)": ("ItemKNN", {"K": 50, "similarity": "cosine"}),
}


def main() -> None:
    path, days, folds, asked = sys.argv[1:]
    names, width = json.loads(asked), int(days) * DAY
    warnings.filterwarnings("ignore", message=".*unusually small")  # a window is small beside the whole log
    watch = Watch()
    frame = pd.read_parquet(path)
    frame["time"] = frame["time"].astype("datetime64[s]").astype("int64")
    log = DataFramePreprocessor("item", "user", "time").process(frame)
    end = (int(frame["time"].max()) // DAY + 1) * DAY
    values: dict[str, list[float]] = {}
    for back in range(int(folds), 0, -1):
        scenario = Timed(t=end - back * width, delta_out=width)
        scenario.split(log)
        builder = PipelineBuilder()
        builder.set_data_from_scenario(scenario)
        for name in names:
            builder.add_algorithm(MODELS[name][0], params=MODELS[name][1])
        for metric in METRICS.values():
            builder.add_metric(metric, K=10)
        pipeline = builder.build()
        pipeline.run()
        found = pipeline.get_metrics(short=True)
        for name in names:
            for metric, theirs in METRICS.items():
                values.setdefault(f"{name} {metric}", []).append(float(found.loc[MODELS[name][0], f"{theirs}_10"]))
    report(watch.read(), ("recpack", "pandas", "numpy", "scipy"), values=values)


main()
