"""Boxes of numbers that were repeated: the middle half, the median, and every single one as a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.marks import colour
from unskew.report.plots import RowPlaces, chart, colours, field, layers, marks, points


def boxes(name: str, note: str, axis: str, found: Mapping[str, Sequence[float]], own: Sequence[str] = ()) -> doc.Chart:
    """One box per name, in their order, and in their ``own`` colours if they have any."""
    names = list(found)
    places = RowPlaces(names)
    rows: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    for line, values in found.items():
        if not (known := np.array([value for value in values if np.isfinite(value)])).size:
            continue
        low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
        told = f"{line}: median {numbers.number(middle)}, middle half {numbers.interval(low, high)}"
        rows.append({"line": line, "low": low, "middle": middle, "high": high, "text": told})
        rows[-1]["at"] = places.at(line)
        dots += [
            {"line": line, "at": places.at(line), "value": value, "text": f"{line}: {numbers.number(value)}"}
            for value in known.tolist()
        ]
    base = {
        "y": places.y(),
        "color": colours("line:N", names, list(own or (colour(n) for n in range(len(names))))),
    }
    x = {"axis": {"title": axis, "tickCount": 5, "labelOverlap": "greedy"}, "scale": {"zero": False}}
    box = marks(
        "rows",
        "bar",
        base | {"x": field("low:Q", **x), "x2": field("high")},
        opacity=0.25,
        orient="horizontal",
        size=12,
    )
    median = marks("rows", "tick", base | {"x": field("middle:Q", **x)}, thickness=2.5, size=14, orient="vertical")
    each = points(base | {"x": field("value:Q", **x)}, 14, "dots")
    named, labels = places.labels()
    spec = layers(named, box, each, median, height=places.height)
    return chart(name, note, f"{name}: {axis}, one point per draw", spec, rows=rows, dots=dots, names=labels)
