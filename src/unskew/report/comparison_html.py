"""A comparison of propensities as one self-contained page, and as a small piece of HTML for notebooks."""

from __future__ import annotations

from unskew.evaluation.comparison import PropensityComparison
from unskew.report import charts, html, numbers
from unskew.report import comparison_rows as rows
from unskew.report.glossary import TERMS

SHOWN = 8
GLOSSARY: tuple[tuple[str, str], ...] = (
    ("spread", "Largest minus smallest estimate of a model over the propensities."),
    (
        "÷ half-width",
        "The spread over the mean half-width of the intervals. Above 1, the choice of the propensity matters more than "
        "chance does.",
    ),
    *(entry for entry in TERMS if entry[0] in ("estimate", "interval", "naive", "propensity", "ess", "largest share")),
    *(entry for entry in TERMS if entry[0] in ("per_user", "pooled", "per_user_sum", "difference", "verdict")),
)


def comparison_page(comparison: PropensityComparison) -> str:
    """The comparison as one HTML page that loads nothing from anywhere."""
    charts.altair()
    comparison = rows.tidy(comparison)
    view = rows.side_by_side(comparison)
    first = next(iter(comparison.results.values()))
    context = {
        "title": rows.title(comparison),
        "changes": rows.changes(comparison),
        "beside": rows.beside(comparison),
        "shown": SHOWN,
        "warnings": rows.warnings(comparison),
        "facts": [
            ("propensities", numbers.count(len(comparison.results))),
            ("models", numbers.count(len({e.model for e in first.estimates}))),
            ("users", numbers.spread((e.users for e in first.estimates), numbers.count)),
        ],
        "fitted": [(name, text) for name, text in comparison.fitted.items() if name != text],
        "legend": html.legend(view, view.estimators),
        "forests": html.cards(view, view.facets_of(view.whole), charts.forest),
        "moves": rows.moves(comparison, wide=True),
        "verdicts": rows.verdicts(comparison),
        "estimates": [rows.estimates(view, facet) for facet in view.facets],
        "glossary": GLOSSARY,
    }
    return html.rendered("comparison.html.j2", context)


def comparison_notebook(comparison: PropensityComparison) -> str:
    """What changes and how far estimates move, as a piece of HTML without scripts."""
    comparison = rows.tidy(comparison)
    words = rows.changes(comparison) + rows.beside(comparison)
    context = {"words": words, "sheets": [rows.moves(comparison, wide=True)]}
    return html.environment().get_template("sheets_notebook.html.j2").render(context)
