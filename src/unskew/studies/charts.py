"""A figure of a study as an SVG file: lines over x with a band of two standard errors, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unskew.atomic import atomic
from unskew.errors import MissingExtraError
from unskew.studies.record import Record
from unskew.studies.study import Chart

COLOURS = ("#2458d3", "#0d8a72", "#a3339b", "#c2410c", "#4d7c0f", "#6d28d9")
NAIVE = "#8a6d3b"
INK, SOFT, GRID = "#1f2430", "#626a7a", "#e3e6ec"


def draw(chart: Chart, records: Sequence[Record], path: str | Path) -> None:
    """Draw one part of an experiment."""
    try:
        import altair as alt
        import vl_convert
    except ImportError:
        raise MissingExtraError("a study's chart", "report") from None
    shown = [record for record in records if record.experiment == chart.part]
    names = list(dict.fromkeys(record.column for record in shown))
    rows = [_datum(record) for record in shown]
    colours = [NAIVE if name == "naive" else COLOURS[n % len(COLOURS)] for n, name in enumerate(names)]
    legend = alt.Legend(title=None, symbolType="circle", symbolOpacity=1.0)
    axis = alt.Axis(values=sorted({row["x"] for row in rows}), format=",~r", labelOverlap=True)
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:Q", scale=alt.Scale(type="log", nice=False), title=chart.x, axis=axis),
        color=alt.Color("line:N", scale=alt.Scale(domain=names, range=colours), sort=names, legend=legend),
    )
    y = alt.Y("y:Q", scale=alt.Scale(type="log"), title=chart.y)
    low = alt.Y("low:Q", scale=alt.Scale(type="log"), title=chart.y)
    band = base.mark_area(opacity=0.18).encode(y=low, y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=alt.StrokeDash("line:N", sort=names, legend=None))
    points = base.mark_point(filled=True, size=36, opacity=1).encode(y=y)
    styled = (
        (band + line + points)
        .properties(width=420, height=260, title=chart.title)
        .configure(background="white", padding=8)
        .configure_axis(labelColor=SOFT, titleColor=INK, gridColor=GRID, domainColor=GRID, tickColor=GRID)
        .configure_view(stroke=None)
        .configure_title(color=INK, fontSize=13, anchor="start")
    )
    spec: dict[str, Any] = styled.to_dict(validate=False) | {"datasets": {"rows": rows}}
    with atomic(path) as temporary:
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False)
        temporary.write_text(svg, encoding="utf-8")


def _datum(record: Record) -> dict[str, Any]:
    error = record.se if record.se is not None and math.isfinite(record.se) else 0.0
    low = max(record.ours - 2.0 * error, record.ours / 10.0)  # a logarithmic axis has no zero
    x = float(record.row.replace(",", ""))
    return {"x": x, "y": record.ours, "low": low, "high": record.ours + 2.0 * error, "line": record.column}
