"""Charts of models that are judged by several groups: protocols, or logging policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.marks import PATHS, colour, shape
from unskew.report.plots import RowPlaces, chart, colours, field, layers, lines, marks, points

FAR = 16.0  # beyond which an interval of a ratio says no more than that it is wide


class Mark(NamedTuple):
    """A number of one model by one group, with its interval."""

    model: str
    group: str
    value: float
    low: float | None
    high: float | None


def legend(title: str, names: Sequence[str]) -> doc.Legend:
    """The colour and the mark of each name."""
    return doc.Legend(title, tuple(doc.Swatch(name, colour(n), PATHS[shape(n)]) for n, name in enumerate(names)))


def by_group(
    name: str, note: str, axis: str, found: Sequence[Mark], groups: Sequence[str], line: float | None = None
) -> doc.Chart:
    """Numbers with intervals: rows are models, colours and shapes are groups; a dashed line where they would agree."""
    rows = RowPlaces([m.model for m in found], len(groups))
    data = [
        {
            "at": rows.at(m.model, list(groups).index(m.group)),
            "group": m.group,
            "value": m.value,
            "low": m.value if m.low is None else m.low,
            "high": m.value if m.high is None else m.high,
            "text": f"{m.model}, {m.group}: {numbers.number(m.value)} {numbers.interval(m.low, m.high)}",
        }
        for m in found
    ]
    scale: dict[str, Any] = {"zero": False} if line is None else _of_ratios(found)
    base = {
        "y": rows.y(),
        "color": colours("group:N", groups, [colour(n) for n in range(len(groups))]),
    }
    x = {"axis": {"title": axis, "tickCount": 5, "labelOverlap": "greedy"}, "scale": scale}
    bars = marks("rows", "rule", base | {"x": field("low:Q", **x), "x2": field("high")}, strokeWidth=2)
    shapes = colours("group:N", groups, [shape(n) for n in range(len(groups))])
    dots = points(base | {"x": field("value:Q", **x), "shape": shapes})
    named, names = rows.labels()
    drawn = [named, bars, dots]
    tables: dict[str, Sequence[Mapping[str, Any]]] = {"rows": data, "names": names}
    if line is not None:
        drawn = [marks("even", "rule", {"x": field("at:Q")}, strokeDash=[5, 4], color="#8a6d3b"), *drawn]
        tables["even"] = [{"at": line}]
    spec = layers(*drawn, height=rows.height)
    return chart(name, note, f"{name}: {axis} by model", spec, **tables)


def _of_ratios(found: Sequence[Mark]) -> dict[str, Any]:
    """A scale of ratios: logarithmic, and no wider than a factor of ``FAR``; what goes on beyond ends at its edge."""
    known = [end for m in found for end in (m.value, m.low, m.high) if end is not None and end > 0.0]
    domain = [max(min(known, default=1.0), 1.0 / FAR), min(max(known, default=1.0), FAR)]
    return {"type": "log", "base": 2, "clamp": True, "domain": domain if domain[0] < domain[1] else [0.5, 2.0]}


def over_folds(
    name: str, note: str, axis: str, folds: Sequence[str], found: Sequence[Mark], models: Sequence[str]
) -> doc.Chart:
    """Lines over folds in their order, one per model; the group of a mark is its fold."""
    place = {fold: n for n, fold in enumerate(folds)}
    data = [
        {
            "x": place[m.group],
            "fold": m.group,
            "model": m.model,
            "value": m.value,
            "text": f"{m.group}, {m.model}: {numbers.number(m.value)} {numbers.interval(m.low, m.high)}",
        }
        for m in found
    ]
    where = {
        "x": field("fold:O", sort=list(folds), axis={"title": None, "labelOverlap": "greedy", "labelAngle": 0}),
        "y": field("value:Q", axis={"title": axis, "tickCount": 4}, scale={"zero": True}),
        "color": colours("model:N", models, [colour(n) for n in range(len(models))]),
    }
    shapes = colours("model:N", models, [shape(n) for n in range(len(models))])
    spec = layers(lines(where, 1.6), points(where | {"shape": shapes}, 26), height=190)
    return chart(name, note, f"{name}: {axis} in each fold", spec, rows=data)
