"""Table 4: relative RMSE of naive, ips and dr on Coat, and on Yahoo! R3 where there is a copy (``real.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.record import Below, Near, Record
from unskew_papers.repeated import Repeated, averaged, claim
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.real import CUTS, ESTIMATORS, METRICS, PROTOCOLS, errors
from unskew_papers.saito20.setting import Setting

RUNS = 200
MOST = {"coat": 200, "yahoo-r3": 30}  # runs in the paper
QUICK = Training(dims=(5, 20))
NEAR = Near(relative=0.15)

Printed = dict[str, tuple[tuple[float, float], ...]]  # estimator → value and standard error at K = 5, 10, 50
RECALL: dict[str, Printed] = {
    "coat": {
        "naive": ((0.617, 0.027), (0.387, 0.011), (0.184, 0.004)),
        "ips": ((0.605, 0.028), (0.374, 0.011), (0.181, 0.004)),
        "dr": ((0.599, 0.050), (0.318, 0.014), (0.118, 0.003)),
    },
    "yahoo-r3": {
        "naive": ((0.615, 0.067), (0.442, 0.047), (0.207, 0.017)),
        "ips": ((0.473, 0.040), (0.308, 0.032), (0.158, 0.013)),
        "dr": ((0.397, 0.042), (0.261, 0.029), (0.101, 0.011)),
    },
}
DCG: dict[str, Printed] = {
    "coat": {
        "naive": ((0.666, 0.037), (0.430, 0.013), (0.208, 0.005)),
        "ips": ((0.785, 0.020), (0.805, 0.010), (0.915, 0.004)),
        "dr": ((0.661, 0.066), (0.359, 0.020), (0.137, 0.004)),
    },
    "yahoo-r3": {
        "naive": ((0.613, 0.070), (0.470, 0.057), (0.245, 0.027)),
        "ips": ((0.767, 0.022), (0.780, 0.024), (0.850, 0.015)),
        "dr": ((0.461, 0.053), (0.316, 0.040), (0.181, 0.022)),
    },
}


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Both sets; the one that is not there is skipped with a word."""
    records = []
    for name, most in MOST.items():
        if setting.real(name) is None:
            setting.store.tell(
                f"{name} is not there, so its half of Table 4 is left out (unskew data says how to add it)."
            )
            continue
        found = setting.runs(name, range(min(runs, most)), QUICK if quick else Training(), progress)
        with np.errstate(divide="ignore", invalid="ignore"):  # without a true value above 0 there is no relative error
            kept = [run for run in found if all(np.isfinite(side).all() for side in errors(run))]
        if left_out := len(found) - len(kept):
            setting.store.tell(
                f"{name}: {left_out} of {len(found)} runs hold a candidate whose true value is 0; left out of all rows."
            )
        if kept:
            every, coded = (np.array(side) for side in zip(*(errors(one) for one in kept), strict=True))
            records += _records(name, every, coded) + _values(name, kept)
    return records


def _records(name: str, every: Floats, coded: Floats) -> list[Record]:
    """From errors by run: every[run, protocol, estimator, metric], coded[run, estimator, cut]."""
    records = []
    for part, printed, found in (
        ("recall, as run", RECALL[name], every[:, 0, :, : len(CUTS)]),
        ("dcg as the code has it, as run", DCG[name], coded),
    ):
        for e, estimator in enumerate(ESTIMATORS):
            for k, cut in enumerate(CUTS):
                paper, their = printed[estimator][k]
                judging: dict[str, Any] = {"paper": paper, "their_se": their, "rule": NEAR}
                records.append(averaged(f"table4/{name}: {part}", estimator, f"@{cut}", found[:, e, k], **judging))
    for k, cut in enumerate(CUTS):
        for low, high in (("dr", "ips"), ("ips", "naive"), ("dr", "naive")):
            less, more = (Repeated.mean(every[:, 0, ESTIMATORS.index(one), k]) for one in (low, high))
            part, what = f"table4/{name}: claims for recall, as run", f"{low} beats {high}"
            records.append(claim(part, f"recall@{cut}", what, less, Below(), high, more))
    for p, protocol in enumerate(PROTOCOLS):
        for e, estimator in enumerate(ESTIMATORS):
            for m, metric in enumerate(METRICS):
                records.append(averaged(f"table4/{name}: {protocol}", estimator, metric, every[:, p, e, m]))
    return records


def _values(name: str, found: Sequence[Mapping[str, Any]]) -> list[Record]:
    """What candidates are worth on average, in truth and by each estimator: who errs in which direction."""
    records = []
    for p, protocol in enumerate(PROTOCOLS):
        rows = {"truth": [run["truth"][p] for run in found]}
        rows |= {estimator: [run["estimate"][p, e] for run in found] for e, estimator in enumerate(ESTIMATORS)}
        for row, values in rows.items():
            means = np.mean(values, axis=2)  # [run, metric]
            part = f"table4/{name}: mean over candidates, {protocol}"
            records += [averaged(part, row, metric, means[:, m]) for m, metric in enumerate(METRICS)]
    return records
