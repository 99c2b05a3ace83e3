"""Charts of estimates, differences and weights: one small chart per facet, so that a page can lay them out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from unskew.report import marks as looks
from unskew.report import numbers
from unskew.report.document import Chart, Legend, Swatch
from unskew.report.marks import NAIVE, PATHS, SHAPES
from unskew.report.plots import (
    INK,
    SIZE,
    SOFT,
    RowPlaces,
    Spec,
    colours,
    field,
    folded,
    histogram,
    layers,
    lines,
    marks,
)  # fmt: skip
from unskew.report.scenario_words import range_of
from unskew.report.view import Facet, View, in_scenarios, unique
from unskew.report.words import limits
from unskew.result import Estimate, Verdict, Weights

VERDICTS = {
    "better": "#0d7a4f", "ahead": "#0d7a4f", "worse": "#c0362c", "behind": "#c0362c", "depends": "#8a3ffc",
    "undecided": "#626a7b",
}  # fmt: skip
MOST_PAIRS = 15
LABEL = 14  # height of a line of a label
SLOPE_STEP, SLOPE_SIGNS = 116, 16  # from one end to the other, and characters of a line beside it


def colour(view: View, estimator: str) -> str:
    """The colour of an estimator, the same on all pages."""
    return NAIVE if estimator in view.not_debiased else looks.colour(_places(view)[estimator])


def shape(view: View, estimator: str) -> str:
    """The shape of an estimator, so that colour is never the only sign."""
    if estimator in view.not_debiased:
        return SHAPES[0]
    return SHAPES[1 + _places(view)[estimator] % (len(SHAPES) - 1)]


def legend(view: View, names: Sequence[str], title: str = "Estimators") -> Legend:
    """The colour and the mark of each estimator."""
    return Legend(title, tuple(Swatch(name, colour(view, name), PATHS[shape(view, name)]) for name in names))


def forest(view: View, facet: Facet) -> Chart | None:
    """Estimates with their intervals: rows are models, colours and shapes are estimators."""
    known = [e for e in view.estimates(facet) if math.isfinite(e.value)]
    if not known:
        return None
    places = view.places(facet)
    texts = [f"{e.model}, {e.estimator}: {numbers.number(e.value, places)} {limits(e, places)}" for e in known]
    data = [_interval_datum(e, e.model, e.value, text) for e, text in zip(known, texts, strict=True)]
    names = [name for name in view.estimators if any(e.estimator == name for e in known)]
    models = [model for model in view.models if any(e.model == model for e in known)]
    places_of = RowPlaces(models, len(names))
    for datum, e in zip(data, known, strict=True):
        datum["at"] = places_of.at(e.model, names.index(e.estimator))
    base = {
        "y": places_of.y(),
        "color": colours("estimator:N", names, [colour(view, name) for name in names]),
        "description": field("text:N"),
    }
    titles, labels = places_of.labels()
    found = _intervals(base, colours("estimator:N", names, [shape(view, name) for name in names]))
    spec = layers(titles, *found, height=places_of.height)
    return _chart(view, facet, f"Estimates of {_what(facet)} with intervals", spec, rows=data, names=labels)


def differences(
    view: View, facet: Facet, rows: Sequence[tuple[str, Verdict]] | None = None, named: tuple[str, str] | None = None
) -> Chart | None:
    """Differences between models with the zero line; by the estimator that counts, and naive for contrast.

    Args:
        rows: labels and verdicts, if they are not those of the facet; ``named`` is then what the chart is called.
    """
    names = [name for name in (view.carrier(facet), view.naive(facet)) if name]
    pairs = charted_pairs(view, facet)
    if rows is None:
        there = [v for name in names for v in view.verdicts(facet, name)]
        rows = [(f"{v.a} − {v.b}", v) for v in there if (v.a, v.b) in pairs]
    known = [(label, v) for label, v in rows if math.isfinite(v.difference)]
    if not known:
        return None
    data = [
        _interval_datum(v, label, v.difference, _verdict_text(view, v)) | {"verdict": v.verdict} for label, v in known
    ]
    marked = [name for name in names if any(v.estimator == name for _, v in known)]
    places_of = RowPlaces([label for label, _ in known], len(marked))
    for datum, (row, v) in zip(data, known, strict=True):
        datum["at"] = places_of.at(row, marked.index(v.estimator))
    base = {
        "y": places_of.y(),
        "color": colours("verdict:N", list(VERDICTS), list(VERDICTS.values())),
        "description": field("text:N"),
    }
    titles, labels = places_of.labels()
    zero = marks("zero", "rule", {"x": field("zero:Q")}, color=INK, strokeWidth=1)
    found = _intervals(base, colours("estimator:N", names, [shape(view, name) for name in names]))
    spec = layers(zero, titles, *found, height=places_of.height)
    tables: dict[str, Any] = {"rows": data, "names": labels, "zero": [{"zero": 0}]}
    label = f"Differences in {_what(facet)} with intervals"
    if named is not None:
        return Chart(*named, label, spec, tables, facet.target, (("metric", facet.metric),))
    compared = len(view.verdicts(facet, view.carrier(facet)))
    fewer = f"; {len(pairs)} of {compared} pairs, those of the best model: the table has all"
    more = fewer if len(pairs) < compared else ""
    return _chart(view, facet, label, spec, more, **tables)


def charted_pairs(view: View, facet: Facet) -> list[tuple[str, str]]:
    """The pairs of a facet; where they are too many for a chart, only those of the model that is ahead."""
    carrier = view.carrier(facet)
    pairs = unique((v.a, v.b) for v in view.verdicts(facet, carrier))
    known = [e for e in view.estimates(facet, carrier) if math.isfinite(e.value)]
    if len(pairs) <= MOST_PAIRS or not known:
        return pairs
    return [pair for pair in pairs if view.best(known) in pair]


def slope(view: View, facet: Facet) -> Chart | None:
    """How the picture changes: each model from its naive to its debiased estimate; the two favourites stand out."""
    naive, carrier = view.naive(facet), view.carrier(facet)
    before = {e.model: e for e in view.estimates(facet, naive) if math.isfinite(e.value)} if naive else {}
    after = {e.model: e for e in view.estimates(facet, carrier) if math.isfinite(e.value)}
    models = [model for model in before if model in after]
    if naive is None or not models or any(map(in_scenarios, after.values())):  # which is no point to move to
        return None
    favourite, winner = view.best(before.values()), view.best(after.values())
    role = dict.fromkeys(models, "other") | {favourite: "naive"} | {winner: "winner"}
    data: list[dict[str, Any]] = []
    ends = {end: folded(end, SLOPE_SIGNS) for end in (naive, carrier)}
    everything = [e.value for e in (*before.values(), *after.values())]
    for end, cell in ((naive, before), (carrier, after)):
        told = [numbers.number(cell[model].value, view.places(facet)) for model in models]
        labels = [
            value if end == naive else folded(f"{value} {model}", SLOPE_SIGNS)
            for value, model in zip(told, models, strict=True)
        ]
        lines_of = 1 + max(label.count("\n") for label in labels)
        height = max(150, (LABEL * lines_of + 12) * len(models))
        places = apart([cell[model].value for model in models], everything, height, lines_of)
        for model, place, value, label in zip(models, places, told, labels, strict=True):
            data.append({"model": model, "end": ends[end], "value": cell[model].value, "role": role[model]})
            data[-1] |= {"place": place, "label": label, "text": f"{model}, {end}: {value}"}
    axis = {"title": None, "orient": "top", "labelAngle": 0, "labelLimit": 0, "domain": False}
    axis |= {"labelExpr": "split(datum.label, '\\n')", "labelBaseline": "bottom"}
    base = {
        "x": field("end:N", sort=list(ends.values()), axis=axis),
        "y": field("value:Q", axis=None, scale={"zero": False, "nice": False, "padding": 8}),
        "color": colours("role:N", ["winner", "naive", "other"], [colour(view, carrier), NAIVE, SOFT]),
    }
    named = [
        marks(
            "rows",
            "text",
            base | {"text": field("label:N"), "y": field("place:Q")},
            {"field": "end", "equal": end},
            align=align,
            dx=dx,
            fontSize=SIZE,
            lineBreak="\n",
            lineHeight=LABEL,
            baseline="middle",
        )
        for end, align, dx in ((ends[naive], "right", -8), (ends[carrier], "left", 8))
    ]
    dots = marks("rows", "point", base | {"description": field("text:N")}, filled=True, size=55, opacity=1)
    found = [lines(base | {"detail": field("model:N")}), dots, *named]
    spec = layers(*found, width={"step": SLOPE_STEP}, height=height, fit=False)
    return _chart(view, facet, f"{_what(facet).capitalize()}: from {naive} to {carrier}", spec, rows=data)


def weights(view: View, spread: Weights) -> Chart | None:
    """How the weights of an estimator are spread."""
    bars: list[dict[str, Any]] = [
        {"low": low if low > 0.0 else high / math.sqrt(2.0), "high": high, "count": n}
        | {"text": f"weight {numbers.number(low, 2)} to {numbers.number(high, 2)}: {numbers.count(n)} interactions"}
        for low, high, n in zip(spread.low, spread.high, spread.count, strict=True)
        if n and math.isfinite(low) and math.isfinite(high) and high > 0.0
    ]
    if not bars:
        return None
    far = 1.0 if len(bars) > 1 else 8.0
    domain = [min(bar["low"] for bar in bars) / far, max(bar["high"] for bar in bars) * far]
    own = colour(view, spread.estimator)
    label = f"Weights of {spread.estimator} under {spread.target}: interactions by weight"
    spec = histogram("weight", shown="~s", domain=domain, colour=own, numbers="~g", height=110)
    about = (("estimator", spread.estimator),)
    return Chart(spread.estimator, _weights_note(view, spread), label, spec, {"rows": bars}, spread.target, about)


def _weights_note(view: View, w: Weights) -> str:
    cells = [
        e for e in view.result.estimates if (e.estimator, e.target, e.segment) == (w.estimator, w.target, w.segment)
    ]
    ess = numbers.spread((e.ess for e in cells), numbers.count)
    of = numbers.spread((e.interactions for e in cells), numbers.count)
    largest = numbers.spread((e.max_weight_share for e in cells), numbers.share)
    return f"{w.target}: ess {ess} of {of} interactions; the largest share is {largest}"


def _chart(view: View, facet: Facet, label: str, spec: Spec, more: str = "", **data: Any) -> Chart:
    note = facet.target if facet.segment in (None, view.whole) else f"{facet.target}, {facet.segment}"
    lower = "; lower is better" if view.traits(facet.metric).lower_is_better else ""
    return Chart(facet.metric, f"{note}{lower}{more}", label, spec, data, facet.target, (("metric", facet.metric),))


def _intervals(base: Spec, shapes: Spec) -> list[Spec]:
    """Marks with bars; what has no interval is hollow, or it would look like the surest of all.

    A range over scenarios is a wide bar without a mark: none of its points is the estimate.
    """
    axis = {"title": None, "tickCount": 4, "format": ".6~g", "labelOverlap": "greedy", "labelSeparation": 10}
    value = {"x": field("value:Q", axis=axis, scale={"zero": False, "nice": True, "padding": 6}), "shape": shapes}
    bounds = {"x": field("low:Q", axis=axis), "x2": field("high")}
    known, unknown = "isValid(datum.low) && !datum.range", "!isValid(datum.low)"
    return [
        marks("rows", "rule", base | bounds, "isValid(datum.low) && datum.range", strokeWidth=7, opacity=0.5),
        marks("rows", "rule", base | bounds, known, strokeWidth=2, opacity=0.75),
        marks("rows", "point", base | value, known, filled=True, size=60, opacity=1),
        marks("rows", "point", base | value, unknown, filled=False, size=60, opacity=1, strokeWidth=1.5),
    ]


def _interval_datum(row: Estimate | Verdict, label: str, value: float, text: str) -> dict[str, Any]:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    bounds = {"low": row.low, "high": row.high} if known else {"low": None, "high": None}
    named = {"row": label, "estimator": row.estimator, "value": value, "text": text}
    return named | bounds | ({"range": True} if in_scenarios(row) else {})


def apart(values: list[float], everything: list[float], height: int, lines: int = 1) -> list[float]:
    """Places for labels of so many lines, in the order of the values, pushed apart until they no longer overlap.

    They stay between the ends of everything that is drawn, as far as the height allows: beyond these they would widen
    the scale, and so come closer together again.
    """
    extent = (max(everything) - min(everything)) or 1.0
    room = extent / height * LABEL * lines
    order = sorted(range(len(values)), key=lambda n: values[n])
    places = list(values)
    for lower, upper in pairwise(order):
        places[upper] = max(places[upper], places[lower] + room)
    shift = sum(place - value for place, value in zip(places, values, strict=True)) / len(values)
    places = [place - shift for place in places]
    floor, ceiling = min(everything), max(everything)
    for n in order:
        places[n] = floor = max(places[n], floor)
        floor += room
    for n in reversed(order):
        places[n] = ceiling = min(places[n], ceiling)
        ceiling -= room
    return places


def _places(view: View) -> dict[str, int]:
    return looks.places({name: name for name in view.estimators if name not in view.not_debiased})


def _verdict_text(view: View, v: Verdict) -> str:
    places = view.places_of_differences(Facet(v.metric, v.target, v.segment))
    difference = numbers.number(v.difference, places, sign=True)
    interval = (range_of if in_scenarios(v) else numbers.interval)(v.low, v.high, places)
    return f"{v.a} − {v.b}, {v.estimator}: {difference} {interval}, {v.verdict}"


def _what(facet: Facet) -> str:
    return f"{facet.metric}, {facet.target}" + (f", {facet.segment}" if facet.segment is not None else "")
