"""The charts of a result that are looked at first: who is ahead by how much, and what each model scores.

Where the estimator that counts leaves something open, these are its values and differences along what it leaves open.
"""

from __future__ import annotations

from unskew.report import document as doc
from unskew.report import result_charts as charts
from unskew.report import scenario_charts, words
from unskew.report.view import View
from unskew.result import Result


def result_picture(result: Result) -> doc.Document:
    """The headline's charts."""
    view = View.of(result)
    return doc.Document(words.title(view), (), (doc.Cards(_charts(view)),))


def _charts(view: View) -> tuple[doc.Chart, ...]:
    facet = view.headline
    if facet is None:
        return ()
    if (table := view.scenarios(facet, view.carrier(facet))) is not None:
        return (*scenario_charts.values(view, table), *scenario_charts.differences(view, table))
    drawn = charts.differences(view, facet), charts.forest(view, facet)
    return tuple(chart for chart in drawn if chart is not None)
