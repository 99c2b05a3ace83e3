"""Scenarios along their first axis: what holds at each value of it whatever the other axes are, and as a small table.

value      the average over the other axes        interval   from the lowest end to the highest
ahead      the model that is ahead in all scenarios there
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from unskew.inference.intervals import Interval
from unskew.inference.turning import hull, whole
from unskew.report import numbers
from unskew.report.document import Cell, Column, Table
from unskew.report.scenario_words import at, axis_title
from unskew.report.view import Facet, View
from unskew.result import ScenarioDifferences, ScenarioTable

COLUMNS = 6  # values of the axis that a terminal has room for
PAIRS = 5  # that a terminal shows
AHEAD = {1: ("ahead", " ▲"), -1: ("behind", " ▼"), 0: ("undecided", "  ")}  # of the first model


class Point(NamedTuple):
    """A number at one value of the first axis, with the ends of its intervals there, and who is ahead (1 the first)."""

    at: float
    value: float
    low: float
    high: float
    ahead: int = 0


def along(table: ScenarioTable, value: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[Point]:
    """Numbers of all scenarios at the values of the first axis."""
    return [
        Point(x, sum(value[n] for n in there) / len(there), *hull([Interval(math.nan, low[n], high[n]) for n in there]))
        for x, there in _by_first(table).items()
    ]


def difference_along(view: View, table: ScenarioTable, pair: ScenarioDifferences) -> list[Point]:
    """The difference of two models at the values of the first axis, and who is ahead there."""
    upwards = -1 if view.traits(table.metric).lower_is_better else 1
    found = along(table, pair.difference, pair.low, pair.high)
    signs = [whole([pair.sign[n] for n in there]) for there in _by_first(table).values()]
    return [point._replace(ahead=upwards * sign) for point, sign in zip(found, signs, strict=True)]


def _by_first(table: ScenarioTable) -> dict[float, list[int]]:
    found: dict[float, list[int]] = {}
    for n, point in enumerate(table.points):
        found.setdefault(point[0], []).append(n)
    return dict(sorted(found.items()))


def facet_of(table: ScenarioTable) -> Facet:
    """The question that a table belongs to."""
    return Facet(table.metric, table.target, table.segment)


def in_order(view: View, table: ScenarioTable) -> tuple[list[str], list[ScenarioDifferences]]:
    """The models, best first, and the pairs: those of the first model before all others."""
    there = view.estimates(facet_of(table), table.estimator)
    best = -1.0 if view.traits(table.metric).lower_is_better else 1.0
    known = [e for e in there if math.isfinite(e.value)]
    models = [e.model for e in sorted(known, key=lambda e: -best * e.value)]
    models += [row.model for row in table.values if row.model not in models]
    place = {model: n for n, model in enumerate(models)}

    def order(pair: ScenarioDifferences) -> tuple[int, int]:
        one, other = place[pair.a], place[pair.b]
        return min(one, other), max(one, other)

    return models, sorted(table.differences, key=order)


def scenario_table(view: View, table: ScenarioTable) -> Table:
    """Values of the models, and differences of a few pairs, those with the best model first, along the first axis."""
    models, pairs = in_order(view, table)
    values = {row.model: along(table, row.value, row.low, row.high) for row in table.values}
    apart = {f"{pair.a} − {pair.b}": difference_along(view, table, pair) for pair in pairs[:PAIRS]}
    columns = spread(len(_by_first(table)))
    places = numbers.decimals((p.low, p.high) for points in values.values() for p in points)
    digits = numbers.decimals((p.low, p.high) for points in apart.values() for p in points)
    axis = [at(table, 0, x) for x in _by_first(table)]
    rows: list[tuple[str | Cell, ...]] = [
        (model, *(numbers.number(values[model][n].value, places) for n in columns)) for model in models
    ]
    for label, points in apart.items():
        rows.append((label, *(_cell(points[n], digits) for n in columns)))
    heads = (Column(table.axes[0], "name"), *(Column(axis[n]) for n in columns))
    others = "".join(f", averages over the {axis_title(table, n)}" for n in range(1, len(table.axes)))
    note = f"{table.estimator}, {table.metric}{others}; ▲ the first is ahead, ▼ the second"
    return Table(f"By the {axis_title(table, 0)}", note, heads, tuple(rows), "scenarios")


def _cell(point: Point, places: int | None) -> Cell:
    tone, mark = AHEAD[point.ahead]
    return Cell(f"{numbers.number(point.value, places, sign=True)}{mark}", tone)


def spread(size: int, most: int = COLUMNS) -> list[int]:
    """A few places out of many, the first and the last among them."""
    step = max(1, math.ceil((size - 1) / (most - 1)))
    return sorted({*range(0, size, step), size - 1}) if size else []
