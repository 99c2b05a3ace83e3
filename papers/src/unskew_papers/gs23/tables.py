"""Tables 1 and 2: Kendall's τ of every estimator at five cut-offs, the paper's beside; and what it does not report.

A τ is a mean over 20 seeds, and so is the paper's, whose spread over seeds is not printed: it is taken to be ours,

    |ours − theirs| ≤ 2 √(sd²/n + sd²/20)

Two estimators differ as the paper tests it: Welch's t over the seeds' τ, two-sided, level .05, Bonferroni over three
pairs. That gs combines the strengths of naive and IPS means that averaged over the cut-offs its τ is at least that of
the better of the two, as in both of the paper's tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.gs23.printed import COAT, CUTS, SEEDS, YAHOO
from unskew_papers.gs23.setting import ANCESTOR, OURS, Setting, Way
from unskew_papers.record import ERRORS, Above, Near, Record, judged
from unskew_papers.recovery import Paired, StudyResult
from unskew_papers.recovery.welch import compare
from unskew_papers.repeated import Repeated, averaged, claim

LEVEL = 0.05
Printed = Mapping[str, Sequence[float]]
METRICS = tuple(f"recall@{cut}" for cut in CUTS)
SAME = "no two estimators differ significantly"
BEST = "GS is the best, or not significantly different from the best"
COMBINES = "GS, averaged over the cut-offs, is at least the better of IPS and Naive"
VALUES, OF_VALUES = "values", ("spearman", "rmse", "regret", "coverage")
BESIDE = {
    "spearman": "Spearman's ρ",
    "rmse": "relative error",
    "regret": "regret of the model put first",
    "coverage": "95 % interval holds the truth",
    "right": "right verdicts",
    "wrong": "wrong verdicts",
    "undecided": "undecided",
    "alone_right": "right, each pair by itself",
    "alone_wrong": "wrong, each pair by itself",
}


def table_2(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Coat."""
    return _table("table2", setting, setting.coat(), ANCESTOR, SAME, COAT, runs, quick, progress)


def table_1(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Yahoo! R3; nothing without a copy."""
    source = setting.yahoo()
    return [] if source is None else _table("table1", setting, source, ANCESTOR, BEST, YAHOO, runs, quick, progress)


def simulated(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """A world of Yahoo's size, which is none of the paper's."""
    return _table("simulated", setting, setting.world(quick), OURS, BEST, None, runs, quick, progress)


def _table(
    name: str, setting: Setting, source: Paired, way: Way, told: str, printed: Printed | None, *how: Any
) -> list[Record]:
    """τ, beside the paper's where the data are the paper's, what is claimed of it, and what the paper leaves out."""
    result = asked(setting, source, way, *how)
    records = []
    for called, estimator in way.estimators.items():
        for place, (cut, metric) in enumerate(zip(CUTS, METRICS, strict=True)):
            values = taus(result, metric, estimator)
            judge = {} if printed is None else _beside_paper(values, printed[called][place])
            records.append(averaged(f"{name}/τ, {source.called}", called, f"Recall@{cut}", values, **judge))
    records += _differences(name, way, result, told)
    records += [] if printed is None else [_combines(name, way, result)]
    for measure, said in BESIDE.items():
        for called, estimator in way.estimators.items():
            for cut, metric in zip(CUTS, METRICS, strict=True):
                values = taus(result, metric, estimator, measure, VALUES if measure in OF_VALUES else "verdicts")
                if np.isfinite(values).all() and len(values):
                    records.append(averaged(f"{name}/{said}", called, f"Recall@{cut}", values))
    return records


def asked(setting: Setting, source: Paired, way: Way, runs: int, quick: bool, progress: Progress | None) -> StudyResult:
    """All models and the three estimators: every value, as the paper ranks them, and unskew's verdicts."""
    estimators = list(way.estimators.values())
    both = way.question(VALUES, estimators, verdicts=False), way.question("verdicts", estimators)
    models = setting.models(quick, training=way.training)
    return setting.study(source, models, both, runs, metrics=METRICS, progress=progress)


def taus(result: StudyResult, metric: str, estimator: str, measure: str = "tau", question: str = VALUES) -> Floats:
    """One number per seed."""
    asked = (metric, estimator, question)
    rows = [row for row in result.draw_scores if (row.metric, row.estimator, row.question) == asked]
    return np.array([getattr(row, measure) for row in rows])


def _beside_paper(values: Floats, paper: float) -> dict[str, Any]:
    """How a τ is judged: by two standard errors of the difference; not at all with one seed."""
    theirs = float(values.std(ddof=1) / np.sqrt(SEEDS)) if len(values) > 1 else float("nan")
    return {"paper": paper, "rule": Near(errors=ERRORS), "their_se": theirs}


def _differences(name: str, way: Way, result: StudyResult, told: str) -> list[Record]:
    """The smallest p of three pairs; or that of gs against the best."""
    records = []
    for cut, metric in zip(CUTS, METRICS, strict=True):
        each = {called: taus(result, metric, estimator) for called, estimator in way.estimators.items()}
        found = compare(each)
        if told == BEST:
            best = max(each, key=lambda called: each[called].mean())
            found = [c for c in found if {c.a, c.b} == {best, "GS"}]
        p = min((c.p_bonferroni for c in found), default=1.0)
        how: dict[str, Any] = {"runs": len(result.draws), "rule": Above(), "reference": ("the level", LEVEL)}
        records.append(judged(f"{name}/p by Welch's t, Bonferroni", f"Recall@{cut}", told, p, **how))
    return records


def _combines(name: str, way: Way, result: StudyResult) -> Record:
    """Over the same seeds."""
    each = {
        called: np.mean([taus(result, metric, estimator) for metric in METRICS], axis=0)
        for called, estimator in way.estimators.items()
    }
    gs, ips, naive = (Repeated.mean(each[called]) for called in ("GS", "IPS", "Naive"))
    better = Repeated(max(ips.value, naive.value), np.maximum(ips.without, naive.without))
    return claim(f"{name}/combines the strengths", "τ", COMBINES, gs, Above(), "the better", better)
