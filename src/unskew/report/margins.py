"""A margin in every scenario of what the log cannot tell: by how much a model may be worse there, and whether it is.

    Δ = a − b in [low, high], b's value in [l, u]     holds: low > −m, of a share m low > −m l
                                                      fails: high < −m, of a share m high < −m u

A share is one of b's value in the same scenario: values at one end of the path may be several times those at the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from unskew.core.notice import Notice
from unskew.report import numbers
from unskew.report.scenario_words import at
from unskew.report.view import Facet, View
from unskew.requirement import Reply, Statement
from unskew.result import ScenarioTable, Verdict

WORDS = {Reply.YES: "it holds", Reply.NO: "it fails", Reply.UNDECIDED: "it is open"}


class Case(NamedTuple):
    """A margin in one scenario; of a verdict without scenarios there is one case.

    Args:
        where: the scenario in words; empty where there is one case.
        first: its place on the first axis.
        difference, low, high: by how much the first model of the statement is better.
        least, most: the margin's size, from a share of the lowest value of the second model to one of the highest.
    """

    where: str
    first: float
    difference: float
    low: float
    high: float
    least: float
    most: float

    @property
    def room(self) -> float:
        """How far the interval stays above the margin; negative where it does not, NaN where a number is missing."""
        return self.low + self.least

    @property
    def excess(self) -> float:
        """How far the interval reaches above the margin; negative where all of it lies below."""
        return self.high + self.most

    @property
    def reply(self) -> Reply:
        """What is said here; nothing where a number is missing."""
        return Reply.YES if self.room > 0.0 else Reply.NO if self.excess < 0.0 else Reply.UNDECIDED

    @property
    def interval(self) -> str:
        """The interval in words."""
        return numbers.interval(self.low, self.high, numbers.decimals([(self.low, self.high)]))


def facet_of(v: Verdict) -> Facet:
    """The question that a verdict answers."""
    return Facet(v.metric, v.target, v.segment)


def cases_of(view: View, asked: Statement, v: Verdict) -> list[Case]:
    """A margin in every scenario that answers leave, or in the only case."""
    facet, table = facet_of(v), view.scenarios(facet_of(v), v.estimator)
    if table is None:
        e = next((e for e in view.estimates(facet, v.estimator) if e.model == asked.b), None)
        value = (math.nan, math.nan) if e is None or math.isnan(e.value) else (e.low, e.high)
        ends = _better_by(view, asked, v.metric, v.a, (v.difference, v.low, v.high))
        return [Case("", 0.0, *ends, *_margins(asked, *value))]
    row = next(row for row in table.differences if {row.a, row.b} == {asked.a, asked.b})
    base = next(row for row in table.values if row.model == asked.b)
    found = []
    for n in table.places:
        ends = _better_by(view, asked, v.metric, row.a, (row.difference[n], row.low[n], row.high[n]))
        where = " and ".join(
            f"{axis} {_at(table, place, table.points[n][place])}" for place, axis in enumerate(table.axes)
        )
        found.append(Case(where, table.points[n][0], *ends, *_margins(asked, base.low[n], base.high[n])))
    return found


def ends_of(view: View, asked: Statement, v: Verdict) -> tuple[float, float]:
    """The interval of by how much the first model of a statement is better, over all scenarios."""
    _, low, high = _better_by(view, asked, v.metric, v.a, (v.difference, v.low, v.high))
    return low, high


def by_place(view: View, v: Verdict, cases: Sequence[Case]) -> Notice:
    """Where on the first axis a margin is kept, where not, and where that is open."""
    table = view.scenarios(facet_of(v), v.estimator)
    assert table is not None
    there: dict[float, set[Reply]] = {}
    for case in cases:
        there.setdefault(case.first, set()).add(case.reply)
    told = {x: found.pop() if len(found) == 1 else Reply.UNDECIDED for x, found in sorted(there.items())}
    said, places = [], []
    for reply, several in groupby(told, key=told.__getitem__):
        xs = [*several]
        places.append((reply, xs[0], xs[-1]))
        ends = [_at(table, 0, x) for x in xs]
        said.append(f"{WORDS[reply]} at {table.axes[0]} {ends[0]}" + (f" to {ends[-1]}" if len(ends) > 1 else ""))
    return Notice(", ".join(said), code="by-scenario", places=places)


def _at(table: ScenarioTable, axis: int, value: float) -> str:
    return at(table, axis, value).replace(numbers.SPACE, " ")  # programs read reasons, too


def _better_by(
    view: View, asked: Statement, metric: str, a: str, row: tuple[float, float, float]
) -> tuple[float, float, float]:
    """A difference with its interval, as by how much the first model of a statement is better.

    Args:
        a: the model from which the other one was taken.
    """
    sign = (-1.0 if view.traits(metric).lower_is_better else 1.0) * (1.0 if a == asked.a else -1.0)
    value, *ends = (sign * number for number in row)
    return value, min(ends), max(ends)


def _margins(asked: Statement, low: float, high: float) -> tuple[float, float]:
    """The margin, or its least and largest size where it is a share of a value that is itself an estimate."""
    assert asked.margin is not None
    if not asked.relative:
        return asked.margin, asked.margin
    if math.isnan(low) or math.isnan(high):
        return math.nan, math.nan
    return asked.margin * max(low, 0.0), asked.margin * max(high, 0.0)
