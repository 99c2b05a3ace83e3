"""Values fold by fold: one line per model, in the order of the folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unskew.cross_validation import FoldValue
from unskew.report import marks as looks
from unskew.report import numbers
from unskew.report.document import Chart, Legend, Swatch
from unskew.report.plots import NUMBERS, Spec, chart, colours, field, layers, lines, marks, points
from unskew.report.view import Facet, View

MOST_MODELS = 8  # as many as there are colours
MOST_BANDS = 3  # models whose intervals are drawn: more would hide each other


def legend(models: Sequence[str]) -> Legend:
    """The colour and the mark of every model that is drawn."""
    shown = models[:MOST_MODELS]
    marks_of = ((name, looks.colour(n), looks.PATHS[looks.shape(n)]) for n, name in enumerate(shown))
    return Legend("Models", tuple(Swatch(*each) for each in marks_of))


def fold_lines(
    view: View, facet: Facet, estimator: str, values: Sequence[FoldValue], names: Mapping[str, str]
) -> Chart:
    """The values of one estimator in every fold, with intervals where models are few.

    Args:
        values: of all cells; their models are called by ``names``.
    """
    models = view.models[:MOST_MODELS]
    ranged = view.scenarios(facet, estimator) is not None  # an interval would span all scenarios
    cell = facet.metric, facet.target, estimator
    own = [v for v in values if (v.metric, v.target, v.estimator) == cell and names[v.model] in models]
    places = numbers.decimals((v.low, v.high) for v in own)
    data = [_datum(v, names[v.model], places) for v in own]
    folds = list(dict.fromkeys(v.fold for v in own))
    base: Spec = {
        "x": field("fold:O", sort=folds, axis={"title": None, "labelAngle": 0, **NUMBERS}),
        "color": colours("model:N", models, [looks.colour(n) for n in range(len(models))]),
    }
    y = field("value:Q", axis={"title": None, "tickCount": 4, "format": ".4~g"}, scale={"zero": False})
    found = [lines(base | {"y": y}, 1.8)]
    if len(models) <= MOST_BANDS and not ranged:
        band = base | {"y": field("low:Q", scale={"zero": False}), "y2": field("high")}
        found.insert(0, marks("rows", "area", band, opacity=0.12))
    shapes = colours("model:N", models, [looks.shape(n) for n in range(len(models))])
    found.append(points(base | {"y": y, "shape": shapes}, 34))
    fewer = f"; the first {len(models)} of {len(view.models)} models" if len(view.models) > len(models) else ""
    averages = "; averages over all scenarios" if ranged else ""
    lower = "; lower is better" if view.traits(facet.metric).lower_is_better else ""
    note = f"{facet.target}{averages}{lower}{fewer}"
    label = f"{facet.metric} of every model in every fold, by {estimator}"
    drawn = chart(f"{facet.metric} by fold, {estimator}", note, label, layers(*found), rows=data)
    return drawn._replace(about=(("metric", facet.metric), ("estimator", estimator)))


def _datum(v: FoldValue, model: str, places: int | None) -> dict[str, Any]:
    known = math.isfinite(v.low) and math.isfinite(v.high)
    said = f"{numbers.number(v.value, places)} {numbers.interval(v.low, v.high, places)}"
    return {
        "fold": v.fold,
        "model": model,
        "value": v.value if math.isfinite(v.value) else None,
        "low": v.low if known else None,
        "high": v.high if known else None,
        "text": f"{model}, {v.fold}: {said}",
    }
