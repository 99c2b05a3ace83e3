"""Which estimator × target arms and which cells an evaluation consists of, and which cells are refused, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.engine.arm import Arm
from unskew.engine.memory import AnyArm, Cell
from unskew.engine.rated import RatedArm
from unskew.engine.summed import SummedArm
from unskew.estimators import Estimator, Need, Over, Summary, Target
from unskew.estimators.validity import Evidence, refused_cell
from unskew.metrics import Metric, RankingMetric


@dataclass(frozen=True)
class Refusal:
    """A cell that the log cannot support, and as plain values what would be accepted instead."""

    metric: str
    estimator: str
    target: str
    reason: str
    instead: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """Arms and cells in the order in which results are shown, and arms that give points without errors."""

    arms: tuple[AnyArm, ...]
    cells: tuple[Cell, ...]
    points: tuple[RatedArm, ...] = ()


Kept = tuple[Estimator, Target, tuple[Metric, ...]]


def sift(
    metrics: Mapping[Metric, Sequence[Target]], estimators: Sequence[Estimator], evidence: Evidence
) -> tuple[list[Kept], list[Refusal]]:
    """The cells that the log supports, by estimator and target, and the refused ones."""
    kept, refused = [], []
    for target in dict.fromkeys(target for targets in metrics.values() for target in targets):
        asked = [metric for metric, targets in metrics.items() if target in targets]
        for estimator in estimators:
            cells = {metric: refused_cell(metric, estimator, target, evidence) for metric in asked}
            good = tuple(metric for metric, cell in cells.items() if cell is None)
            refused += [
                Refusal(str(metric), str(estimator), target, cell.reason, tuple(way.plain for way in cell.instead))
                for metric, cell in cells.items()
                if cell is not None
            ]
            if good:
                kept.append((estimator, target, good))
    return kept, refused


def make_plan(kept: Sequence[Kept], summary: Summary, models: int, depth: int) -> Plan:
    """Prepare the estimators and lay out the columns."""
    arms: list[AnyArm] = []
    cells: list[Cell] = []
    points: list[RatedArm] = []
    start = 0
    for estimator, target, metrics in kept:
        every = target is Target.PER_PAIR or Need.ZEROS in estimator.needs(target)  # not only pairs with a gain count
        ready = estimator.prepare(summary.of_pairs if every else summary)
        if target is Target.PER_PAIR and ready.normalised is Over.ITEM:
            points.append(RatedArm(ready, metrics, models, depth, 0))
            continue
        arm: AnyArm
        if target is Target.PER_PAIR:
            arm = RatedArm(ready, metrics, models, depth, start)
        else:
            kind = SummedArm if target.sums else Arm
            ranking = tuple(m for m in metrics if isinstance(m, RankingMetric))
            arm = kind(ready, target, ranking, models, depth, start)
        cells += [Cell(len(arms), t, arm.columns(t), arm.form_of(t)) for t in range(len(arm.metrics))]
        arms.append(arm)
        start += arm.width
    return Plan(tuple(arms), tuple(cells), tuple(points))
