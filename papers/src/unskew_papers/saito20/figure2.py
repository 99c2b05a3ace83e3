"""Figure 2: relative RMSE over candidates of naive, ips and dr, as clicks get rarer (a) and q gets worse (b).

    relative RMSE = √(mean over candidates of ((R̂ − R)/R)²), averaged over runs
    gain          = 1 − relative RMSE of dr / relative RMSE of ips

(a) power .5 … 3 at bound .6; (b) bound .01 … 1 at power 2. The paper draws one metric without naming it and prints
three gains; ours are averaged over recall and DCG at 5 and 10. Every run's validation clicks are drawn anew many times
(``redraws.py``). Means over all draws are the long run. The paper's figure is one draw of each of 20 runs: gains of
many such figures, put together at random, show how far apart two of them may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.record import Among, Below, Record, judged
from unskew_papers.repeated import Repeated, averaged, claim, jackknife
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.dense import TARGETS, relative_rmse
from unskew_papers.saito20.semi import BOUNDS, METRICS, NOISES, POWERS
from unskew_papers.saito20.setting import Setting
from unskew_papers.saito20.world import Noise

RUNS = 20
FIGURES = 10_000  # put together from the draws of all runs
POWER, BOUND = 2.0, 0.6
GAINS_A, GAINS_B = {0.5: 28.4, 3.0: 54.8}, {1.0: 46.5}  # %, as printed
QUICK = Training(epochs=20, rate=5e-3, dims=(5, 20))
LINES = ("naive", "ips", "dr", "dr, noise per user")


def run_a(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By power."""
    found = setting.semi(POWERS, range(runs), training_of(quick), progress)
    records = _records("figure2a", {power: errors(found[power], BOUND) for power in POWERS}, GAINS_A)
    for power in POWERS:
        rates, trained = listed_rate(found[power]), np.array([run["trained"] for run in found[power]])
        for name, values in (("P^cvr", rates), ("clicked in training, %", 100.0 * trained)):
            records.append(averaged("figure2a/listed pairs", f"{power:g}", name, values))
    return records + _divided("figure2a", {power: (found[power], BOUND) for power in POWERS})


def run_b(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By bound."""
    found = setting.semi([POWER], range(runs), training_of(quick), progress)[POWER]
    records = _records("figure2b", {bound: errors(found, bound) for bound in BOUNDS}, GAINS_B)
    return records + _divided("figure2b", {bound: (found, bound) for bound in BOUNDS})


def training_of(quick: bool) -> Training:
    """All 32 candidates, or the 16 of the two small sizes with a fifth of the epochs and five times the rate."""
    return QUICK if quick else Training()


def errors(runs: Sequence[Mapping[str, Any]], bound: float) -> Floats:
    """Relative RMSE: [run, draw, line, metric]."""
    dr = [NOISES.index(noise) for noise in (Noise.PAIR, Noise.USER)]
    place = BOUNDS.index(bound)
    found = [np.concatenate([run["again"], run["again_dr"][:, dr, place]], axis=1) for run in runs]
    return np.array(found, dtype=np.float64)


def listed_rate(runs: Sequence[Mapping[str, Any]]) -> Floats:
    """The mean P^cvr of the ten items that candidates list, by run."""
    plain, recall = TARGETS.index("plain"), METRICS.index("recall@10")
    return np.array([run["truth"][plain, recall].mean() / 10.0 for run in runs])


def gain(found: Floats, line: str) -> tuple[float, float | None]:
    """1 − dr/ips in %, averaged over metrics, and its standard error by the jackknife; found[run, line, metric]."""
    ips, dr = (found[:, LINES.index(name)] for name in ("ips", line))
    runs = len(found)
    value = float(100.0 * (1.0 - dr.mean(axis=0) / ips.mean(axis=0)).mean())
    if runs < 2:
        return value, None
    left = 100.0 * (1.0 - (dr.sum(axis=0) - dr) / (ips.sum(axis=0) - ips)).mean(axis=1)
    return value, jackknife(left)


def figures(found: Floats, line: str, many: int = FIGURES) -> Floats:
    """Gains in % of figures as large as the paper's: 20 runs, any of found[run, draw, line, metric], with one draw."""
    rng = np.random.default_rng(0)
    run, draw = (rng.integers(size, size=(many, RUNS)) for size in found.shape[:2])
    ips, dr = (found[run, draw, LINES.index(name)].mean(axis=1) for name in ("ips", line))
    return np.asarray(100.0 * (1.0 - dr / ips).mean(axis=1))


def _records(figure: str, points: Mapping[float, Floats], printed: Mapping[float, float]) -> list[Record]:
    records, spread = [], []
    runs = len(next(iter(points.values())))
    for x, found in points.items():
        each = figures(found, "dr")
        low, middle, high = np.quantile(each, [0.025, 0.5, 0.975])
        ours, se = gain(found.mean(axis=1), "dr")
        paper = printed.get(x)
        if paper is not None:
            rule = Among(float(low), float(high), f"where 95 % of figures of {RUNS} runs lie")
            part = f"{figure}/gain of dr over ips, %"
            records.append(judged(part, f"{x:g}", "dr", ours, paper=paper, se=se, runs=runs, rule=rule))
        part = f"{figure}/gain in the long run and in figures of {RUNS} runs, %"
        per_user = gain(found.mean(axis=1), "dr, noise per user")
        for column, (value, error) in {
            "long run": (ours, se),
            "noise per user": per_user,
            "2.5 % of figures": (float(low), None),
            "50 %": (float(middle), None),
            "97.5 %": (float(high), None),
            "figures with dr ahead, %": (100.0 * float(np.mean(each > 0.0)), None),
        }.items():
            spread.append(judged(part, f"{x:g}", column, value, se=error, runs=runs))
    records += spread
    for m, metric in enumerate(METRICS):
        for x, found in points.items():
            for line, name in enumerate(LINES):
                records.append(averaged(f"{figure}/{metric}", f"{x:g}", name, found[:, :, line, m].mean(axis=1)))
    for m, metric in enumerate(METRICS):
        for x, found in points.items():
            naive, ips, dr = (Repeated.mean(found[:, :, line, m].mean(axis=1)) for line in range(3))
            part = f"{figure}/claims for {metric}"
            records.append(claim(part, f"{x:g}", "dr beats ips", dr, Below(), "ips", ips))
            records.append(claim(part, f"{x:g}", "dr beats naive", dr, Below(), "naive", naive))
    return records


def _divided(figure: str, points: Mapping[float, tuple[Sequence[Mapping[str, Any]], float]]) -> list[Record]:
    """Recall@10 as the author's code has it, from one draw of every run; points hold runs and bound."""
    target, metric = TARGETS.index("per_user"), METRICS.index("recall@10")
    records = []
    for x, (runs, bound) in points.items():
        place = BOUNDS.index(bound)
        for name in LINES:
            noise = NOISES.index(Noise.USER if name == "dr, noise per user" else Noise.PAIR)
            found = [run["dr"][noise, place] if name.startswith("dr") else run[name] for run in runs]
            each = [
                float(relative_rmse(estimate[target, metric], run["truth"][target, metric]))
                for estimate, run in zip(found, runs, strict=True)
            ]
            part = f"{figure}/recall@10 divided by each user's total"
            records.append(averaged(part, f"{x:g}", name, np.array(each)))
    return records
