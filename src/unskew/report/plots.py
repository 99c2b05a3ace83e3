"""Pieces of Vega-Lite specifications in the look of all our pages, and the shapes of chart that several of them share.

Colours are the page's light palette; the page's style sheet maps each of them to its dark counterpart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from unskew.report.document import Chart
from unskew.report.marks import NAIVE

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

INK, SOFT = "#1f2430", "#626a7a"
WIDTH = 300  # of a whole chart with its labels: what a card has on a phone, so that no chart is ever made smaller there
HEIGHT = 170
SIZE = 12  # of letters; the style sheet never makes a chart smaller than it is drawn
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
DASHED = {"color": NAIVE, "strokeDash": [5, 4]}
HALO = "#ffffff"  # around labels that lie on lines; the style sheet paints it beneath the letters
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


def layers(*found: Spec, width: Any = WIDTH, height: Any = HEIGHT, fit: bool = True) -> Spec:
    """Layers of one chart; ``width`` has room for the axes too, unless it does not ``fit`` them in."""
    fitted = {"autosize": {"type": "fit-x", "contains": "padding"}} if fit else {}
    return {"layer": list(found), "width": width, "height": height, **fitted}


def folded(text: str, signs: int) -> str:
    """A text on several lines of at most so many characters, broken after spaces and punctuation where there are any.

    Labels of charts cannot wrap by themselves, and cut ones could not be told apart.
    """
    lines = [""]
    for piece in re.findall(r"[^\s,(=_/+.-]*[\s,(=_/+.-]?", text):
        while piece:
            if len(lines[-1]) + len(piece.rstrip()) <= signs:
                lines[-1] += piece
                piece = ""
            elif lines[-1] and len(piece) <= signs:
                lines.append("")
            else:
                room = signs - len(lines[-1])
                lines[-1] += piece[:room]
                piece = piece[room:]
                lines.append("")
    return "\n".join(line.strip() for line in lines if line.strip()) or text


class RowPlaces:
    """Where rows and their marks stand, in pixels from above: a row's name on its own lines, its marks below.

    Names beside marks would leave these no room on a phone.
    """

    LINE, MARK, GAP, SIGNS = 15, 14, 10, 44

    def __init__(self, names: Sequence[str], marks: int = 1) -> None:
        self.names = {name: folded(name, self.SIGNS) for name in dict.fromkeys(names)}
        self.tops: dict[str, int] = {}
        self.height = 0
        for name, text in self.names.items():
            self.tops[name] = self.height
            self.height += self.LINE * (text.count("\n") + 1) + self.MARK * marks + self.GAP

    def at(self, name: str, mark: int = 0) -> float:
        """The middle of the n-th mark of a row."""
        lines = self.names[name].count("\n") + 1
        return self.tops[name] + self.LINE * lines + self.MARK * (mark + 0.5)

    def y(self) -> Spec:
        """The channel of the field ``at``."""
        return field(
            "at:Q", axis=None, scale={"domain": [0, self.height], "nice": False, "zero": False, "reverse": True}
        )

    def labels(self) -> tuple[Spec, Rows]:
        """The layer of the names, over a table called ``names``, and that table."""
        where = {"x": {"value": 0}, "y": self.y(), "text": field("name:N")}
        look = {"align": "left", "baseline": "top", "fontSize": SIZE, "lineBreak": "\n", "lineHeight": self.LINE}
        halo = {"color": INK, "stroke": HALO, "strokeWidth": 5}
        rows = [{"name": text, "at": self.tops[name]} for name, text in self.names.items()]
        return marks("names", "text", where, **look, **halo), rows


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


def share_bars(title: str, colour: Spec, rows: RowPlaces) -> Spec:
    """Horizontal bars for the field ``share`` at the place of each row."""
    encoding = {
        "y": rows.y(),
        "x": field("share:Q", axis={"title": title, "tickCount": 4, "format": "~%"}, scale={"domain": [0, 1]}),
        "color": colour,
        "description": field("text:N"),
    }
    bars = marks("rows", "bar", encoding, orient="horizontal", size=10)
    return layers(bars, rows.labels()[0], height=rows.height)


def chart(name: str, note: str, label: str, spec: Spec, **data: Rows) -> Chart:
    """A chart of some tables."""
    return Chart(name, note, label, spec, data)
