"""What carraro20 leaves open or leaves out, and how much it matters on Coat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.core import Progress
from unskew_papers.carraro20.numbers import mean_off, off, over_runs
from unskew_papers.carraro20.printed import RECOMMENDERS, STRATEGIES
from unskew_papers.carraro20.protocol import KEPT, METRICS, POWERS, TESTS, UNCHOSEN, UNTRAINED
from unskew_papers.carraro20.recommenders import LIKED, ONES, Choice
from unskew_papers.carraro20.setting import Setting, Unit
from unskew_papers.carraro20.tables import MEAN, TRUE, claims, differences, taus, usual, values
from unskew_papers.record import Near, Record
from unskew_papers.repeated import averaged, claim, shown

ALPHAS = (0.1, 10.0, 40.0)
SIMILAR = Near(relative=0.25)
OTHERS = tuple(METRICS)[1:]


def metrics(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """The metrics that the paper computes and does not print, because they are "very similar"."""
    units = setting.runs(setting.coat(), runs, usual(quick), progress)
    recall = {name: over_runs(mean_off, values(units, name), values(units, KEPT)) for name in STRATEGIES}
    records = []
    for metric in OTHERS:
        records += differences(f"metrics/{metric}", units, None, metric=metric)
    for metric in OTHERS:
        for name in STRATEGIES:
            ours = over_runs(mean_off, values(units, name, metric), values(units, KEPT, metric))
            what = f"{metric} as far off as recall@10"
            records.append(claim("metrics/claims", name, what, ours, SIMILAR, "recall's", recall[name]))
    likes = np.array([unit["likes"] for unit in units], dtype=np.float64)
    return records + [
        averaged("metrics/likes in the test sets", name, "likes", likes[:, t]) for t, name in enumerate(TESTS)
    ]


def pairs(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """The truth without pairs that also stand in the part that people chose."""
    coat = setting.coat()
    units = setting.runs(coat, runs, usual(quick), progress)
    records = []
    for truth in (UNTRAINED, UNCHOSEN):
        records += differences(f"pairs/{truth}", units, coat, truth=truth)
        records += claims(f"pairs/{truth}: claims", units, truth)
    return records


def choices(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Other things to learn from, other powers, another α or λ."""
    coat, main, records = setting.coat(), usual(quick), []
    for learns in (ONES, LIKED):
        units = setting.runs(coat, runs, replace(main, learns=learns, times=1.0), progress)
        records += differences(f"choices/{learns}", units, coat)
        records += claims(f"choices/{learns}: claims", units)
        records += taus(f"choices/{learns}: τ", units, coat)
    records += _powers(setting.runs(coat, runs, main, progress))
    return records + _factorisations(setting, main, runs, progress)


def _powers(units: list[Unit]) -> list[Record]:
    """The powers of the authors' code beside those of the paper."""
    part, true, records = "choices/powers of the authors' code", values(units, KEPT), []
    for name in ("WTD", "WTD_H", *POWERS):
        found = values(units, name)
        for m, row in enumerate(RECOMMENDERS):
            records.append(shown(part, row, name, over_runs(lambda v, t, m=m: float(off(v, t)[m]), found, true)))
        records.append(shown(part, MEAN, name, over_runs(mean_off, found, true)))
    return records


def _factorisations(setting: Setting, main: Choice, runs: int, progress: Progress | None) -> list[Record]:
    """MF with another α, or with λ counted once."""
    alone = replace(main, names=("MF",))
    tried = {"α = 1": main} | {f"α = {alpha:g}": replace(alone, alpha=alpha) for alpha in ALPHAS}
    records = []
    for row, choice in (tried | {"λ once": replace(alone, times=1.0)}).items():
        units, last = setting.runs(setting.coat(), runs, choice, progress), [-1]  # MF is the last
        true = values(units, KEPT)[:, last]
        records.append(averaged("choices/MF", row, TRUE, true[:, 0]))
        for name in STRATEGIES:
            found = over_runs(lambda v, t: float(off(v, t)[0]), values(units, name)[:, last], true)
            records.append(shown("choices/MF", row, name, found))
    return records
