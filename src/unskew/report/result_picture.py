"""The charts of a result that are looked at first: who is ahead by how much, and what each model scores."""

from __future__ import annotations

from unskew.report import document as doc
from unskew.report import result_charts as charts
from unskew.report import words
from unskew.report.view import View
from unskew.result import Result


def result_picture(result: Result) -> doc.Document:
    """The headline's charts: differences of the pairs of models, and estimates."""
    view = View.of(result)
    facet = view.headline
    drawn = [] if facet is None else [charts.differences(view, facet), charts.forest(view, facet)]
    cards = tuple(chart for chart in drawn if chart is not None)
    return doc.Document(words.title(view), (), (doc.Cards(cards),))
