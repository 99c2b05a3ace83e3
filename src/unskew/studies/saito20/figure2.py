"""Figure 2: relative RMSE over candidates of naive, ips and dr, as clicks get rarer (a) and q gets worse (b).

    relative RMSE = √(mean over candidates of ((R̂ − R)/R)²), averaged over runs
    gain          = 1 − relative RMSE of dr / relative RMSE of ips

(a) power .5 … 3 at bound .6; (b) bound .01 … 1 at power 2. The paper draws one metric without naming it and prints
three gains; ours are averaged over recall and DCG at 5 and 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.engine.store import Progress
from unskew.log.log import Floats
from unskew.studies.record import Below, Near, Record, judged
from unskew.studies.saito20.candidates import Training
from unskew.studies.saito20.dense import TARGETS, relative_rmse
from unskew.studies.saito20.semi import BOUNDS, METRICS, NOISES, POWERS
from unskew.studies.saito20.setting import Setting
from unskew.studies.saito20.world import Noise

RUNS = 20
POWER, BOUND = 2.0, 0.6
GAINS_A, GAINS_B = {0.5: 28.4, 3.0: 54.8}, {1.0: 46.5}  # %, as printed
OF_THE_ORDER = Near(absolute=10.0, errors=2.0)
QUICK = Training(epochs=20, rate=5e-3, dims=(5, 20))
LINES = ("naive", "ips", "dr", "dr, noise per user")


def run_a(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By power."""
    found = setting.semi(POWERS, range(runs), training_of(quick), progress)
    records = _records("figure2a", {power: errors(found[power], BOUND) for power in POWERS}, GAINS_A)
    for power in POWERS:
        rates = listed_rate(found[power])
        for name, values in (("P^cvr", rates), ("gain of a perfect guess, %", 100.0 * (1.0 - np.sqrt(1.0 - rates)))):
            ours, se = mean_and_error(values)
            records.append(judged("figure2a/listed items", f"{power:g}", name, ours, se=se, runs=runs))
    return records


def run_b(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By bound."""
    found = setting.semi([POWER], range(runs), training_of(quick), progress)[POWER]
    return _records("figure2b", {bound: errors(found, bound) for bound in BOUNDS}, GAINS_B)


def training_of(quick: bool) -> Training:
    """All 32 candidates, or the 16 of the two small sizes with a fifth of the epochs and five times the rate."""
    return QUICK if quick else Training()


def errors(runs: Sequence[Mapping[str, Any]], bound: float) -> Floats:
    """Relative RMSE: [run, line, target, metric]."""
    place = BOUNDS.index(bound)
    of_pair, of_user = (NOISES.index(noise) for noise in (Noise.PAIR, Noise.USER))
    return np.array(
        [
            [
                relative_rmse(estimate, run["truth"])
                for estimate in (run["naive"], run["ips"], run["dr"][of_pair, place], run["dr"][of_user, place])
            ]
            for run in runs
        ]
    )


def listed_rate(runs: Sequence[Mapping[str, Any]]) -> Floats:
    """The mean P^cvr of the ten items that candidates list, by run.

    For rare clicks Var(dr)/Var(ips) ≈ Σ [m(1 − m) + (q − m)²]/p / Σ m/p over listed pairs, m = P^cvr: where they share
    one m, a perfect guess gains 1 − √(1 − m).
    """
    plain, recall = TARGETS.index("plain"), METRICS.index("recall@10")
    return np.array([run["truth"][plain, recall].mean() / 10.0 for run in runs])


def gain(found: Floats, line: str) -> tuple[float, float | None]:
    """1 − dr/ips in %, averaged over metrics (plain target), and its standard error by the jackknife over runs.

    Args:
        found: [run, line, target, metric].
        line: which dr.
    """
    ips, dr = (found[:, LINES.index(name), TARGETS.index("plain")] for name in ("ips", line))
    runs = len(found)
    value = float(100.0 * (1.0 - dr.mean(axis=0) / ips.mean(axis=0)).mean())
    if runs < 2:
        return value, None
    left = 100.0 * (1.0 - (dr.sum(axis=0) - dr) / (ips.sum(axis=0) - ips)).mean(axis=1)
    return value, float(np.sqrt((runs - 1) / runs * np.square(left - left.mean()).sum()))


def mean_and_error(values: Floats) -> tuple[float, float | None]:
    """The mean over runs and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def _records(figure: str, points: Mapping[float, Floats], printed: Mapping[float, float]) -> list[Record]:
    records = []
    runs = len(next(iter(points.values())))
    for x, found in points.items():
        ours, se = gain(found, "dr")
        paper = printed.get(x)
        records.append(
            judged(f"{figure}/gain of dr over ips, %", f"{x:g}", "dr", ours, paper=paper, se=se, runs=runs,
                   rule=None if paper is None else OF_THE_ORDER)
        )  # fmt: skip
    for x, found in points.items():
        ours, se = gain(found, "dr, noise per user")
        records.append(
            judged(f"{figure}/gain of dr over ips, %", f"{x:g}", "dr, noise per user", ours, se=se, runs=runs)
        )
    for m, metric in enumerate(METRICS):
        for x, found in points.items():
            plain = found[:, :, TARGETS.index("plain"), m]
            for line, name in enumerate(LINES):
                ours, se = mean_and_error(plain[:, line])
                records.append(judged(f"{figure}/{metric}", f"{x:g}", name, ours, se=se, runs=runs))
    for m, metric in enumerate(METRICS):
        for x, found in points.items():
            naive, ips, dr = (float(found[:, line, TARGETS.index("plain"), m].mean()) for line in range(3))
            part = f"{figure}/claims for {metric}"
            records.append(judged(part, f"{x:g}", "dr beats ips", dr, runs=runs, rule=Below(), reference=("ips", ips)))
            records.append(
                judged(part, f"{x:g}", "dr beats naive", dr, runs=runs, rule=Below(), reference=("naive", naive))
            )
    m = METRICS.index("recall@10")
    for x, found in points.items():
        for line, name in enumerate(LINES):
            ours, se = mean_and_error(found[:, line, TARGETS.index("per_user"), m])
            records.append(
                judged(f"{figure}/recall@10 divided by each user's total", f"{x:g}", name, ours, se=se, runs=runs)
            )
    return records
