"""Which other cells a verdict needs beside its own: one that promises more must consent, and hits must be counted.

Estimators that are biased on purpose, and metrics that are no sums over items, find differences between equal models
where the bias favours one of them: gs did so in nine of ten worlds. Their verdicts stand only where the estimator that
they approximate says the same.

    ndcg, map (weighed)            dcg by snips, pooled
    gs, stratified                 snips, pooled
    clipped(E)                     E (pooled snips where E is a ratio inside users)
    switch                         dr
    normalised inside users        normalised over all users

Estimators that correct an outcome model tell models apart by guesses for everybody; how often a list was seen to win is
counted by ips, whose sums hold positive outcomes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unskew import metrics
from unskew.engine.memory import AnyArm
from unskew.engine.plan import Kept
from unskew.estimators import DR, IPS, SNIPS, Estimator, Need, Standing, Target
from unskew.metrics import Metric, RankingMetric, Shape


class Beside(NamedTuple):
    """A cell that is looked at beside another one."""

    metric: Metric
    estimator: Estimator
    target: Target

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is found."""
        return str(self.metric), str(self.estimator), str(self.target)


def consent(estimator: Estimator, target: Target, metric: Metric) -> Beside | None:
    """The cell that must say the same; ``None`` where a verdict stands by itself."""
    if Need.PROPENSITY not in estimator.needs(target):
        return None
    if isinstance(metric, RankingMetric) and metric.shape is not Shape.ADDITIVE:
        return Beside(metrics.make("dcg" if metric.k is None else f"dcg@{metric.k}"), SNIPS(), Target.POOLED)
    if estimator.standing(target) is not Standing.BIASED:
        return None
    if target in (Target.PER_USER, Target.POOLED):
        return Beside(metric, SNIPS(), Target.POOLED)
    inner = estimator.innermost
    stronger = inner if inner.standing(Target.PER_USER_SUM) is not Standing.BIASED else DR()
    return Beside(metric, stronger, Target.SUM_POOLED if target is Target.SUM_PER_USER else target)


def hits(estimator: Estimator, metric: Metric) -> Beside | None:
    """The cell whose sums count positive outcomes; ``None`` where the cell's own do."""
    if not estimator.corrects or not isinstance(metric, RankingMetric):
        return None
    return Beside(metric, IPS(), Target.PER_USER_SUM)


def companions(arms: Sequence[AnyArm]) -> list[Kept]:
    """All cells that are needed beside those of these arms, and beside those, by estimator and target."""
    found: dict[tuple[str, Target], tuple[Estimator, list[Metric]]] = {}
    waiting = [(arm.estimator, arm.target, metric) for arm in arms for metric in arm.metrics]
    while waiting:
        estimator, target, metric = waiting.pop(0)
        for beside in (consent(estimator, target, metric), hits(estimator, metric)):
            if beside is None:
                continue
            _, asked = found.setdefault((str(beside.estimator), beside.target), (beside.estimator, []))
            if beside.metric not in asked:
                asked.append(beside.metric)
                waiting.append((beside.estimator, beside.target, beside.metric))
    return [(estimator, target, tuple(asked)) for (_, target), (estimator, asked) in found.items()]
