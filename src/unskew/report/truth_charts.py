"""Intervals beside a known truth: one row for each, the truth as a stroke across it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.plots import INK, RowPlaces, chart, colours, field, layers, marks
from unskew.report.result_charts import VERDICTS
from unskew.report.scenario_words import range_of

STROKE = "M-1,-6h2v12h-2z"
TRUTH = doc.Legend("Marks", (doc.Swatch("the truth", "var(--ink)", STROKE),))


class Row(NamedTuple):
    """A number with its interval, or a range over scenarios, and the truth that it is about."""

    name: str
    tone: str
    value: float
    low: float
    high: float
    truth: float
    scenarios: bool = False

    @property
    def text(self) -> str:
        """The row in words."""
        places = numbers.decimals([(self.low, self.high)])
        found = (range_of if self.scenarios else numbers.interval)(self.low, self.high, places)
        value = "" if self.scenarios else f"{numbers.number(self.value, places)} "
        return f"{self.name}: {value}{found}; truth {numbers.number(self.truth, places)}"


def beside_truth(name: str, note: str, label: str, rows: Sequence[Row], *, zero: bool = False) -> doc.Chart:
    """Rows with bars, a wide one for a range over scenarios; ``zero`` draws the line where models are equal."""
    known = [row for row in rows if math.isfinite(row.low) and math.isfinite(row.high)]
    places = RowPlaces([row.name for row in known])
    data: list[dict[str, Any]] = [row._asdict() | {"text": row.text, "at": places.at(row.name)} for row in known]
    axis = {"title": None, "tickCount": 4, "format": ".6~g", "labelOverlap": "greedy", "labelSeparation": 10}
    scale = {"zero": False, "nice": True, "padding": 6}
    base = {
        "y": places.y(),
        "color": colours("tone:N", list(VERDICTS), list(VERDICTS.values())),
        "description": field("text:N"),
    }
    bounds = base | {"x": field("low:Q", axis=axis, scale=scale), "x2": field("high")}
    at_truth = {"x": field("truth:Q", axis=axis, scale=scale), "y": base["y"], "description": field("text:N")}
    found = [
        marks("rows", "rule", bounds, "datum.scenarios", strokeWidth=7, opacity=0.5),
        marks("rows", "rule", bounds, "!datum.scenarios", strokeWidth=2, opacity=0.75),
        marks("rows", "point", base | {"x": field("value:Q", axis=axis)}, "!datum.scenarios", filled=True, opacity=1),
        marks("rows", "tick", at_truth, color=INK, thickness=2.5, size=16, orient="vertical"),
    ]
    named, names = places.labels()
    found.insert(0, named)
    tables: dict[str, Any] = {"rows": data, "names": names}
    if zero:
        found.insert(0, marks("zero", "rule", {"x": field("zero:Q")}, color=INK, strokeWidth=1, strokeDash=[2, 3]))
        tables["zero"] = [{"zero": 0}]
    return chart(name, note, label, layers(*found, height=places.height), **tables)
