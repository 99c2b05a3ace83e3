"""Table 2, Coat: MF-IPS and MF-naive learn from self-selected ratings and are tested on randomly chosen ones.

Propensities are those that the authors ship. λ, d and the treatment of offsets come from 4-fold cross-validation on the
training ratings; the test ratings are looked at once. MSE is that of the squared loss, MAE that of the absolute loss.
A run is another assignment to folds. The 366 test pairs that are also training pairs stay in, as in the paper. Yahoo!
R3 may not be passed on and is left out, and so are the two Bayesian models that the paper compares with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.engine.store import Progress
from unskew.kernels.arrays import present
from unskew.log.datasets import Dataset, load
from unskew.models.mf.problem import Loss
from unskew.models.mf.search import DIMS, PENALTIES
from unskew.studies.digest import digest_of
from unskew.studies.record import Below, Record
from unskew.studies.repeated import Repeated, averaged, claim
from unskew.studies.schnabel16.learning import last_fit, learn, searched
from unskew.studies.schnabel16.setting import Setting

RUNS = 10
PAPER = {("ips", "mae"): 0.860, ("ips", "mse"): 1.093, ("naive", "mae"): 0.920, ("naive", "mse"): 1.202}
LOSSES: dict[str, Loss] = {"mae": "absolute", "mse": "squared"}
AS_GOOD = Below(1.02)  # an error: less is better


def run(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """MAE and MSE of both methods on the random ratings, and the claim that MF-IPS is ahead."""
    coat = load("coat")
    keys = [run_key(coat, method, metric, n) for n in range(runs) for method, metric in PAPER]
    found = setting.store.map(
        keys, lambda key: _run(coat, key, setting.workers), progress=progress, stage="learning from Coat"
    )
    values: dict[tuple[str, str], list[float]] = {cell: [] for cell in PAPER}
    for key, record in zip(keys, found, strict=True):
        values[key["method"], key["metric"]].append(record["error"])
    records = []
    for metric in LOSSES:
        for method in ("ips", "naive"):
            ours, paper = np.array(values[method, metric]), PAPER[method, metric]
            records.append(averaged("table2/coat", f"mf-{method}", metric, ours, paper=paper, rule=AS_GOOD))
        ips, naive = (Repeated.mean(values[method, metric]) for method in ("ips", "naive"))
        what = "mf-ips beats mf-naive"
        records.append(claim("table2/claims", metric, what, ips, Below(), "mf-naive", naive))
    return records


def run_key(coat: Dataset, method: str, metric: str, number: int) -> dict[str, Any]:
    """The description of one run's unit."""
    return {
        "unit": "table2",
        "data": {"mnar": digest_of(coat.mnar), "mcar": digest_of(present(coat.mcar))},
        "method": method,
        "metric": metric,
        "run": number,
        "search": searched(PENALTIES, DIMS, LOSSES[metric]),
        "last": last_fit(),
    }


def _run(coat: Dataset, key: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Choose and fit by the training ratings, then judge by the random ones."""
    assert coat.mcar is not None and coat.mcar.value is not None
    propensity = "known" if key["method"] == "ips" else None
    model, cautions = learn(coat.mnar, propensity, key, key["run"], threads)
    wrong = model.of(coat.mcar).rows - coat.mcar.value
    error = np.abs(wrong).mean() if key["metric"] == "mae" else np.square(wrong).mean()
    chosen = {"penalty": model.penalty, "dim": model.dim, "offsets": model.offsets}
    return {"error": float(error), **chosen, "cautions": cautions}
