"""Tables 1 and 2: Kendall's τ of every estimator at five cut-offs, the paper's beside; and what it does not report.

An estimator is compared with the others over the seeds' τ as in the paper: Welch's t, two-sided, level .05, Bonferroni
over the three pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.gs23.printed import CALLED, COAT, CUTS, GS, IPS, NAIVE, YAHOO
from unskew_papers.gs23.setting import COAT as COAT_SET
from unskew_papers.gs23.setting import YAHOO as YAHOO_SET
from unskew_papers.gs23.setting import Setting
from unskew_papers.record import Above, Near, Record, judged
from unskew_papers.recovery import Paired, Question, StudyResult
from unskew_papers.repeated import averaged

LEVEL = 0.05
TOLERANCE = 0.08
METRICS = tuple(f"recall@{cut}" for cut in CUTS)
ASKED = Question("popularity", (NAIVE, IPS, GS), "popularity(gamma=2)")
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
    source = setting.coat()
    result = setting.study(source, setting.models(quick), [ASKED], runs, metrics=METRICS, progress=progress)
    return _table("table2", source, COAT if source.called == COAT_SET else None, COAT, result, runs)


def table_1(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Yahoo! R3 where there is a copy, else a world of its size."""
    source = setting.yahoo()
    result = setting.study(source, setting.models(quick), [ASKED], runs, metrics=METRICS, progress=progress)
    return _table("table1", source, YAHOO if source.called == YAHOO_SET else None, YAHOO, result, runs)


def taus(result: StudyResult, metric: str, estimator: str, measure: str = "tau") -> Floats:
    """One number per seed."""
    rows = [r for r in result.draw_scores if (r.metric, r.estimator) == (metric, estimator)]
    return np.array([getattr(row, measure) for row in rows])


def _table(
    name: str,
    source: Paired,
    asked: Mapping[str, Sequence[float]] | None,
    printed: Mapping[str, Sequence[float]],
    result: StudyResult,
    runs: int,
) -> list[Record]:
    """τ beside the paper's, which are to be met on the paper's data only, then what differs, then all else."""
    part = f"{name}/τ, {source.called}"
    records = []
    for estimator, called in CALLED.items():
        for place, (cut, metric) in enumerate(zip(CUTS, METRICS, strict=True)):
            how: dict[str, Any] = {"paper": printed[estimator][place]}
            how |= {} if asked is None else {"rule": Near(absolute=TOLERANCE)}
            records.append(averaged(part, called, f"Recall@{cut}", taus(result, metric, estimator), **how))
    records += _claims(name, result, asked is not None and name == "table2")
    for measure, told in BESIDE.items():
        for estimator, called in CALLED.items():
            for cut, metric in zip(CUTS, METRICS, strict=True):
                values = taus(result, metric, estimator, measure)
                if np.isfinite(values).all() and len(values):
                    records.append(averaged(f"{name}/{told}", called, f"Recall@{cut}", values))
    return records


def _claims(name: str, result: StudyResult, same: bool) -> list[Record]:
    """On Coat: no difference is significant. Elsewhere: gs is the best, or not different from the best."""
    records = []
    for cut, metric in zip(CUTS, METRICS, strict=True):
        found = [c for c in result.comparisons_ if (c.metric, c.measure) == (metric, "tau")]
        if not found:
            continue
        if same:
            told, p = "no two estimators differ significantly", min(c.p_bonferroni for c in found)
        else:
            told = "GS is the best, or not significantly different from the best"
            means = {e: taus(result, metric, e).mean() for e in CALLED}
            best = max(means, key=lambda e: means[e])
            p = 1.0 if best == GS else next(c.p_bonferroni for c in found if {c.a, c.b} == {best, GS})
        records.append(
            judged(
                f"{name}/p by Welch's t, Bonferroni",
                f"Recall@{cut}",
                told,
                p,
                runs=len(result.draws),
                rule=Above(),
                reference=("the level", LEVEL),
            )
        )
    return records
