"""The document of checks on propensities: what they found, scores and weights, reliability, balance, overlap, clips."""

from __future__ import annotations

import math
from collections.abc import Iterable

from unskew.propensity.checks import CLICKS_ONLY, Bin, Checks
from unskew.report import checks_charts as charts
from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.names import tidy
from unskew.report.texts import glossary, section

CONSTANT = "one constant for all"
MIDDLE = "▄"
_RATIO = "▁▂▃▄▅▆▇"  # half as many or less … as predicted … twice as many or more
_WIDER = range(120, doc.EVER)  # propensities have long names


def checks_document(checks: Checks) -> doc.Document:
    """What people look at, from checks whose names are safe to print."""
    checks = tidy(checks)
    return doc.Document(
        title=doc.Sentence.plain("Checks on propensities"),
        summary=(findings(checks),),
        body=(
            section("checks.checks", *blocks(checks)),
            glossary("checks"),
        ),
    )


def blocks(checks: Checks) -> tuple[doc.Block, ...]:
    """Charts and tables, which the page of an audit has too."""
    compared = (
        charts.reliability(checks),
        charts.balance(checks, "users"),
        charts.balance(checks, "items"),
        charts.losses(checks),
        charts.ess(checks),
        charts.clips(checks),
    )
    overlaps = tuple(charts.overlap(place, c) for place, c in enumerate(checks.checks))
    tenths = _tenths(checks)
    folded = doc.Folded(tenths.name, tenths.note, (tenths,) if tenths.rows else ())
    return (
        doc.Cards(tuple(chart for chart in compared if chart is not None), (charts.legend(checks),)),
        doc.Cards(overlaps, title="Overlap"),
        _scores(checks),
        doc.in_brief(_shapes(checks)),
        _clips(checks),
        doc.on_page(folded),
    )


def findings(checks: Checks) -> doc.Sentences:
    """What is true of which propensities: warnings, then what agrees, then notes."""
    said = [("warning", "Clicks, not exposure", f"{CLICKS_ONLY[0].lower()}{CLICKS_ONLY[1:]}.")] * checks.positives
    level, against = ("note", "held against the clicks, ") if checks.positives else ("warning", "")
    said += [(level, c.propensity, f"{against}{'; '.join(c.findings)}.") for c in checks if c.findings]
    said += [("warning", u.propensity, f"cannot be had from this log: {u.reason}") for u in checks.refused]
    agree = [c.propensity for c in checks if not c.findings and c.log_loss is not None]
    what = "the clicks" if checks.positives else "what was seen"
    notes: dict[str, list[str]] = {f"agrees with {what} on held-out pairs.": agree}
    for c in checks.checks:
        texts = [f"{text}." for text in (*c.unasked, *c.notes)]
        if c.certain:
            texts.append(f"P is 1 (or was set to 1) for {numbers.count(c.certain)} seen pairs.")
        if c.level == "relative":
            texts.append("relative: scaled here so that it sums to the number seen.")
        for text in texts:
            notes.setdefault(text, []).append(c.propensity)
    levels = ("note" if checks.positives else "good", *("note" for _ in notes))
    told = zip(levels, notes.items(), strict=False)
    said += [(level, "; ".join(names), text) for level, (text, names) in told if names]
    joined = ((level, name, text.replace(" %", f"{numbers.SPACE}%")) for level, name, text in said)
    return doc.Sentences(tuple(doc.Sentence.about(name, f": {text}", level) for level, name, text in joined))


def _scores(checks: Checks) -> doc.Table:
    """Log-loss and Brier beside those of one constant, and the weights; one row per propensity."""
    first = min(checks.checks, key=lambda c: c.dropped)  # where pairs are left out, the constant is that of the others
    heads = (
        doc.Column("propensity", "name"),
        doc.Column("level", "name", terminal=_WIDER),
        doc.Column("seen pairs", terminal=_WIDER),
        *(doc.Column(label) for label in ("log-loss", "Brier", "ess", "share", "largest")),
        doc.Column(f"top 1{numbers.SPACE}%", terminal=_WIDER),
        doc.Column("implied pairs", terminal=_WIDER),
    )
    losses = (numbers.figure(first.log_loss_constant), numbers.figure(first.brier_constant))
    rows: list[tuple[str, ...]] = [(CONSTANT, "", numbers.DASH, *losses, *(numbers.DASH,) * 5)]
    for c in checks.checks:
        rows.append(
            (
                c.propensity if c.fitted == c.propensity else f"{c.propensity} → {c.fitted}",
                c.level,
                numbers.count(c.rows),
                numbers.figure(c.log_loss),
                numbers.figure(c.brier),
                numbers.count(c.ess),
                *(numbers.share(share) for share in (c.ess_share, c.max_weight_share, c.top_weight_share)),
                numbers.count(c.implied_pairs),
            )
        )
    seen = numbers.count(first.rows + first.dropped)
    note = f"on held-out pairs; {numbers.count(first.pairs)} pairs (users × items), {seen} seen"
    return doc.Table("Scores and weights", note, heads, tuple(rows))


def _clips(checks: Checks) -> doc.Table:
    """What a clip would raise; one row per propensity."""
    thresholds = tuple(checks.checks[0].clips)
    rows = tuple((c.propensity, *(numbers.small_share(c.clips[at]) for at in thresholds)) for c in checks.checks)
    note = "share of the seen pairs that a clip there would raise"
    return doc.Table("What a clip would raise", note, doc.columns(("propensity",), thresholds), rows)


def _tenths(checks: Checks) -> doc.Table:
    """Tenth by tenth, how many were seen of those that were expected."""
    rows = [
        (
            c.propensity,
            by,
            str(n),
            numbers.count(round(b.pairs)),
            numbers.figure(b.predicted),
            numbers.figure(b.observed),
        )
        for c in checks.checks
        for by, bins in (("reliability", c.reliability), ("users", c.user_balance), ("items", c.item_balance))
        for n, b in enumerate(bins, 1)
    ]
    heads = doc.columns(("propensity", "by"), ("tenth", "pairs", "mean P", "share seen"))
    return doc.Table(
        "Tenth by tenth", "pairs by P, by the user's activity, by the item's popularity", heads, tuple(rows)
    )


def _shapes(checks: Checks) -> doc.Table:
    """Little bars: seen over predicted by tenth, and how P is spread over the seen pairs."""
    rows = tuple(
        (
            c.propensity,
            *map(ratios, (c.reliability, c.user_balance, c.item_balance)),
            numbers.bars_of([o.seen for o in c.overlap], 12),
        )
        for c in checks.checks
    )
    note = f"seen over predicted by tenth: {MIDDLE} as many, ▁ half or fewer, ▇ twice or more"
    heads = doc.columns(("propensity", "reliability", "users", "items", "P of seen pairs"), ())
    return doc.Table("Reliability and balance", note, heads, rows)


def ratios(bins: Iterable[Bin]) -> str:
    """Observed over predicted of each tenth as a little bar, on a logarithmic scale from a half to two."""
    found = ""
    for b in bins:
        if b.predicted <= 0.0 or b.observed <= 0.0:
            found += MIDDLE if b.predicted == b.observed else _RATIO[0 if b.predicted > 0.0 else -1]
            continue
        place = round(3.0 * math.log2(b.observed / b.predicted))
        found += _RATIO[3 + min(max(place, -3), 3)]
    return found or numbers.DASH
