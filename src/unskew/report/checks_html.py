"""Checks on propensities as a page, as a section of the audit's page, and as a small piece of HTML for notebooks."""

from __future__ import annotations

from typing import Any

from unskew.propensity.checks import Check, Checks
from unskew.report import audit_rows, html
from unskew.report import checks_charts as charts
from unskew.report import checks_rows as rows
from unskew.report.charts import altair
from unskew.report.marks import PATHS

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "propensity",
        "How likely an interaction was to be seen. Absolute: its level means something. Relative: only ratios do.",
    ),
    (
        "held-out pairs",
        "Pairs, seen and unseen, that the fit did not know: folds by a hash of user and item, each judged by a model "
        "that was fitted without it.",
    ),
    ("log-loss", "Minus the mean log-probability of what happened, seen or not; lower is better."),
    ("Brier", "The mean squared distance of P from what happened (1 seen, 0 not); lower is better."),
    ("one constant for all", "The density of the log as everybody's propensity: what any model should beat."),
    ("reliability", "Among pairs with similar P, the share that was seen: it should be P."),
    (
        "balance",
        "Seen over predicted, for tenths of the users by activity and of the items by popularity (counted outside the "
        "fold): 1 where P is right for all of them.",
    ),
    (
        "overlap",
        "How P is spread over seen and unseen pairs. Unseen pairs far to the left of the seen ones have no support.",
    ),
    ("ess", "Effective sample size of the weights 1/P: how many equally weighted interactions would tell as much."),
    ("largest, top 1 %", "Share of the largest weight, and of the largest hundredth of the weights, in their sum."),
    ("clip", "Raising every P below a threshold to it: less variance, some bias. The table says whom it would touch."),
    (
        "implied pairs",
        "Σ 1/P over the seen pairs estimates users × items, where P is absolute and zeros are logged too.",
    ),
)


def checks_page(checks: Checks) -> str:
    """The checks as one HTML page that loads nothing from anywhere."""
    altair()
    checks = audit_rows.tidy(checks)
    context = {
        "title": "Checks on propensities",
        "found": section(checks),
        "glossary": GLOSSARY,
    }
    return html.rendered("checks.html.j2", context)


def checks_notebook(checks: Checks) -> str:
    """The findings and the main table as a piece of HTML without scripts."""
    checks = audit_rows.tidy(checks)
    context = {
        "words": rows.words(checks),
        "sheets": [rows.scores(checks), rows.shapes(checks), rows.clips(checks)],
    }
    return html.environment().get_template("sheets_notebook.html.j2").render(context)


def section(checks: Checks) -> dict[str, Any]:
    """What the template of the section shows: words, legend, cards and tables."""
    names = [c.propensity for c in checks.checks]
    return {
        "words": rows.words(checks),
        "legend": [
            {"name": name, "colour": charts.colour(n), "path": PATHS[charts.shape(n)]} for n, name in enumerate(names)
        ],
        "cards": html.plain_cards(
            ("Reliability", "on the dashed line P is the share that was seen", charts.reliability(checks)),
            ("Balance over users", "the dashed line is right", charts.users(checks)),
            ("Balance over items", "the dashed line is right", charts.items(checks)),
            (
                "Log-loss ● and Brier ◆",
                "over those of one constant for all; left of the line is better",
                charts.losses(checks),
            ),
            ("Effective sample size", "of the weights 1/P", charts.ess(checks)),
            ("What a clip would raise", "share of the seen pairs with P below it", charts.clips(checks)),
        ),
        "overlaps": html.plain_cards(
            *((c.propensity, _overlap_note(c), charts.overlap(n, c)) for n, c in enumerate(checks.checks))
        ),
        "scores": rows.scores(checks),
        "clips": rows.clips(checks),
        "tenths": rows.tenths(checks),
    }


def _overlap_note(c: Check) -> str:
    return (
        "bars: seen pairs"
        if c.overlap[0].unseen is None
        else "bars: seen pairs; line: unseen pairs; shares of their own"
    )
