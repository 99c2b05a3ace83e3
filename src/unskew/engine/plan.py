"""Which estimator × target arms and which cells an evaluation consists of, and which cells are refused, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unskew.engine.arm import Arm
from unskew.engine.memory import Cell
from unskew.estimators import Estimator, Need, Summary, Target
from unskew.estimators.validity import Evidence, refusal
from unskew.metrics import RankingMetric


@dataclass(frozen=True)
class Refusal:
    """A cell that the log cannot support."""

    metric: str
    estimator: str
    target: str
    reason: str


@dataclass(frozen=True, eq=False)
class Plan:
    """Arms and cells in the order in which results are shown."""

    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]


def sift(
    metrics: Sequence[RankingMetric], estimators: Sequence[Estimator], targets: Sequence[Target], evidence: Evidence
) -> tuple[list[tuple[Estimator, Target, tuple[RankingMetric, ...]]], list[Refusal]]:
    """The cells that the log supports, by estimator and target, and the refused ones."""
    kept, refused = [], []
    for target in targets:
        for estimator in estimators:
            reasons = {metric: refusal(metric, estimator, target, evidence) for metric in metrics}
            good = tuple(metric for metric, reason in reasons.items() if reason is None)
            refused += [Refusal(str(m), str(estimator), target, r) for m, r in reasons.items() if r is not None]
            if good:
                kept.append((estimator, target, good))
    return kept, refused


def make_plan(
    kept: Sequence[tuple[Estimator, Target, tuple[RankingMetric, ...]]], summary: Summary, models: int, depth: int
) -> Plan:
    """Prepare the estimators and lay out the columns."""
    arms: list[Arm] = []
    cells: list[Cell] = []
    start = 0
    for place, (estimator, target, metrics) in enumerate(kept):
        arm = Arm(estimator.prepare(summary), target, metrics, models, depth, start)
        two_factors = target is Target.PER_USER_SUM and Need.CANDIDATES in estimator.needs(target)
        cells += [Cell(place, t, arm.columns(t, two_factors)) for t in range(len(metrics))]
        arms.append(arm)
        start += arm.width
    return Plan(tuple(arms), tuple(cells))
