"""Figure 3: does weighing ratings by 1/P help learning? MF-IPS against MF-naive, in the world of §6.2.

    left     true error over all pairs as selection grows (α from 1 down to 1/32), propensities known
    right    at α = .25, MF-IPS with naive Bayes propensities from smaller and smaller random samples

MSE is that of the squared loss; the paper says that MAE gave similar results, which here is that of the absolute loss.
d = 20; λ and whether offsets are penalised come from 4-fold cross-validation scored by ips (§6.1), for each method by
itself. The paper draws 30 trials and prints no numbers, but says that MF-IPS is consistently ahead of MF-naive, also
with badly estimated propensities; at α = 1 the two are the same.

A trial is another draw of what is seen, with a cross-validation of its own at every point. Every point is kept, so that
a run may be stopped and taken up again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew.log import Log
from unskew.simulate import RatingWorld
from unskew_papers.arrays import Floats, present
from unskew_papers.record import Below, Near, Record
from unskew_papers.repeated import Repeated, claim, shown
from unskew_papers.schnabel16.figure4 import naive_bayes, random_sample
from unskew_papers.schnabel16.learning import LOSSES, furthest, last_fit, learn, searched, wrong
from unskew_papers.schnabel16.setting import ALPHAS, Draw, Setting

RUNS = 30
ALPHA = 0.25
SIZES = (10, 100, 1_000, 10_000)
DIM = 20
PENALTIES = (1.0, 2.0, 5.0, 12.5, 25.0, 125.0, 625.0, 3125.0, 15625.0)
SAME = Near(relative=0.02)  # at α = 1
Values = dict[tuple[str, float, int], list[float]]  # by method, α and size of the sample, one number per trial
QUICK_ALPHAS, QUICK_SIZES, QUICK_PENALTIES = (1.0, 0.25), (10,), (1.0, 5.0, 25.0)


def run(metric: str, setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """True error of both methods by α, of MF-IPS by size of the sample, and the claims.

    Args:
        metric: mse or mae.
    """
    name = f"figure3-{metric}"
    alphas, sizes = (QUICK_ALPHAS, QUICK_SIZES) if quick else (ALPHAS, SIZES)
    search = searched(QUICK_PENALTIES if quick else PENALTIES, (DIM,), LOSSES[metric])
    points: list[tuple[str, float, int]] = [(method, alpha, 0) for alpha in alphas for method in ("naive", "ips")]
    points += [("nb", ALPHA, size) for size in sizes]
    keys: list[dict[str, Any]] = [
        trial_key(setting, search, method, alpha, size, trial)
        for trial in range(runs)
        for method, alpha, size in points
    ]
    found = setting.store.map(
        keys, lambda key: _trial(setting.at(key["alpha"]), key, setting.workers), progress=progress, stage="learning"
    )
    values: Values = {point: [] for point in points}
    edges: Values = {point: [] for point in points}
    ends = min(search["penalties"]), furthest(search["penalties"])
    for key, record in zip(keys, found, strict=True):
        point = key["method"], key["alpha"], key["size"]
        values[point].append(record["error"])
        edges[point].append(100.0 * (record["penalty"] in ends))
    return [*_left(name, values, alphas), *_right(name, values, sizes), *_edges(name, edges)]


def trial_key(
    setting: Setting, search: Mapping[str, Any], method: str, alpha: float, size: int, trial: int
) -> dict[str, Any]:
    """The description of one trial's unit."""
    return {
        "unit": "figure3",
        "method": method,
        "alpha": alpha,
        "propensity": setting.at(alpha).propensity_of[1:].tolist(),
        "size": size,
        "trial": trial,
        "world": setting.identity,
        "search": search,
        "last": last_fit(),
    }


def _left(name: str, values: Values, alphas: tuple[float, ...]) -> list[Record]:
    records = []
    for alpha in alphas:
        naive, ips = (Repeated.mean(values[method, alpha, 0]) for method in ("naive", "ips"))
        row = f"{alpha:g}"
        records.append(shown(f"{name}/selection", row, "mf-naive", naive))
        records.append(shown(f"{name}/selection", row, "mf-ips", ips))
        what, rule = ("both are the same", SAME) if alpha == 1.0 else ("mf-ips beats mf-naive", Below())
        records.append(claim(f"{name}/claims about selection", row, what, ips, rule, "mf-naive", naive))
    return records


def _right(name: str, values: Values, sizes: tuple[int, ...]) -> list[Record]:
    records = []
    naive, ips = (Repeated.mean(values[method, ALPHA, 0]) for method in ("naive", "ips"))
    for size in sizes:
        nb = Repeated.mean(values["nb", ALPHA, size])
        for method, one in (("mf-naive", naive), ("mf-ips", ips), ("mf-ips-nb", nb)):
            records.append(shown(f"{name}/propensities", f"{size:,}", method, one))
        part, what = f"{name}/claims about propensities", "mf-ips-nb beats mf-naive"
        records.append(claim(part, f"{size:,}", what, nb, Below(), "mf-naive", naive))
    return records


def _edges(name: str, edges: Values) -> list[Record]:
    """How often the search would have gone further."""
    part = f"{name}/trials whose best λ is the smallest or the largest, %"
    names = {"naive": "mf-naive", "ips": "mf-ips", "nb": "mf-ips-nb"}
    return [
        shown(part, f"{alpha:g}" + (f", {size:,} pairs" if size else ""), names[method], Repeated.mean(each))
        for (method, alpha, size), each in edges.items()
    ]


def _trial(world: RatingWorld, key: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Learn from one draw, and say how wrong the predictions are over all pairs."""
    log = world.draw(key["trial"])
    propensity = {"naive": None, "ips": "known"}.get(key["method"])
    given = _estimated(world, log, key) if key["method"] == "nb" else propensity
    model, cautions = learn(log, given, key, key["trial"], threads)
    total = sum(float(wrong(key, block - world.truth[rows]).sum()) for rows, block in model.predict_all())
    return {"error": total / world.truth.size, "penalty": model.penalty, "cautions": cautions}


def _estimated(world: RatingWorld, log: Log, key: Mapping[str, Any]) -> Floats:
    """Naive Bayes propensities of the log's rows, from a random sample of the given size."""
    rating = present(log.value).astype(np.int64)
    count = np.bincount(rating, minlength=world.levels + 1).astype(np.float64)
    draw = Draw(count, np.zeros((0, 0, len(count))))
    return naive_bayes(draw, random_sample(world, key["size"], key["trial"]), world.truth.size)[rating - 1]
