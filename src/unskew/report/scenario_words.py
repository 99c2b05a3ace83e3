"""What depends on what the log cannot tell, in words: ranges over scenarios, where a verdict turns, and the limits.

A number over scenarios is a range, never a point with an interval: its ends are those of the intervals of all scenarios
together, and the average over the scenarios chooses none of them.
"""

from __future__ import annotations

import math

from unskew.core.notice import Notice
from unskew.report import numbers
from unskew.report.document import Span
from unskew.result import ScenarioTable, Verdict

UNKNOWN = "what the log cannot tell"
LONGEST_LABEL = 48  # characters that an axis has room for


def range_of(low: float, high: float, places: int | None = None) -> str:
    """A range over scenarios in a table; a dash where it does not exist."""
    if math.isnan(low) or math.isnan(high):
        return numbers.DASH
    return f"{_end(low, places)} to {_end(high, places)}"


def between(value: float, low: float, high: float, places: int | None = None, *, sign: bool = False) -> str:
    """A range over scenarios in a sentence, with the average."""
    average = f"{numbers.number(value, places, sign=sign)} on average over all scenarios"
    if math.isnan(low) or math.isnan(high):
        return f"{average} (no interval)"
    ends = f"between {_end(low, places, sign=sign)} and {_end(high, places, sign=sign)}"
    return f"{ends} over all scenarios, {numbers.number(value, places, sign=sign)} on average"


def ahead_in_part(verdict: Verdict, leader: str, on: str, end: str = ".") -> tuple[Span, ...]:
    """A pair in which one model is ahead in some scenarios and the other one in none: up to where, and what is open."""
    other = verdict.b if leader == verdict.a else verdict.a
    begins = f"{leader} is ahead "
    where = "in some scenarios"
    if verdict.turns.startswith(begins):  # other estimators may be what turns it
        where = verdict.turns.removeprefix(begins).rstrip(".")
    told = Notice(f"{on} {where}{end}", code="ahead-in-part")
    return Span(leader, "name"), Span(" is ahead of "), Span(other, "name"), Span(told)


def depends(verdict: Verdict, brief: bool, leader: str) -> tuple[Span, ...]:
    """A pair that is decided in some scenarios only: in which, and by whom.

    Args:
        leader: who is ahead in some of them, where the other model is in none.
    """
    on = "" if brief else f" on {verdict.metric}"
    if leader:
        return ahead_in_part(verdict, leader, on)
    names = Span("Between "), Span(verdict.a, "name"), Span(" and "), Span(verdict.b, "name")
    return *names, Span(Notice(f"{on} it depends: {verdict.turns}", code="depends"))


def what_it_depends_on(table: ScenarioTable | None) -> str:
    """What cannot be told, in words that go on after "depends on"."""
    if table is None:
        return UNKNOWN
    short = [axis_title(table, n) for n in range(len(table.axes))]
    if short == list(table.labels):
        return " and ".join(f"the {label}" for label in short)
    return f"{UNKNOWN} ({' and '.join(table.axes)})"


def axis_title(table: ScenarioTable, axis: int) -> str:
    """What stands at an axis: its label, or where that is a whole sentence its name; the notes have it in full."""
    label = table.labels[axis]
    return label if len(label) <= LONGEST_LABEL else table.axes[axis]


def scenario_notes(table: ScenarioTable | None) -> list[str]:
    """What the scenarios are, what none of them covers, and where a random sample would put them."""
    if table is None:
        return []
    ends = [(min(values), max(values)) for values in zip(*table.points, strict=True)]
    spans = [
        f"{_named(table, n)} from {at(table, n, low)} to {at(table, n, high)}" for n, (low, high) in enumerate(ends)
    ]
    said = f"This log cannot tell which scenario holds: {'; '.join(spans)}."
    if table.left is not None:
        low, high = (at(table, 0, end) for end in table.left)
        said += f" The answers leave {low} to {high}: values and verdicts are those of that range."
    found = [Notice(said, code="unknown-scenario"), table.not_covered]
    if table.estimated is not None:
        estimate = at(table, 0, table.estimated)
        text = f"The random sample puts the {table.labels[0]} at {estimate}; this decides nothing here."
        found.append(Notice(text, code="scenario-of-sample", at=table.estimated))
    return [text for text in found if text]


def at(table: ScenarioTable, axis: int, value: float) -> str:
    """A value on an axis as it is read."""
    percent = axis < len(table.percent) and table.percent[axis]
    return f"{100.0 * value:.0f}{numbers.SPACE}%" if percent else f"{value:.3g}".replace("-", numbers.MINUS)


def _named(table: ScenarioTable, axis: int) -> str:
    """An axis in full, with its name where charts have no room for more."""
    label, title = table.labels[axis], axis_title(table, axis)
    return f"the {label}" if title == label else f"{title}, the {label},"


def _end(value: float, places: int | None, *, sign: bool = False) -> str:
    if math.isinf(value):
        return f"{numbers.MINUS if value < 0.0 else ''}∞"
    return numbers.number(value, places, sign=sign)
