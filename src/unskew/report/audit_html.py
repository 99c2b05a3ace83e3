"""An audit as one self-contained page, and as a small piece of HTML for notebooks."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from unskew.auditing import Audit
from unskew.report import audit_charts as charts
from unskew.report import audit_rows as rows
from unskew.report import checks_html, checks_rows, html
from unskew.report.charts import altair

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "KL bits",
        "How far the shares of items (or users) are from equal shares, in bits: 0 is even (carraro20 Eqs. 1–5).",
    ),
    ("chance", "What the number beside it would be without any preference or difference, given this many rows."),
    ("effective", "How many equally frequent items (or users) would be as diverse; entropy-based."),
    ("Gini", "0 where all have the same number of rows, near 1 where one has them all."),
    ("top 1 %", "Share of the rows on the hundredth of the items (or users) that has the most of them."),
    (
        "popularity exponent",
        "How fast counts fall with rank in the tail: count ∝ rank^−exponent, by maximum likelihood.",
    ),
    (
        "MCAR",
        "Missing completely at random: a log whose pairs were drawn by lot, so that nothing decided what was seen.",
    ),
    ("ratio", "How often a value is seen in the log, over how often it would be if being seen did not depend on it."),
    (
        "P(seen | value)",
        "Bayes: P(value | seen) P(seen) / P(value), with P(value) from the MCAR log (schnabel16 Eq. 18).",
    ),
    ("total variation", "Half the sum of the differences between two distributions: 0 the same, 1 nothing in common."),
    ("Jensen–Shannon", "How far two distributions are apart, in bits: 0 the same, 1 nothing in common."),
    (
        "propensity",
        "How likely an interaction was to be seen. Absolute: its level means something. Relative: only ratios do.",
    ),
    ("ess", "Effective sample size: how many equally weighted interactions would tell as much."),
    ("wider", "The standard error of snips over that of naive; mostly: between which eight of ten random lists lie."),
    (
        "standard error",
        "How far an estimate would typically move with other users; intervals are about twice that to either side.",
    ),
    ("per_user", "Target: each user's average over relevant items, then the mean over users."),
    ("pooled", "Target: the average over all relevant user–item pairs; active users count more."),
    ("per_user_sum", "Target: each user's sum over items, then the mean over users."),
)


def audit_page(audit: Audit) -> str:
    """The whole audit as one HTML page that loads nothing from anywhere."""
    altair()
    audit = rows.tidy(audit)
    law = rows.exponent(audit)
    context: dict[str, Any] = {
        "title": f"Audit of {PurePath(audit.source).name}",
        "source": audit.source,
        "opening": rows.said(audit.opening),
        "advice": [(rows.said(advice.text), advice.command) for advice in audit.advice],
        "told": rows.reading(audit),
        "findings": [(finding.level, rows.said(finding.text)) for finding in audit.findings],
        "facts": rows.facts(audit),
        "notes": [*audit.size.notes, *(f"{n:,} rows dropped: {why}" for why, n in audit.size.dropped.items())],
        "tail": html.plain_cards(
            ("Rows by rank", f"both axes logarithmic; {law}", charts.ranks(audit)),
            ("Concentration", "the dashed line is an even log", charts.tail(audit)),
        ),
        "spreads": rows.spreads(audit, wide=True),
        "values": html.plain_cards(
            ("Values", rows.values(audit), charts.values(audit)),
            ("Seen more or less often than at random", "1 = as often as it should be", charts.seen(audit)),
        ),
        "contrast": rows.contrast(audit),
        "time": html.plain_cards(
            ("Interactions", _span(audit), charts.periods(audit)),
            ("Newcomers", "items and users with their first row", charts.newcomers(audit)),
        ),
        "drift": rows.time(audit),
        "policies": html.plain_cards(("Policies apart", "the tick is what chance would give", charts.policies(audit))),
        "policy_sheets": rows.policies(audit, wide=True),
        "weights": html.plain_cards(
            ("Effective sample size to expect", "snips on a random hold-out of 30 %", charts.expected(audit)),
            ("The log's own propensities", rows.propensity(audit), charts.propensities(audit)),
        ),
        "expected": rows.expected(audit),
        "widths": rows.widths(audit),
        "supports": rows.supports(audit),
        "checks": checks_html.section(audit.checks) if audit.checks else None,
        "glossary": _glossary(audit),
    }
    context["sections"] = [(key, name) for key, name in _SECTIONS if context[key]]
    return html.rendered("audit.html.j2", context)


def audit_notebook(audit: Audit) -> str:
    """The findings and the main table as a piece of HTML without scripts."""
    audit = rows.tidy(audit)
    sheets = [rows.spreads(audit, wide=False), rows.contrast(audit), rows.expected(audit), rows.widths(audit)]
    sheets += [checks_rows.scores(audit.checks)] if audit.checks else []
    context = {
        "title": f"Audit of {audit.source}",
        "facts": rows.facts(audit),
        "opening": audit.opening,
        "findings": audit.findings,
        "advice": audit.advice,
        "sheets": [sheet for sheet in sheets if sheet is not None],
    }
    return html.environment().get_template("audit_notebook.html.j2").render(context)


_SECTIONS = (
    ("advice", "What to do"),
    ("supports", "What it supports"),
    ("tail", "Long tail"),
    ("values", "Values"),
    ("time", "Time"),
    ("policies", "Policies"),
    ("weights", "Weights"),
    ("checks", "Checks"),
    ("glossary", "Glossary"),
)


def _glossary(audit: Audit) -> tuple[tuple[str, str], ...]:
    """The terms, with those of the checks where there are checks."""
    known = {term for term, _ in GLOSSARY}
    more = tuple(entry for entry in checks_html.GLOSSARY if entry[0] not in known) if audit.checks else ()
    return GLOSSARY + more


def _span(audit: Audit) -> str:
    return "" if audit.time is None else f"{' to '.join(rows.span(audit))}, counted by {audit.time.width}"
