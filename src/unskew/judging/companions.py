"""Which other cells a verdict needs beside its own: one that promises more must consent, and hits must be counted.

Estimators that are biased on purpose, and metrics that are no sums over items, find differences between equal models
where the bias favours one of them: gs did so in nine of ten worlds. Their verdicts stand only where the estimator that
they approximate says the same.

    ndcg, map (weighed)            dcg by snips, pooled
    gs, stratified                 snips under the same target: another one may name another model
    clipped(E)                     E
    switch                         dr
    others, of sums and pairs      dr with an outcome model, else ips, or snips where propensities are relative
    normalised inside users        normalised over all users

Estimators that correct an outcome model tell models apart by guesses for everybody; how often a list was seen to win is
counted by ips, whose sums hold positive outcomes alone; where there are no propensities (a census), by naive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unskew import metrics
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import Kept
from unskew.estimators import DR, IPS, SNIPS, Estimator, Naive, Need, Standing, Target
from unskew.estimators.traits import traits
from unskew.metrics import Metric, RankingMetric, Shape


class CompanionCell(NamedTuple):
    """A cell that is looked at beside another one."""

    metric: Metric
    estimator: Estimator
    target: Target

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is found."""
        return str(self.metric), str(self.estimator), str(self.target)


def confirming_cell(estimator: Estimator, target: Target, metric: Metric) -> CompanionCell | None:
    """The cell that must say the same; ``None`` where a verdict stands by itself."""
    if Need.PROPENSITY not in estimator.needs(target):
        return None
    if isinstance(metric, RankingMetric) and metric.shape is not Shape.ADDITIVE:
        return CompanionCell(metrics.make("dcg" if metric.k is None else f"dcg@{metric.k}"), SNIPS(), Target.POOLED)
    if estimator.standing(target) is not Standing.BIASED:
        return None
    if target in (Target.PER_USER, Target.POOLED):
        inner = estimator.innermost
        return CompanionCell(metric, SNIPS() if inner.standing(target) is Standing.BIASED else inner, target)
    target = Target.SUM_POOLED if target is Target.SUM_PER_USER else target
    inner, needs = estimator.innermost, estimator.needs(target)
    if inner.standing(Target.PER_USER_SUM) is not Standing.BIASED:
        return CompanionCell(metric, inner, target)
    if Need.OUTCOME in needs:
        return CompanionCell(metric, DR(), target)
    return CompanionCell(metric, IPS() if target.normalised or Need.ABSOLUTE in needs else SNIPS(), target)


def hit_counting_cell(estimator: Estimator, target: Target, metric: Metric) -> CompanionCell | None:
    """The cell whose sums count positive outcomes; ``None`` where the cell's own do."""
    if not isinstance(metric, RankingMetric) or not traits(estimator, target).corrects_model:
        return None
    if Need.ANSWERS in estimator.needs(target):
        return None  # answers are counted where lists differ (``answers.py``)
    counting = Naive() if Need.CENSUS in estimator.needs(target) else IPS()
    return CompanionCell(metric, counting, Target.PER_USER_SUM)


def companions(runs: Sequence[EstimatorRun]) -> list[Kept]:
    """All cells that are needed beside those of these runs, and beside those, by estimator and target."""
    found: dict[tuple[str, Target], tuple[Estimator, list[Metric]]] = {}
    waiting = [(run.estimator, run.target, metric) for run in runs for metric in run.metrics]
    while waiting:
        estimator, target, metric = waiting.pop(0)
        for companion in (confirming_cell(estimator, target, metric), hit_counting_cell(estimator, target, metric)):
            if companion is None:
                continue
            _, asked = found.setdefault((str(companion.estimator), companion.target), (companion.estimator, []))
            if companion.metric not in asked:
                asked.append(companion.metric)
                waiting.append((companion.estimator, companion.target, companion.metric))
    return [(estimator, target, tuple(asked)) for (_, target), (estimator, asked) in found.items()]
