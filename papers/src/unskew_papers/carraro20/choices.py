"""What carraro20 leaves open or leaves out, and how much it matters on Coat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.core import Progress
from unskew_papers.carraro20.numbers import mean_off, off, over_runs
from unskew_papers.carraro20.printed import RECOMMENDERS, STRATEGIES
from unskew_papers.carraro20.protocol import KEPT, METRICS, POWERS, TESTS, UNCHOSEN, UNTRAINED
from unskew_papers.carraro20.recommenders import LIKED, WEIGHTED, Choice
from unskew_papers.carraro20.setting import Setting, Unit
from unskew_papers.carraro20.tables import MEAN, TRUE, claims, differences, usual, values
from unskew_papers.record import Near, Record
from unskew_papers.repeated import averaged, claim, shown

RUNS = 10
ALPHAS = (0.1, 1.0, 10.0, 40.0)
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
    """Other training rows, other powers, other α."""
    coat, main = setting.coat(), usual(quick)
    liked = setting.runs(coat, runs, replace(main, learns=LIKED), progress)
    records = differences("choices/learnt from likes", liked, coat)
    records += claims("choices/learnt from likes: claims", liked)
    knn = ("UB_KNN", "IB_KNN")
    weighted = setting.runs(coat, runs, replace(main, learns=WEIGHTED, names=knn), progress)
    records += differences("choices/neighbours by cosines of ratings", weighted, coat, names=knn)
    records += _powers(setting.runs(coat, runs, main, progress))
    return records + _alphas(setting, main, runs, progress)


def _powers(units: list[Unit]) -> list[Record]:
    """The powers of the authors' code beside those of the paper."""
    part, true, records = "choices/powers of the authors' code", values(units, KEPT), []
    for name in ("WTD", "WTD_H", *POWERS):
        found = values(units, name)
        for m, row in enumerate(RECOMMENDERS):
            records.append(shown(part, row, name, over_runs(lambda v, t, m=m: float(off(v, t)[m]), found, true)))
        records.append(shown(part, MEAN, name, over_runs(mean_off, found, true)))
    return records


def _alphas(setting: Setting, main: Choice, runs: int, progress: Progress | None) -> list[Record]:
    """MF with another α."""
    records = []
    for alpha in ALPHAS:
        choice = main if alpha == main.alpha else replace(main, alpha=alpha, names=("MF",))
        units, last = setting.runs(setting.coat(), runs, choice, progress), [-1]  # MF is the last
        row, true = f"α = {alpha:g}", values(units, KEPT)[:, last]
        records.append(averaged("choices/MF by α", row, TRUE, true[:, 0]))
        for name in STRATEGIES:
            found = over_runs(lambda v, t: float(off(v, t)[0]), values(units, name)[:, last], true)
            records.append(shown("choices/MF by α", row, name, found))
    return records
