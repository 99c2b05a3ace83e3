"""Charts over what the log cannot tell: each model's value, and each pair's difference, with bands and where it turns.

One axis is drawn as it is. Of two axes values are drawn along the first (the band spans the other), and differences as
a map: a field per scenario, with the difference written in it.
"""

from __future__ import annotations

import math
from typing import Any

from unskew.report import marks as looks
from unskew.report import numbers
from unskew.report.document import Chart, Legend, Swatch
from unskew.report.plots import (
    INK,
    NUMBERS,
    SIZE,
    SOFT,
    WIDTH,
    Spec,
    colours,
    field,
    folded,
    layers,
    lines,
    marks,
    points,
)  # fmt: skip
from unskew.report.result_charts import LABEL, VERDICTS, apart
from unskew.report.scenario_tables import AHEAD, COLUMNS, Point, along, difference_along, facet_of, in_order, spread
from unskew.report.scenario_words import at, axis_title
from unskew.report.view import View
from unskew.result import ScenarioDifferences, ScenarioTable

MOST_MODELS = 8  # as many as there are colours
MOST_PAIRS = 15
SIGNS = 14  # characters of a line of a name beside lines
TITLE = 34  # characters of a line of an axis's title
NUMBERS_ROOM = 46  # for the vertical axis
HEIGHT = 190
TURN = VERDICTS["depends"]
_SHAPES = {"ahead": "triangle-up", "behind": "triangle-down", "undecided": "circle"}
LEGEND = Legend(
    "Differences",
    (
        Swatch("first model ahead", VERDICTS["ahead"], looks.PATHS[_SHAPES["ahead"]]),
        Swatch("second model ahead", VERDICTS["behind"], looks.PATHS[_SHAPES["behind"]]),
        Swatch("not decided", VERDICTS["undecided"], looks.PATHS[_SHAPES["undecided"]]),
        Swatch("where it turns", "var(--turn)"),
    ),
)


def values(view: View, table: ScenarioTable) -> list[Chart]:
    """Each model's value along the first axis, with a band; names stand at the end of the lines."""
    found = {row.model: along(table, row.value, row.low, row.high) for row in table.values}
    models = [m for m in in_order(view, table)[0] if any(math.isfinite(p.value) for p in found[m])]
    shown = models[:MOST_MODELS]
    if not shown:
        return []
    data = [_datum(point, view, table) | {"model": model} for model in shown for point in found[model]]
    for datum in data:
        datum["text"] = f"{datum['model']}, {datum['text']}"
    last = [next(p.value for p in reversed(found[model]) if math.isfinite(p.value)) for model in shown]
    ends = [value for row in data for value in (row["low"], row["high"], row["value"]) if value is not None]
    named_as = [folded(model, SIGNS) for model in shown]
    lines_of = 1 + max(name.count("\n") for name in named_as)
    height = max(HEIGHT, LABEL * lines_of * len(shown))
    places = apart(last, ends, height, lines_of)
    x, y = _axis(table, 3), _vertical((min(ends), max(ends)))
    labels = [
        {"x": data[-1]["x"], "value": place, "model": model, "name": name}
        for model, place, name in zip(shown, places, named_as, strict=True)
    ]
    own = [looks.colour(place) for place in looks.model_places(shown, view.models)]
    room = 12 + 7 * max(len(line) for name in named_as for line in name.split("\n"))
    base = {"x": x, "color": colours("model:N", shown, own)}
    line = base | {"y": y}
    named = line | {"text": field("name:N")}
    look = {"align": "left", "dx": 8, "fontSize": SIZE, "lineBreak": "\n", "lineHeight": LABEL}
    spec = layers(
        marks(
            "rows",
            "area",
            base | {"y": field("low:Q") | _only(y), "y2": field("high")},
            opacity=0.14 if len(shown) <= 4 else 0.07,
        ),
        lines(line),
        points(line, 26),
        marks("labels", "text", named, **look),
        *_estimated(table),
        width=WIDTH - room - NUMBERS_ROOM,
        height=height,
        fit=False,
    )
    spans = f"; bands span the {axis_title(table, 1)}" if len(table.labels) > 1 else ""
    fewer = f"; the best {len(shown)} of {len(models)} models" if len(shown) < len(models) else ""
    label = f"Values of {table.metric} by {' and '.join(table.labels)}"
    tables = {"rows": data, "labels": labels} | _estimate_rows(table)
    return [
        Chart(table.metric, f"{_note(view, table)}{spans}{fewer}", label, spec, tables, table.target, _about(table))
    ]


def differences(view: View, table: ScenarioTable) -> list[Chart]:
    """A chart per pair, those of the best model first; where pairs are too many, only these."""
    models, pairs = in_order(view, table)
    if len(pairs) > MOST_PAIRS:
        pairs = [pair for pair in pairs if models[0] in (pair.a, pair.b)]
    known = [pair for pair in pairs if any(math.isfinite(value) for value in pair.difference)]
    draw = _path if len(table.axes) == 1 else _map
    return [draw(view, table, pair) for pair in known]


def _path(view: View, table: ScenarioTable, pair: ScenarioDifferences) -> Chart:
    """A difference along the only axis, with the zero line and where it turns."""
    data = []
    for point in difference_along(view, table, pair):
        tone = AHEAD[point.ahead][0]
        data.append(_datum(point, view, table) | {"ahead": tone})
        data[-1]["text"] += f", {pair.a} {tone}"
    x, y = _axis(table), _vertical()
    words = list(_SHAPES)
    seen = {
        "x": x,
        "y": y,
        "color": colours("ahead:N", words, [VERDICTS[word] for word in words]),
        "shape": colours("ahead:N", words, list(_SHAPES.values())),
    }
    turn = _turn(view, table, pair)
    spec = layers(
        marks("zero", "rule", {"y": field("zero:Q")}, color=INK, strokeWidth=1),
        marks("rows", "area", {"x": x, "y": field("low:Q") | _only(y), "y2": field("high")}, color=SOFT, opacity=0.16),
        lines({"x": x, "y": y}, 1.5, color=SOFT),
        *_upright("turn", TURN),
        *_estimated(table),
        points(seen, 46),
        height=HEIGHT,
    )
    tables = {"rows": data, "zero": [{"zero": 0}], "turn": turn} | _estimate_rows(table)
    return _pair_chart(view, table, pair, spec, tables)


def _map(view: View, table: ScenarioTable, pair: ScenarioDifferences) -> Chart:
    """Who is ahead in every scenario of two axes, with the difference."""
    upwards = -1 if view.traits(table.metric).lower_is_better else 1
    places = numbers.decimals(zip(pair.low, pair.high, strict=True))
    data = []
    for point, value, sign in zip(table.points, pair.difference, pair.sign, strict=True):
        tone, mark = AHEAD[upwards * sign]
        across, up = (at(table, n, point[n]) for n in (0, 1))
        said = numbers.number(value, places, sign=True)
        where = f"{axis_title(table, 0)} {across}, {axis_title(table, 1)} {up}"
        data.append({"x": across, "y": up, "ahead": tone, "said": said, "mark": mark.strip()})
        data[-1]["text"] = f"{where}: {said}, {pair.a} {tone}"
    firsts, seconds = (
        [at(table, n, value) for value in sorted({p[n] for p in table.points}, reverse=bool(n))] for n in (0, 1)
    )
    place = {
        "x": field("x:N", sort=firsts, axis={"title": axis_title(table, 0), "labelAngle": 0}),
        "y": field("y:N", sort=seconds, axis={"title": None}),
    }
    words = list(_SHAPES)
    fill = colours("ahead:N", words, [VERDICTS[word] for word in words])
    spec = layers(
        marks("rows", "rect", place | {"color": fill, "description": field("text:N")}, opacity=0.22),
        marks("rows", "text", place | {"text": field("said:N")}, color=INK, fontSize=SIZE, dy=-6),
        marks("rows", "text", place | {"text": field("mark:N")}, color=INK, fontSize=SIZE, dy=9),
        height={"step": 38},
    )
    return _pair_chart(view, table, pair, spec, {"rows": data})


def _pair_chart(view: View, table: ScenarioTable, pair: ScenarioDifferences, spec: Spec, tables: Any) -> Chart:
    verdict = next((v for v in view.verdicts(facet_of(table), table.estimator) if (v.a, v.b) == (pair.a, pair.b)), None)
    said = f"; {verdict.verdict}" if verdict is not None else ""
    label = f"{pair.a} − {pair.b} in {table.metric} by {' and '.join(table.labels)}"
    name = f"{pair.a} − {pair.b}"
    up = f"; upwards: {axis_title(table, 1)}" if len(table.labels) > 1 else ""
    return Chart(
        name, f"{table.metric}, {_note(view, table)}{said}{up}", label, spec, tables, table.metric, _about(table)
    )


def _about(table: ScenarioTable) -> tuple[tuple[str, str], ...]:
    return ("metric", table.metric), ("estimator", table.estimator)


def _note(view: View, table: ScenarioTable) -> str:
    lower = "; lower is better" if view.traits(table.metric).lower_is_better else ""
    return f"{table.target}, {table.estimator}{lower}"


def _datum(point: Point, view: View, table: ScenarioTable) -> dict[str, Any]:
    known = math.isfinite(point.low) and math.isfinite(point.high)
    places = numbers.decimals([(point.low, point.high)])
    value, interval = numbers.number(point.value, places), numbers.interval(point.low, point.high, places)
    return {
        "x": point.at,
        "value": point.value if math.isfinite(point.value) else None,
        "low": point.low if known else None,
        "high": point.high if known else None,
        "text": f"{at(table, 0, point.at)}: {value} {interval}",
    }


def _axis(table: ScenarioTable, most: int = COLUMNS) -> Spec:
    at_first = sorted({point[0] for point in table.points})
    shown = "~%" if table.percent[:1] == (True,) else "~g"
    ticks = [at_first[n] for n in spread(len(at_first), most)]
    axis = {
        "title": folded(axis_title(table, 0), TITLE).split("\n"),
        "format": shown,
        "values": ticks,
        "grid": False,
        **NUMBERS,
    }
    axis |= {"labelFlush": True, "titleAnchor": "start", "titleAlign": "left"}
    return field("x:Q", axis=axis, scale={"domain": [at_first[0], at_first[-1]], "nice": False})


def _vertical(ends: tuple[float, float] | None = None) -> Spec:
    """``ends`` fixes the scale, where labels were placed by it."""
    axis = {"title": None, "tickCount": 4, "format": ".6~g"}
    if ends is not None and ends[0] < ends[1]:
        return field("value:Q", axis=axis, scale={"domain": list(ends), "nice": False, "zero": False})
    return field("value:Q", axis=axis, scale={"zero": False, "nice": True})


def _only(channel: Spec) -> Spec:
    """The look of a channel for another field."""
    return {name: value for name, value in channel.items() if name != "field"}


def _turn(view: View, table: ScenarioTable, pair: ScenarioDifferences) -> list[dict[str, Any]]:
    """Where a verdict turns, on the axis."""
    for v in view.verdicts(facet_of(table), table.estimator):
        if (v.a, v.b) == (pair.a, pair.b) and v.turns_at is not None:
            return [
                {"x": v.turns_at, "said": at(table, 0, v.turns_at), "text": f"it turns at {at(table, 0, v.turns_at)}"}
            ]
    return []


def _estimate_rows(table: ScenarioTable) -> dict[str, list[dict[str, Any]]]:
    """Where a random sample puts the axis, if that lies on it, and the range that answers leave."""
    ends = [point[0] for point in table.points]
    left: list[dict[str, Any]] = []
    for end, word in zip(table.left or (), ("from", "to"), strict=False):
        said = at(table, 0, end)
        left.append({"x": end, "said": f"{word} {said}", "text": f"answers leave the path {word} {said}"})
    if table.estimated is None or not min(ends) <= table.estimated <= max(ends):
        return {"estimated": [], "left": left}
    said = at(table, 0, table.estimated)
    return {
        "left": left,
        "estimated": [{"x": table.estimated, "said": f"sample: {said}", "text": f"the random sample says {said}"}],
    }


def _estimated(table: ScenarioTable) -> list[Spec]:
    sample = _upright("estimated", looks.NAIVE, 18) if table.estimated is not None else []
    return sample + (_upright("left", INK, 31) if table.left is not None else [])


def _upright(data: str, colour: str, lift: int = 5) -> list[Spec]:
    """A dashed line across the chart with what it says on top, lifted so that two never overlap."""
    x = field("x:Q")
    said = {"x": x, "y": {"value": -lift}, "text": field("said:N")}
    return [
        marks(data, "rule", {"x": x, "description": field("text:N")}, color=colour, strokeDash=[4, 3], strokeWidth=1.5),
        marks(data, "text", said, color=colour, fontSize=SIZE, baseline="bottom"),
    ]
