"""Checks on propensities as texts: every number written once, the same in the terminal, the notebook and the page."""

from __future__ import annotations

import math
from collections.abc import Iterable

from unskew.propensity.checks import CLICKS_ONLY, Bin, Check, Checks
from unskew.report import numbers
from unskew.report.audit_rows import Sheet, small_share, spark
from unskew.report.audit_rows import said as joined

CONSTANT = "one constant for all"
MIDDLE = "▄"
_RATIO = "▁▂▃▄▅▆▇"  # half as many or less … as predicted … twice as many or more
_CLIPPED = "share of the seen pairs that a clip there would raise"


def scores(checks: Checks, *, wide: bool = True) -> Sheet:
    """Log-loss and Brier beside those of one constant, and the weights; one row per propensity."""
    first = min(checks.checks, key=lambda c: c.dropped)  # where pairs are left out, the constant is that of the others
    columns = ("propensity", *(("level", "seen pairs") if wide else ()), "log-loss", "Brier", "ess", "share")
    columns += ("largest", *((f"top 1{numbers.SPACE}%", "implied pairs") if wide else ()))
    dashes = (numbers.DASH,) * (5 if wide else 3)
    blank = ("", numbers.DASH) if wide else ()
    rows = [(CONSTANT, *blank, figure(first.log_loss_constant), figure(first.brier_constant), *dashes)]
    for c in checks.checks:
        rows.append(
            (
                name(c),
                *((c.level, numbers.count(c.rows)) if wide else ()),
                figure(c.log_loss),
                figure(c.brier),
                numbers.count(c.ess),
                numbers.share(c.ess_share),
                numbers.share(c.max_weight_share),
                *((numbers.share(c.top_weight_share), numbers.count(c.implied_pairs)) if wide else ()),
            )
        )
    return Sheet("Scores and weights", _world(first), columns, tuple(rows), 2 if wide else 1)


def clips(checks: Checks) -> Sheet:
    """What a clip would raise; one row per propensity."""
    thresholds = tuple(checks.checks[0].clips)
    rows = tuple((c.propensity, *(small_share(c.clips[at]) for at in thresholds)) for c in checks.checks)
    return Sheet("What a clip would raise", _CLIPPED, ("propensity", *thresholds), rows)


def tenths(checks: Checks) -> Sheet:
    """Tenth by tenth, how many were seen of those that were expected."""
    rows = []
    for c in checks.checks:
        for what, bins in (("reliability", c.reliability), ("users", c.user_balance), ("items", c.item_balance)):
            rows += [
                (c.propensity, what, str(n), numbers.count(round(b.pairs)), figure(b.predicted), figure(b.observed))
                for n, b in enumerate(bins, 1)
            ]
    columns = ("propensity", "by", "tenth", "pairs", "mean P", "share seen")
    return Sheet(
        "Tenth by tenth", "pairs by P, by the user's activity, by the item's popularity", columns, tuple(rows), 2
    )


def shapes(checks: Checks) -> Sheet:
    """Little bars: seen over predicted by tenth, and how P is spread over the seen pairs."""
    rows = tuple(
        (
            c.propensity,
            ratios(c.reliability),
            ratios(c.user_balance),
            ratios(c.item_balance),
            spark([o.seen for o in c.overlap], 12),
        )
        for c in checks.checks
    )
    note = f"seen over predicted by tenth: {MIDDLE} as many, ▁ half or fewer, ▇ twice or more"
    columns = ("propensity", "reliability", "users", "items", "P of seen pairs")
    return Sheet("Reliability and balance", note, columns, rows, 5)


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


def words(checks: Checks) -> list[tuple[str, str, str]]:
    """Level (``warning``, ``good`` or ``note``), propensities and a sentence that is true of them."""
    warnings = [("warning", "Clicks, not exposure", f"{CLICKS_ONLY[0].lower()}{CLICKS_ONLY[1:]}.")] * checks.positives
    level, against = ("note", "held against the clicks, ") if checks.positives else ("warning", "")
    warnings += [(level, c.propensity, f"{against}{joined('; '.join(c.findings))}.") for c in checks if c.findings]
    warnings += [("warning", u.propensity, f"cannot be had from this log: {u.reason}") for u in checks.refused]
    agree = [c.propensity for c in checks if not c.findings and c.log_loss is not None]
    what = "the clicks" if checks.positives else "what was seen"
    notes: dict[str, list[str]] = {f"agrees with {what} on held-out pairs.": agree}
    for c in checks.checks:
        said = [f"{text}." for text in (*c.unasked, *c.notes)]
        if c.certain:
            said.append(f"P is 1 (or was set to 1) for {numbers.count(c.certain)} seen pairs.")
        if c.level == "relative":
            said.append("relative: scaled here so that it sums to the number seen.")
        for text in said:
            notes.setdefault(text, []).append(c.propensity)
    levels = ("note" if checks.positives else "good", *("note" for _ in notes))
    told = zip(levels, notes.items(), strict=False)
    return warnings + [(level, "; ".join(names), text) for level, (text, names) in told if names]


def name(c: Check) -> str:
    """The propensity as asked for, and as fitted where that says more."""
    return c.propensity if c.fitted == c.propensity else f"{c.propensity} → {c.fitted}"


def figure(value: float | None) -> str:
    """Four significant digits: losses and probabilities of sparse logs are small, and losses lie close together."""
    if value is None:
        return numbers.DASH
    places = min(max(3 - math.floor(math.log10(abs(value))), 0), 8) if value else 1
    return numbers.number(value, places)


def _world(c: Check) -> str:
    return (
        f"on held-out pairs; {numbers.count(c.pairs)} pairs (users × items), {numbers.count(c.rows + c.dropped)} seen"
    )
