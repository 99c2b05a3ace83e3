"""The document of ``unskew demo``: that of its result, and the truth beside every estimate."""

from __future__ import annotations

from dataclasses import replace

from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.result_document import result_document
from unskew.report.truth_charts import TRUTH, Row, beside_truth
from unskew.report.view import Facet, View
from unskew.result import Estimate
from unskew.simulate.shop_demo import ShopDemo

LEAD = "This shop is simulated, so that the truth is known; no real log shows it."


def shop_demo_document(demo: ShopDemo) -> doc.Document:
    """What people look at."""
    found = result_document(demo.result)
    view = View.of(demo.result)
    if view.headline is None:
        return found
    truth = dict(zip(view.models, (demo.truth[e] for e in _models(demo)), strict=True))
    said = doc.Sentences(tuple(doc.Sentence.plain(text, "note") for text in demo.said.splitlines()))
    cards = doc.Cards((_chart(view, view.headline, truth),), (TRUTH,), fit=True)
    blocks = (said, cards, _table(view, view.headline, truth))
    section = doc.Section("truth", "The truth", blocks, LEAD)
    return replace(found, body=(doc.on_page(section), *found.body))


def _models(demo: ShopDemo) -> list[str]:
    """The models in the order of the result, under their own names."""
    return list(dict.fromkeys(e.model for e in demo.result.estimates))


def _chart(view: View, facet: Facet, truth: dict[str, float]) -> doc.Chart:
    def row(e: Estimate) -> Row:
        tone = "undecided" if e.estimator in view.not_debiased else "ahead"
        return Row(f"{e.model}, {e.estimator}", tone, e.value, e.low, e.high, truth[e.model])

    rows = [row(e) for e in view.by_model(facet)]
    return beside_truth(facet.metric, f"{facet.target}; grey: not debiased", "Estimates beside the truth", rows)


def _table(view: View, facet: Facet, truth: dict[str, float]) -> doc.Table:
    places = view.places(facet)
    rows = tuple(
        (
            e.model,
            e.estimator,
            numbers.number(e.value, places),
            numbers.interval(e.low, e.high, places),
            numbers.number(truth[e.model], places),
            "yes" if e.low <= truth[e.model] <= e.high else "no",
        )
        for e in view.by_model(facet)
    )
    heads = (
        doc.Column("model", "name", once=True),
        doc.Column("estimator", "name"),
        *(doc.Column(label) for label in ("value", "interval")),
        doc.Column("truth", strong=True),
        doc.Column("inside", "name"),
    )
    return doc.Table(facet.metric, f"{facet.target}, and the truth that no log shows", heads, rows, "truth")
