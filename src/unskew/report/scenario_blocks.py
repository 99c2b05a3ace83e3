"""The parts of a result's document on what the log cannot tell, and on the order of many models."""

from __future__ import annotations

from unskew.report import document as doc
from unskew.report import scenario_charts as charts
from unskew.report.leaderboard import SEVERAL, best_group, leaderboard_table
from unskew.report.scenario_tables import facet_of, scenario_table
from unskew.report.scenario_words import scenario_notes
from unskew.report.texts import section
from unskew.report.view import View, unique
from unskew.report.words import trust
from unskew.result import ScenarioTable

SHOWN = 6  # charts that are not folded away
SMALL = 3  # tables on a terminal
INLINE = 4  # charts in a notebook


def leaderboard_blocks(view: View) -> tuple[doc.Block, ...]:
    """Who comes first and who cannot be told from it, where there are several models."""
    facet = view.headline
    if facet is None or len(view.models) < 2:
        return ()
    whole = [facet, *(other for other in view.facets_of(view.whole) if other != facet)]
    said = doc.Sentences((best_group(view, facet),))
    tables = tuple(leaderboard_table(view, other) for other in whole)
    return (
        doc.on_page(section("result.leaderboard", said, doc.Tables(tables, shown=1))),
        *((doc.in_brief(said, doc.Tables(tables[:1], where=".leaderboard()")),) * (len(view.models) >= SEVERAL)),
    )


def scenario_blocks(view: View) -> tuple[doc.Block, ...]:
    """How answers depend on what the log cannot tell: charts on a page, small tables and a few charts elsewhere."""
    tables = _in_order(view)
    if not tables:
        return ()
    cards = tuple(
        chart for table in tables for chart in (*charts.values(view, table), *charts.differences(view, table))
    )
    numbers = tuple(scenario_table(view, table) for table in tables)
    said = trust(view)
    notes = unique(note for table in tables for note in scenario_notes(table) if note not in said)
    return (
        doc.on_page(
            section(
                "result.scenarios",
                doc.Sentences(tuple(doc.Sentence.plain(note) for note in notes)),
                doc.Cards(cards, (charts.LEGEND,), shown=SHOWN),
                doc.Folded("As numbers", "", numbers),
            )
        ),
        doc.in_brief(
            doc.Cards(cards[:INLINE], inline=True),
            doc.Tables(numbers[:SMALL]),
            doc.Sentences(tuple(doc.Sentence.plain(note, "doubt") for note in notes)),
        ),
    )


def _in_order(view: View) -> list[ScenarioTable]:
    """The tables of all users, those of the headline and of the estimator that counts first."""
    there = [table for table in view.result.scenarios if table.segment == view.whole]
    return sorted(there, key=lambda t: (facet_of(t) != view.headline, view.carrier(facet_of(t)) != t.estimator))
