"""Figure 2: relative RMSE over candidates of naive, ips and dr, as clicks get rarer (a) and q gets worse (b).

    relative RMSE = √(mean over candidates of ((R̂ − R)/R)²), averaged over runs
    gain          = 1 − relative RMSE of dr / relative RMSE of ips

(a) power .5 … 3 at bound .6; (b) bound .01 … 1 at power 2. The paper draws one metric without naming it and prints
three gains: those of DCG@10 as the author's code computes it (``coded.py``), one draw of clicks per run. Beside it
stand the other metrics of that code, its DCG without the slips, and the estimators as printed (Eqs. 1–4) in the long
run, each run's validation clicks being drawn many times (``redraws.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.record import Below, Near, Record, judged
from unskew_papers.repeated import Repeated, averaged, claim, jackknife
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.semi import BOUNDS, CODED, METRICS, POWERS
from unskew_papers.saito20.setting import Setting

RUNS = 20
POWER, BOUND = 2.0, 0.6
GAINS_A, GAINS_B = {0.5: 28.4, 3.0: 54.8}, {1.0: 46.5}  # %, as printed
PRINTED = "as coded", "dcg@10"  # what the paper shows
QUICK = Training(epochs=20, rate=5e-3, dims=(5, 20))
LINES = ("naive", "ips", "dr")
READINGS = {  # what the figure may show: an array of a run, and where metrics stand in it
    "as coded": ("coded", {metric: CODED.index(metric) for metric in METRICS}),
    "divided": ("coded", {metric: CODED.index(f"divided {metric}") for metric in METRICS if "dcg" in metric}),
    "as printed": ("plain", {metric: METRICS.index(metric) for metric in METRICS}),
}
Runs = Sequence[Mapping[str, Any]]


def run_a(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By power."""
    found = setting.semi(POWERS, range(runs), training_of(quick), progress)
    records = _records("figure2a", {power: (found[power], BOUND) for power in POWERS}, GAINS_A)
    for power in POWERS:
        count = len(found[power])
        records.append(judged("figure2a/worlds", f"{power:g}", "runs", float(count), runs=count))
        for name, key, scale in (
            ("P^cvr of listed pairs", "listed", 1.0),
            ("listed pairs clicked in training, %", "trained", 100.0),
            ("users without a conversion in validation, %", "idle", 100.0),
        ):
            values = scale * np.array([run[key] for run in found[power]])
            records.append(averaged("figure2a/worlds", f"{power:g}", name, values))
    return records


def run_b(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By bound."""
    found = setting.semi([POWER], range(runs), training_of(quick), progress)[POWER]
    return _records("figure2b", {bound: (found, bound) for bound in BOUNDS}, GAINS_B)


def training_of(quick: bool) -> Training:
    """All 32 candidates, or the 16 of the two small sizes with a fifth of the epochs and five times the rate."""
    return QUICK if quick else Training()


def near(runs: int) -> Near:
    """Two standard errors of the difference, the paper's number being a mean over 20 runs that vary as much as ours."""
    return Near(errors=round(2.0 * math.sqrt(1.0 + runs / RUNS), 2))


def errors(runs: Runs, bound: float, reading: str, metric: str) -> Floats:
    """Relative RMSE: [run, line]."""
    array, places = READINGS[reading]
    lines = [0, 1, 2 + BOUNDS.index(bound)]
    return np.array([run[array][lines, places[metric]] for run in runs], dtype=np.float64)


def noisy_pairs(runs: Runs, bound: float, metric: str) -> Floats:
    """The same as coded, but for the noise of dr, which is drawn for every pair."""
    found = errors(runs, bound, "as coded", metric)
    found[:, LINES.index("dr")] = [run["pair"][BOUNDS.index(bound), CODED.index(metric)] for run in runs]
    return found


def gain(found: Floats) -> tuple[float, float | None]:
    """1 − dr/ips in %, and its standard error by the jackknife; found[run, line]."""
    ips, dr = (found[:, LINES.index(name)] for name in ("ips", "dr"))
    value = float(100.0 * (1.0 - dr.mean() / ips.mean()))
    if len(found) == 1:
        return value, None
    return value, jackknife(100.0 * (1.0 - (dr.sum() - dr) / (ips.sum() - ips)))


def _records(figure: str, points: Mapping[float, tuple[Runs, float]], printed: Mapping[float, float]) -> list[Record]:
    """All records of one figure; points hold runs and bound."""

    def shown(part: str, x: float, column: str, found: Floats, **how: Any) -> Record:
        value, se = gain(found)
        return judged(f"{figure}/{part}", f"{x:g}", column, value, se=se, runs=len(found), **how)

    records = []
    for x, paper in printed.items():
        found = errors(*points[x], *PRINTED)
        how = {"paper": paper, "rule": near(len(found))}
        records.append(shown("gain of dr over ips, %", x, "dcg@10 as coded", found, **how))
    for x, point in points.items():
        steps = {name: errors(*point, name, "dcg@10") for name in reversed(READINGS)}
        steps["as coded, but noise per pair"] = noisy_pairs(*point, "dcg@10")
        records += [shown("gain by dcg@10, %", x, name, found) for name, found in steps.items()]
    every = [(name, metric) for name, (_, places) in READINGS.items() for metric in places]
    for name, metric in every:
        for x, point in points.items():
            records.append(shown(f"gain {name}, %", x, metric, errors(*point, name, metric)))
    for name, metric in every:
        for x, point in points.items():
            found = errors(*point, name, metric).T
            for line, values in zip(LINES, found, strict=True):
                records.append(averaged(f"{figure}/{metric} {name}", f"{x:g}", line, values))
            naive, ips, dr = map(Repeated.mean, found)
            part = f"{figure}/claims {name}"
            records.append(claim(part, f"{x:g}", f"dr beats ips by {metric}", dr, Below(), "ips", ips))
            records.append(claim(part, f"{x:g}", f"dr beats naive by {metric}", dr, Below(), "naive", naive))
    return records
