"""Charts: one small SVG per facet, so that a page can lay them out from a phone to a wide screen.

Colours are the page's light palette; the page's style sheet maps each of them to its dark counterpart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from unskew.errors import MissingExtraError
from unskew.outputs import try_drawing
from unskew.report import numbers
from unskew.report.marks import ESTIMATORS, NAIVE, SHAPES
from unskew.report.rows import EstimateRow, VerdictRow, estimate_rows, verdict_rows
from unskew.report.svg import draw
from unskew.report.view import Facet, View, is_naive, unique
from unskew.result import Estimate, Verdict, Weights

Tables = dict[str, list[dict[str, Any]]]

INK, SOFT, GRID = "#1f2430", "#626a7a", "#e3e6ec"
HALO = "#ffffff"  # around labels that lie on lines; the style sheet paints it beneath the letters
VERDICTS = {"better": "#0d7a4f", "ahead": "#0d7a4f", "worse": "#c0362c", "behind": "#c0362c", "undecided": "#626a7b"}
WIDTH = 330
MOST_PAIRS = 15


def altair() -> Any:
    """The charting library and its converter, or an error that names the extra to install."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("the HTML report", "report") from None
    try_drawing()
    return altair


def colour(view: View, estimator: str) -> str:
    """The colour of an estimator, the same on the whole page."""
    if is_naive(estimator):
        return NAIVE
    return ESTIMATORS[_debiased(view).index(estimator) % len(ESTIMATORS)]


def shape(view: View, estimator: str) -> str:
    """The shape of an estimator, so that colour is never the only sign."""
    if is_naive(estimator):
        return SHAPES[0]
    return SHAPES[1 + _debiased(view).index(estimator) % (len(SHAPES) - 1)]


def forest(view: View, facet: Facet) -> str:
    """Estimates with their intervals: rows are models, colours and shapes are estimators."""
    known = [e for e in view.estimates(facet) if math.isfinite(e.value)]
    if not known:
        return ""
    alt = altair()
    text = {(row.model, row.estimator): _estimate_text(row) for row in estimate_rows(view, facet)}
    data = [_interval_datum(e, e.model, e.value, text[e.model, e.estimator]) for e in known]
    names = [name for name in view.estimators if any(e.estimator == name for e in known)]
    models = [model for model in view.models if any(e.model == model for e in known)]
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("row:N", sort=models, axis=alt.Axis(title=None, labelLimit=104, labelPadding=8)),
        yOffset=alt.YOffset("estimator:N", sort=names, scale=alt.Scale(paddingOuter=0.35)),
        color=_scale(alt.Color, names, [colour(view, name) for name in names]),
        description="text:N",
    )
    chart = _intervals(alt, base, _scale(alt.Shape, names, [shape(view, name) for name in names]))
    return render(
        chart,
        {"rows": data},
        WIDTH - 112,
        {"step": 13 if len(names) > 1 else 22},
        f"Estimates of {_what(facet)} with intervals",
    )


def differences(view: View, facet: Facet, rows: Sequence[tuple[str, Verdict]] | None = None) -> str:
    """Differences between models with the zero line; by the estimator that counts, and naive for contrast."""
    names = [name for name in (view.carrier(facet), view.naive(facet)) if name]
    if rows is None:
        pairs = charted_pairs(view, facet)
        there = [v for name in names for v in view.verdicts(facet, name)]
        rows = [(f"{v.a} − {v.b}", v) for v in there if (v.a, v.b) in pairs]
    known = [(label, v) for label, v in rows if math.isfinite(v.difference)]
    if not known:
        return ""
    alt = altair()
    text = _verdict_texts(view, {Facet(v.metric, v.target, v.segment) for _, v in known})
    data = [_interval_datum(v, label, v.difference, text[_key(v)]) | {"verdict": v.verdict} for label, v in known]
    labels = unique(label for label, _ in known)
    step = 34 if len({v.estimator for _, v in known}) == 1 else 46
    y = alt.Y("row:N", sort=labels, axis=None, scale=alt.Scale(paddingInner=0.0, paddingOuter=0.0))
    offset = alt.YOffset("estimator:N", sort=names, scale=alt.Scale(range=[18, step - 4] if step > 34 else [24, 24]))
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=y,
        yOffset=offset,
        color=_scale(alt.Color, list(VERDICTS), list(VERDICTS.values()), field="verdict"),
        description="text:N",
    )
    titles = alt.Chart(alt.NamedData("labels")).mark_text(
        align="left",
        baseline="top",
        dy=-step / 2 + 3,
        fontSize=11.5,
        color=INK,
        limit=WIDTH,
        stroke=HALO,
        strokeWidth=5,
    )
    zero = alt.Chart(alt.NamedData("zero")).mark_rule(color=INK, strokeWidth=1).encode(x="zero:Q")
    marks = _intervals(alt, base, _scale(alt.Shape, names, [shape(view, name) for name in names]))
    chart = zero + titles.encode(x=alt.value(0), y=y, text="row:N") + marks
    tables: Tables = {"rows": data, "labels": [{"row": label} for label in labels], "zero": [{"zero": 0}]}
    return render(chart, tables, WIDTH, {"step": step}, f"Differences in {_what(facet)} with intervals")


def charted_pairs(view: View, facet: Facet) -> list[tuple[str, str]]:
    """The pairs of a facet; where they are too many for a chart, only those of the model that is ahead."""
    carrier = view.carrier(facet)
    pairs = unique((v.a, v.b) for v in view.verdicts(facet, carrier))
    known = [e for e in view.estimates(facet, carrier) if math.isfinite(e.value)]
    if len(pairs) <= MOST_PAIRS or not known:
        return pairs
    return [pair for pair in pairs if view.best(known) in pair]


def slope(view: View, facet: Facet) -> str:
    """How the picture changes: each model from its naive to its debiased estimate; the two favourites stand out."""
    naive, carrier = view.naive(facet), view.carrier(facet)
    before = {e.model: e for e in view.estimates(facet, naive) if math.isfinite(e.value)} if naive else {}
    after = {e.model: e for e in view.estimates(facet, carrier) if math.isfinite(e.value)}
    models = [model for model in before if model in after]
    if not models:
        return ""
    alt = altair()
    favourite, winner = view.best(before.values()), view.best(after.values())
    role = dict.fromkeys(models, "other") | {favourite: "naive"} | {winner: "winner"}
    text = {(row.model, row.estimator): row.value for row in estimate_rows(view, facet)}
    data = []
    for end, cell in (("naive", before), (carrier, after)):
        places = _apart([cell[model].value for model in models], [e.value for e in (*before.values(), *after.values())])
        for model, place in zip(models, places, strict=True):
            value = text[model, cell[model].estimator]
            data.append({"model": model, "end": end, "value": cell[model].value, "place": place, "role": role[model]})
            data[-1] |= {"label": value if end == "naive" else f"{value}  {model}", "text": f"{model}, {end}: {value}"}
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "end:N",
            sort=["naive", carrier],
            axis=alt.Axis(title=None, orient="top", labelAngle=0, labelLimit=116, domain=False),
        ),
        y=alt.Y("value:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=8)),
        color=_scale(alt.Color, ["winner", "naive", "other"], [colour(view, carrier), NAIVE, SOFT], field="role"),
    )
    lines = base.mark_line(strokeWidth=2).encode(detail="model:N")
    points = base.mark_point(filled=True, size=55, opacity=1).encode(description="text:N")
    labels = [
        base.transform_filter({"field": "end", "equal": end})
        .mark_text(align=align, dx=dx, fontSize=11.5, limit=130)
        .encode(text="label:N", y="place:Q")
        for end, align, dx in (("naive", "right", -8), (carrier, "left", 8))
    ]
    chart = alt.layer(lines, points, *labels)
    height = _slope_height(len(models))
    return render(chart, {"rows": data}, {"step": 120}, height, f"{_what(facet).capitalize()}: from naive to {carrier}")


def histogram(view: View, spread: Weights) -> str:
    """How the weights of an estimator are spread."""
    bars: list[dict[str, Any]] = [
        {"low": low if low > 0.0 else high / math.sqrt(2.0), "high": high, "count": n, "text": _bar_text(low, high, n)}
        for low, high, n in zip(spread.low, spread.high, spread.count, strict=True)
        if n and math.isfinite(low) and math.isfinite(high) and high > 0.0
    ]
    if not bars:
        return ""
    alt = altair()
    far = 1.0 if len(bars) > 1 else 8.0
    domain = [min(bar["low"] for bar in bars) / far, max(bar["high"] for bar in bars) * far]
    axis = alt.Axis(title="weight", tickCount=5, format="~g", labelOverlap="greedy", labelSeparation=8)
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar(color=colour(view, spread.estimator), stroke=None, binSpacing=1)
        .encode(
            x=alt.X("low:Q", axis=axis, scale=alt.Scale(type="log", base=2, nice=False, domain=domain)),
            x2="high:Q",
            y=alt.Y("count:Q", axis=alt.Axis(title=None, tickCount=3, format="~s")),
            y2=alt.Y2Datum(0),
            description="text:N",
        )
    )
    return render(
        chart,
        {"rows": bars},
        WIDTH - 60,
        110,
        f"Weights of {spread.estimator} under {spread.target}: interactions by weight",
    )


def _intervals(alt: Any, base: Any, shapes: Any) -> Any:
    """Marks with bars; what has no interval is hollow, or it would look like the surest of all."""
    axis = alt.Axis(title=None, tickCount=4, format=".6~g", labelOverlap="greedy", labelSeparation=10)
    value = alt.X("value:Q", axis=axis, scale=alt.Scale(zero=False, nice=True, padding=6))
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, opacity=0.75)
    known = base.transform_filter("isValid(datum.low)").mark_point(filled=True, size=60, opacity=1)
    unknown = base.transform_filter("!isValid(datum.low)").mark_point(filled=False, size=60, opacity=1, strokeWidth=1.5)
    points = [marks.encode(x=value, shape=shapes) for marks in (known, unknown)]
    return alt.layer(bars.encode(x=alt.X("low:Q", axis=axis), x2="high:Q"), *points)


def _interval_datum(row: Estimate | Verdict, label: str, value: float, text: str) -> dict[str, Any]:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    bounds = {"low": row.low, "high": row.high} if known else {"low": None, "high": None}
    return {"row": label, "estimator": row.estimator, "value": value, "text": text} | bounds


def _scale(channel: Any, domain: list[str], colours: list[str], field: str = "estimator") -> Any:
    from altair import Scale

    return channel(f"{field}:N", scale=Scale(domain=domain, range=colours), legend=None)


def _apart(values: list[float], everything: list[float]) -> list[float]:
    """Places for labels, in the order of the values, pushed apart until they no longer overlap."""
    extent = (max(everything) - min(everything)) or 1.0
    room = extent / _slope_height(len(values)) * 14.0
    order = sorted(range(len(values)), key=lambda n: values[n])
    places = list(values)
    for lower, upper in pairwise(order):
        places[upper] = max(places[upper], places[lower] + room)
    shift = sum(place - value for place, value in zip(places, values, strict=True)) / len(values)
    return [place - shift for place in places]


def _slope_height(models: int) -> int:
    return max(150, 26 * models)


def _debiased(view: View) -> list[str]:
    return [name for name in view.estimators if not is_naive(name)]


def render(chart: Any, data: Tables, width: Any, height: Any, label: str) -> str:
    """A chart in the style of all our pages, as SVG."""
    styled = (
        chart.properties(width=width, height=height)
        .configure(background="transparent", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=SOFT,
            titleColor=SOFT,
            gridColor=GRID,
            domainColor=GRID,
            tickColor=GRID,
            labelFontSize=11.5,
            titleFontSize=11.5,
            titleFontWeight="normal",
        )
        .configure_axisY(grid=False, labelColor=INK)
    )
    return draw(styled, data, label)


def _estimate_text(row: EstimateRow) -> str:
    return f"{row.model}, {row.estimator}: {row.value} {row.interval}"


def _verdict_texts(view: View, facets: set[Facet]) -> dict[tuple[str, ...], str]:
    rows = (row for facet in facets for row in verdict_rows(view, facet))
    return {_key(r): f"{r.a} − {r.b}, {r.estimator}: {r.difference} {r.interval}, {r.verdict}" for r in rows}


def _key(row: Verdict | VerdictRow) -> tuple[str, ...]:
    return row.metric, row.target, row.segment or "", row.estimator, row.a, row.b


def _bar_text(low: float, high: float, interactions: int) -> str:
    return f"weight {numbers.number(low, 2)} to {numbers.number(high, 2)}: {numbers.count(interactions)} interactions"


def _what(facet: Facet) -> str:
    return f"{facet.metric}, {facet.target}" + (f", {facet.segment}" if facet.segment is not None else "")
