"""Which estimators, targets and cells an evaluation consists of, and which cells are refused, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unskew.core.notice import codes
from unskew.engine.estimator_run import EstimatorRun
from unskew.estimators import Estimator, Need, Summary, Target
from unskew.estimators.scenarios import Scenarios
from unskew.estimators.validity import Evidence, refused_cell
from unskew.inference.ratio_form import RatioForm
from unskew.kernels.arrays import Ints64
from unskew.metrics import Metric

Kept = tuple[Estimator, Target, tuple[Metric, ...]]


@dataclass(frozen=True)
class Refusal:
    """A cell that the log cannot support, and as plain values what would be accepted instead."""

    metric: str
    estimator: str
    target: str
    reason: str
    instead: tuple[dict[str, Any], ...] = ()
    code: str = ""


@dataclass(frozen=True, eq=False)
class Cell:
    """One metric of one run, its columns, and how its estimate is made of them."""

    run: int
    metric: int
    columns: Ints64
    form: RatioForm


@dataclass(frozen=True, eq=False)
class ScenarioCells:
    """The cells of one metric in all scenarios of an estimator.

    Args:
        cells: their places in the plan, in the order of the scenarios' points.
    """

    metric: Metric
    estimator: Estimator
    target: Target
    scenarios: Scenarios
    cells: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class EvaluationPlan:
    """Runs and cells in the order in which results are shown, and runs that give points without errors.

    Args:
        scenarios: which cells are the same in several scenarios, and make one answer together.
        asked: the estimators, targets and metrics that all of this comes from.
    """

    runs: tuple[EstimatorRun, ...]
    cells: tuple[Cell, ...]
    points: tuple[EstimatorRun, ...] = ()
    scenarios: tuple[ScenarioCells, ...] = ()
    asked: tuple[Kept, ...] = ()

    @cached_property
    def in_scenarios(self) -> frozenset[int]:
        """The places of all cells that are part of such an answer."""
        return frozenset(place for each in self.scenarios for place in each.cells)

    @property
    def width(self) -> int:
        """How many columns all runs fill."""
        return sum(run.width for run in self.runs)

    @cached_property
    def cells_alike(self) -> tuple[tuple[RatioForm, tuple[int, ...], Ints64], ...]:
        """The cells by how estimates are made of their columns: the form, their places, and the columns of each."""
        groups: dict[RatioForm, list[int]] = {}
        for place, cell in enumerate(self.cells):
            groups.setdefault(cell.form, []).append(place)
        return tuple(
            (form, tuple(places), np.stack([self.cells[place].columns for place in places]))
            for form, places in groups.items()
        )


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
                Refusal(
                    str(metric),
                    str(estimator),
                    target,
                    cell.reason,
                    tuple(way.plain for way in cell.instead),
                    "".join(codes([cell.reason])[:1]),
                )
                for metric, cell in cells.items()
                if cell is not None
            ]
            if good:
                kept.append((estimator, target, good))
    return kept, refused


def make_plan(
    kept: Sequence[Kept], summary: Summary, models: int, depth: int, *, probe: bool = False
) -> EvaluationPlan:
    """Prepare the estimators and lay out the columns; estimators with scenarios run once in each of them.

    ``probe`` says that the summary is that of a made-up log: the plan only tells where sums of others stand.
    """
    runs: list[EstimatorRun] = []
    cells: list[Cell] = []
    points: list[EstimatorRun] = []
    together: list[ScenarioCells] = []
    start = 0
    for estimator, target, metrics in kept:
        scenarios, first = estimator.scenarios(target), len(cells)
        asked = [(estimator, target)] if scenarios is None else [(s.estimator, s.target) for s in scenarios.points]
        for each, under in asked:
            every = under is Target.PER_PAIR or Need.ZEROS in each.needs(under)  # not only pairs with a gain count
            known = summary.of_pairs if every else summary
            ready = each.prepare_probe(known) if probe else each.prepare(known)
            run = EstimatorRun(ready, under, metrics, models, depth, start)
            if run.by_item:
                points.append(run)
                continue
            cells += [Cell(len(runs), t, run.columns(t), run.form_of(t)) for t in range(len(run.metrics))]
            runs.append(run)
            start += run.width
        if scenarios is not None:
            places = range(first, len(cells))
            together += [
                ScenarioCells(metric, estimator, target, scenarios, tuple(places[t :: len(metrics)]))
                for t, metric in enumerate(metrics)
            ]
    return EvaluationPlan(tuple(runs), tuple(cells), tuple(points), tuple(together), tuple(kept))
