"""Table 1: naive, ips and snips of MAE and DCG@50 on five predictors, α = .25, mean and spread over 50 draws.

MAE depends on the shares of the ratings only, so it is held to the paper's numbers. DCG@50 depends on who likes what,
that is on the factorisation that completed ML-100K (``completion.py``): its levels are held to the paper's within a few
per cent, and the estimators to our own truth.
"""

from __future__ import annotations

import math
from typing import Any

from unskew.core import Progress
from unskew.simulate import NAMES
from unskew_papers.record import Near, Record, judged
from unskew_papers.schnabel16.setting import METRICS, Setting

RUNS = 50
ALPHA = 0.25
# True value, then mean and standard deviation of ips, snips and naive, as printed.
PAPER = {
    "mae": {
        "rec_ones": (0.102, (0.102, 0.007), (0.102, 0.007), (0.011, 0.001)),
        "rec_fours": (0.026, (0.026, 0.000), (0.026, 0.000), (0.173, 0.001)),
        "rotate": (2.579, (2.581, 0.031), (2.579, 0.012), (1.168, 0.003)),
        "skewed": (1.306, (1.304, 0.012), (1.304, 0.009), (0.912, 0.002)),
        "coarsened": (1.320, (1.314, 0.015), (1.318, 0.005), (0.387, 0.002)),
    },
    "dcg@50": {
        "rec_ones": (30.76, (30.64, 0.75), (30.66, 0.74), (153.07, 2.13)),
        "rec_fours": (52.00, (51.98, 0.41), (52.08, 0.58), (313.48, 2.36)),
        "rotate": (12.90, (13.00, 0.85), (12.99, 0.83), (1.38, 0.09)),
        "skewed": (24.59, (24.55, 0.92), (24.58, 0.93), (54.87, 1.03)),
        "coarsened": (46.45, (46.45, 0.53), (46.44, 0.70), (293.27, 1.99)),
    },
}
ROUNDING = {"mae": 0.0005, "dcg@50": 0.005}  # half of the last printed digit
TRUE = {"mae": Near(absolute=0.001, errors=2.0), "dcg@50": Near(relative=0.03)}
NAIVE = {"mae": Near(absolute=0.003), "dcg@50": Near(relative=0.05)}


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """The table's records."""
    draws = setting.draws([ALPHA], range(runs), progress)[ALPHA]
    estimates = setting.estimates(draws, setting.at(ALPHA).propensity_of[1:])
    records = []
    for metric, paper in PAPER.items():
        m, experiment = METRICS.index(metric), f"table1/{metric}"
        for n, name in enumerate(NAMES):
            true, *printed = paper[name]
            truth = float(setting.truth[m, n])
            se = float(setting.spread[m, n] / math.sqrt(setting.pairs)) if name == "skewed" else None
            records.append(judged(experiment, name, "true", truth, paper=true, se=se, rule=TRUE[metric]))
            for estimator, (mean, spread) in zip(("ips", "snips", "naive"), printed, strict=True):
                ours = estimates[estimator][:, m, n]
                deviation = float(ours.std(ddof=1)) if runs > 1 else float("nan")
                error = deviation / math.sqrt(runs)
                rounding = ROUNDING[metric]
                reference = their_se = None
                if estimator == "naive":
                    mean_rule = NAIVE[metric]
                elif metric == "mae":
                    mean_rule, their_se = Near(absolute=rounding, errors=3.0), spread / math.sqrt(RUNS)
                else:
                    mean_rule, reference = Near(errors=3.0), ("our truth", truth)
                judging: dict[str, Any] = {"rule": mean_rule, "reference": reference, "their_se": their_se}
                number = float(ours.mean())
                records.append(judged(experiment, name, estimator, number, paper=mean, se=error, runs=runs, **judging))
                # the error of a standard deviation over n normal draws is sd / √(2(n − 1))
                spread_error = deviation / math.sqrt(2 * max(1, runs - 1))
                their_se = spread / math.sqrt(2 * (RUNS - 1))
                exact = metric == "mae" and runs >= RUNS
                rule = Near(absolute=rounding, relative=0.25) if exact else Near(absolute=rounding, errors=3.0)
                judging = {"paper": spread, "se": spread_error, "rule": rule, "their_se": their_se}
                records.append(judged(experiment, name, f"{estimator} sd", deviation, runs=runs, **judging))
    return records
