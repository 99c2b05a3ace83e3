"""Pieces of Vega-Lite specifications in the look of all our pages, and the shapes of chart that several of them share.

Colours are the page's light palette; the page's style sheet maps each of them to its dark counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unskew.report.document import Chart
from unskew.report.marks import NAIVE

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

INK, SOFT = "#1f2430", "#626a7a"
WIDTH = 330
INNER = WIDTH - 60  # beside an axis of numbers
HEIGHT = 170
BESIDE = WIDTH - 150  # beside names
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
DASHED = {"color": NAIVE, "strokeDash": [5, 4]}
NUMBERS = {"labelOverlap": "greedy", "labelSeparation": 8}


def field(text: str, **options: Any) -> Spec:
    """A channel that shows a field: ``field("x:Q", scale=…)``."""
    name, _, kind = text.partition(":")
    return {"field": name} | ({"type": _TYPES[kind]} if kind else {}) | options


def colours(text: str, names: Sequence[str], shown: Sequence[str]) -> Spec:
    """A channel whose values have given colours or shapes; pages have legends of their own."""
    return field(text, scale={"domain": list(names), "range": list(shown)}, legend=None)


def marks(data: str, kind: str, encoding: Spec, only: Any = None, **options: Any) -> Spec:
    """One layer: the marks of a table, of its rows that pass a filter."""
    kept = {} if only is None else {"transform": [{"filter": only}]}
    return {"data": {"name": data}, **kept, "mark": {"type": kind, **options}, "encoding": encoding}


def layers(*found: Spec, width: Any = INNER, height: Any = HEIGHT) -> Spec:
    """Layers of one chart."""
    return {"layer": list(found), "width": width, "height": height}


def points(encoding: Spec, size: int = 60, data: str = "rows", **options: Any) -> Spec:
    """Filled marks, with their text as a tooltip."""
    return marks(
        data, "point", encoding | {"description": field("text:N")}, filled=True, size=size, opacity=1, **options
    )


def lines(encoding: Spec, width: float = 2, data: str = "rows", **options: Any) -> Spec:
    """Lines through the rows of a table."""
    return marks(data, "line", encoding, strokeWidth=width, **options)


def histogram(
    title: str,
    *,
    y: str = "count",
    shown: str,
    domain: Sequence[float],
    colour: str,
    numbers: str = ".2~g",
    line: bool = False,
    height: int = HEIGHT,
) -> Spec:
    """Bars from ``low`` to ``high`` on a logarithmic axis, as high as the field ``y``, and a ``line`` over them.

    ``shown`` and ``numbers`` are the formats of the vertical and of the horizontal axis.
    """
    axis = {"title": title, "tickCount": 5, "format": numbers, **NUMBERS}
    x = {"axis": axis, "scale": {"type": "log", "base": 2, "nice": False, "domain": list(domain)}}
    of = field(f"{y}:Q", axis={"title": None, "tickCount": 3, "format": shown})
    encoding = {"x": field("low:Q", **x), "x2": field("high"), "y": of, "y2": {"datum": 0}}
    found = [marks("rows", "bar", encoding | {"description": field("text:N")}, color=colour, binSpacing=1)]
    if line:
        over = {"x": field("x:Q", **x), "y": of}
        found += [lines(over, 1.5, "line", color=INK), points(over, 16, "line", color=INK)]
    return layers(*found, height=height)


def share_bars(title: str, colour: Spec, step: int, offset: Spec | None = None) -> Spec:
    """Horizontal bars for the field ``share`` of each ``row``, one or several beside each other."""
    encoding = {
        "y": field("row:N", sort=None, axis=beside()),
        "x": field("share:Q", axis={"title": title, "tickCount": 4, "format": "~%"}, scale={"domain": [0, 1]}),
        "color": colour,
        "description": field("text:N"),
    }
    bars = marks("rows", "bar", encoding | ({"yOffset": offset} if offset else {}))
    return layers(bars, width=BESIDE, height={"step": step})


def beside(room: int = 130) -> Spec:
    """The axis of names beside horizontal bars."""
    return {"title": None, "labelLimit": room, "labelPadding": 8}


def chart(name: str, note: str, label: str, spec: Spec, **data: Rows) -> Chart:
    """A chart of some tables."""
    return Chart(name, note, label, spec, data)
