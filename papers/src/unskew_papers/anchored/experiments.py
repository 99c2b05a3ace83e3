"""The experiments: how much rows tell on Coat and in worlds, users as a sample, and what plans promise.

Figures that MATHS §16 measured beforehand, on the same data with models and splits of its own, stand beside ours as
"paper"; floors that were asked for beforehand are claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.anchored.power import POWER
from unskew_papers.anchored.setting import Setting
from unskew_papers.anchored.sweep import ALONE, LISTS, MEASURES, METHODS, UNIFORM
from unskew_papers.arrays import Floats
from unskew_papers.record import Above, Below, Near, Record, Rule, judged
from unskew_papers.repeated import averaged

DRAWS, FRESH, POWER_DRAWS, QUICK_DRAWS = 40, 10, 10, 5  # per run: of one case, of fresh users, at planned rows
TITLES = dict(
    zip(
        MEASURES,
        (
            "Kendall's τ",
            "relative error",
            "interval holds the truth",
            "values given",
            "right, each pair by itself",
            "wrong, each pair by itself",
            "right, all pairs together",
            "wrong, all pairs together",
            "right, these users only",
            "wrong, these users only",
        ),
        strict=True,
    )
)
BEFORE = {  # MATHS §16, Coat, n = 2,000
    (ALONE, "tau"): 0.65, (UNIFORM, "tau"): 0.71, (LISTS, "tau"): 0.85,
    (ALONE, "rmse"): 0.23, (UNIFORM, "rmse"): 0.18, (LISTS, "rmse"): 0.12,
}  # fmt: skip
ENOUGH = 2_000
FIXED, SAMPLED = "fixed", "sampled"
LEVELS = {"1.96": False, "all pairs together": True}


def coat(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Coat's own users; the truth about all candidates is known."""
    found = setting.sweeps("coat", runs, QUICK_DRAWS if quick else DRAWS, progress)
    facts = setting.facts(runs, progress)
    records = [
        averaged("coat, what there is", name, "mean over splits", np.array([each[name] for each in facts]))
        for name in facts[0]
    ]
    records += _tables("coat", found, [name for name in MEASURES if name != "covered"])
    at = found.get(ENOUGH, [])
    if not at:
        return records
    for (method, what), before in BEFORE.items():
        ours = _per_run(at, method, what)
        records.append(averaged(f"coat, {ENOUGH:,} rows", method, TITLES[what], ours, paper=before))
    floors: list[tuple[str, Rule, float]] = [("tau", Above(), 0.8), ("rmse", Below(), 0.15)]
    floors += [(what, Below(), 0.0) for what in ("wrong", "joint_wrong", "fixed_wrong")]
    return records + [
        _floor(f"coat, {ENOUGH:,} rows by the list design", TITLES[what], rule, floor, _per_run(at, LISTS, what))
        for what, rule, floor in floors
    ]


def users(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Users drawn anew from Coat's, with replacement, held against all of them."""
    found = setting.sweeps("coat users", runs, QUICK_DRAWS if quick else FRESH, progress)
    return _tables("coat, users drawn anew", found, ["covered", "given", "wrong", "joint_wrong"])


def worlds(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Some users of each world, held against all of its people."""
    found = setting.sweeps("world", runs, QUICK_DRAWS if quick else FRESH, progress)
    return _tables("worlds", found, MEASURES)


def power(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Rows for 80 % power, planned and measured."""
    records = []
    for where, unit in (("coat", "coat power"), ("worlds", "world power")):
        for users_are in (FIXED, SAMPLED):
            for level, simultaneous in LEVELS.items():
                draws = QUICK_DRAWS if quick else POWER_DRAWS
                found = setting.powers(unit, users_are, simultaneous, runs, draws, progress)
                records += _power(where, users_are, level, found, draws)
    return records


def _power(where: str, users_are: str, level: str, found: Sequence[Mapping[str, Any]], draws: int) -> list[Record]:
    """Of one kind of plan; a promise is undecided where chance could turn it, if it were kept."""
    row = f"users {users_are}, {level}"
    everything = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    apart = everything["apart"] > 0.0 if users_are == FIXED else np.isfinite(everything["rows_differ"])
    runs, part = len(found), f"{where}, rows for 80 % power (medians over pairs of models)"
    names = {
        "rows_differ": "where two lists differ",
        "rows": "by the plan's draw for all models",
        "rows_random": "anchored, at random",
        "alone": "random rows alone",
        "alone_finite": "random rows alone, finite-population factor",
    }
    median = {name: _median(everything[name][apart]) for name in names}
    records = [judged(part, row, "pairs of models", float(np.count_nonzero(apart)), runs=runs)]
    records += [judged(part, row, told, median[name], runs=runs) for name, told in names.items()]
    for way, told in (("even", "where two lists differ"), ("plan", "by the plan's draw for all models")):
        right, wrong = everything[f"{way}_right"][apart], everything[f"{way}_wrong"][apart]
        claim = f"{told}: measured power within .1 of the {POWER:.0%} promised"
        if np.isfinite(right).any():
            mean = float(np.nanmean(right))
            chance = float(np.sqrt(POWER * (1.0 - POWER) / (draws * np.count_nonzero(np.isfinite(right)))))
            records += [
                judged(f"{where}, measured power", row, told, mean, runs=runs),
                judged(f"{where}, wrong verdicts there", row, told, float(np.nanmean(wrong)), runs=runs),
                judged(
                    f"{where}, promises", row, claim, mean, runs=runs, rule=Near(absolute=0.1),
                    reference=("the promise", POWER), paired_se=chance,
                ),
            ]  # fmt: skip
    if where == "coat" and users_are == FIXED and level == "1.96":
        records += [
            _floor("coat, rows to decide a pair at 1.96", "median, where two lists differ", Below(), 150.0,
                   np.array([median["rows_differ"]])),
            _floor("coat, rows to decide a pair at 1.96", "median, random rows alone", Above(), 4_000.0,
                   np.array([median["alone"]])),
        ]  # fmt: skip
        before = {"rows_differ": 121.0, "rows_random": 2_119.0, "alone": 4_388.0}
        records += [
            judged("coat, rows beside those found before", row, names[name], median[name], paper=value, runs=runs)
            for name, value in before.items()
        ]
    return records


def _median(values: Floats) -> float:
    """Where no number of rows is enough, it counts as more than any."""
    return float(np.median(np.where(np.isnan(values), np.inf, values))) if len(values) else np.nan


def _tables(where: str, found: Mapping[int, Sequence[Mapping[str, Any]]], measures: Sequence[str]) -> list[Record]:
    """A table for each measure: rows drawn × methods, mean over draws and runs with the error over runs."""
    records = []
    for what in measures:
        for rows, units in found.items():
            for method in METHODS:
                ours = _per_run(units, method, what)
                if np.isfinite(ours).any():
                    told = ours[np.isfinite(ours)]
                    records.append(averaged(f"{where}, {TITLES[what]}", f"{rows:,}", method, told))
    return records


def _per_run(units: Sequence[Mapping[str, Any]], method: str, what: str) -> Floats:
    """The mean over the draws of every run; NaN where there is none."""
    values = [np.asarray(unit[f"{method} | {what}"]) for unit in units]
    return np.array([each[np.isfinite(each)].mean() if np.isfinite(each).any() else np.nan for each in values])


def _floor(part: str, told: str, rule: Rule, floor: float, ours: Floats) -> Record:
    """What was asked for beforehand, of these very numbers."""
    return judged(
        part,
        part,
        f"{told} {rule.words(f'{floor:g}')}",
        float(ours.mean()),
        runs=len(ours),
        rule=rule,
        reference=("the floor", floor),
    )
