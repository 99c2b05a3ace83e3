"""What each estimator and target says of each pair of models, side by side: whether a verdict hangs on one of them."""

from __future__ import annotations

from unskew.report.document import Block, Cell, Column, Table
from unskew.report.result_charts import charted_pairs
from unskew.report.texts import section
from unskew.report.view import View, unique

MOST_PAIRS = 6  # side by side


def agreement_section(view: View) -> tuple[Block, ...]:
    """A row per estimator and target, a column per pair, for the metric of the headline; nothing of a single row."""
    table = agreement_table(view)
    return () if table is None else (section("result.agreement", table),)


def agreement_table(view: View) -> Table | None:
    """The verdicts of all estimators on the headline's pairs."""
    headline = view.headline
    if headline is None:
        return None
    pairs = charted_pairs(view, headline)[:MOST_PAIRS]
    facets = [f for f in view.facets_of(headline.segment) if f.metric == headline.metric]
    rows = []
    for facet in facets:
        for estimator in unique(v.estimator for v in view.verdicts(facet)):
            said = {(v.a, v.b): v for v in view.verdicts(facet, estimator)}
            cells = [said.get(pair) for pair in pairs]
            words = [Cell("–", "") if v is None else Cell(v.verdict, v.verdict, doubt=bool(v.trust)) for v in cells]
            counts = estimator == view.carrier(facet) and facet == headline
            rows.append((estimator, facet.target, "yes" if counts else "", *words))
    if not pairs or len(rows) < 2:
        return None
    heads = (
        Column("estimator", "name", pick=True),
        Column("target", "name"),
        Column("makes the headline", "name"),
        *(Column(f"{a} − {b}", "tag") for a, b in pairs),
    )
    fewer = "; pairs of the best model" if len(pairs) < len(view.verdicts(headline, view.carrier(headline))) else ""
    return Table(headline.metric, f"first model against second{fewer}", heads, tuple(rows), "agreement")
