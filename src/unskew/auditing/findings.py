"""What the numbers mean for evaluation, in plain words.

Each rule looks at one part of the audit and gives a few findings at most: ``good`` (nothing in the way), ``note``
(worth knowing) or ``warning`` (naive or careless estimates will mislead). The thresholds are conventions; they stand
here, and every finding quotes the numbers on which it rests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from unskew.auditing.advice import IMPLIED, SMALL_ESS
from unskew.auditing.contrast import Contrast
from unskew.auditing.looks import HELD_OUT
from unskew.auditing.opening import count, listed, percent, selected_by_value
from unskew.auditing.row_findings import ENOUGH, RULES, SKEWED, Finding, say
from unskew.auditing.widths import METRIC, Width
from unskew.propensity.checks import CLICKS_ONLY

if TYPE_CHECKING:
    from unskew.auditing.record import Audit

FAIR_ESS = 0.5  # as a share of the rows
_ORDER = ("warning", "note", "good")


def find(audit: Audit, logged: Collection[str] = (), *, mcar_for_propensities: bool = False) -> tuple[Finding, ...]:
    """All findings, warnings first.

    Args:
        logged: those of the checked propensities that were written down with the log.
        mcar_for_propensities: an MCAR log was given, but values are missing, so that it could serve propensities only.
    """
    checks = partial(_checks, logged=logged)
    rules = (_contrast, _tail, _expected, _propensity, checks, *RULES, _support)
    found = [finding for rule in rules for finding in rule(audit)]
    if mcar_for_propensities:
        found.append(
            say(
                "note",
                "mcar-for-propensities",
                "The MCAR log serves propensities only: without values there is nothing to compare.",
            )
        )
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.level)))


def _contrast(audit: Audit) -> Iterator[Finding]:
    c = audit.mcar
    if c is None:
        return
    means = f"{c.mean:.3f} against {c.mean_mcar:.3f}, a difference of {c.difference:+.3f}"
    if c.se is None:
        yield say("note", "mcar-one-user", f"The mean is {means}; with one user only, it has no standard error.")
    elif selected_by_value(c):
        yield say(
            "warning",
            "values-matter",
            f"What was seen depends on its value: the log's mean is {means} (standard error {c.se:.3f}).",
            _extremes(c),
            "Plain averages over this log are biased; the MCAR log can serve to estimate propensities.",
        )
    else:
        yield say(
            "good",
            "no-selection-by-value",
            f"No dependence on the value was found: the mean is {means} (standard error {c.se:.3f}).",
        )
    for name, part in (("items", c.items), ("users", c.users)):
        if part.kl_bits > part.kl_chance + SKEWED:
            yield say(
                "note",
                "mcar-uneven",
                f"The MCAR log is not even over its {name}: {part.kl_bits:.2f} bits from uniform, where chance gives",
                f"{part.kl_chance:.2f}. Was it really drawn at random?",
            )
    if c.overlap:
        yield say(
            "note",
            "mcar-overlap",
            f"{count(c.overlap, 'pair')} of the MCAR log stand in the log too, and count in both.",
        )


def _extremes(c: Contrast) -> str:
    known = [v for v in c.values if min(v.rows, v.rows_mcar) >= ENOUGH]  # ratios of rare values are mostly chance
    if len(known) < 2:
        return ""
    most, least = max(known, key=lambda v: v.ratio), min(known, key=lambda v: v.ratio)
    return (
        f"Pairs of value {_range(most.low, most.high)} were {most.ratio / least.ratio:.1f} times as likely to be seen "
        f"as pairs of value {_range(least.low, least.high)}."
    )


def _tail(audit: Audit) -> Iterator[Finding]:
    items = audit.items
    if items.number == 1:
        yield say("warning", "one-item", "There is one item only: every recommender gives the same list.")
        return
    top = -(-items.number // 100)
    first = "The most popular item has" if top == 1 else f"The most popular 1 % ({top:,} items) have"
    named = f"{first} {percent(items.top_1_percent)} of the interactions"
    even = f"{items.effective:,.0f} of {items.number:,} items would be as diverse if equally popular"
    if audit.skew == "hardly":
        yield say("good", "even-items", f"Items are spread about as evenly as chance allows: {even}.")
    else:
        level = "warning" if audit.skew == "heavily" else "note"
        yield say(
            level,
            "skewed-items",
            f"{named}; {even}.",
            "Naive metrics mostly say who recommends those." if level != "note" else "",
        )
    if items.everybody and audit.users.number > 1:
        yield say(
            "note",
            "seen-by-all",
            f"{count(items.everybody, 'item was', 'items were')} seen by every user: nothing is hidden there,",
            "and recommenders cannot be told apart by it.",
        )


def _expected(audit: Audit) -> Iterator[Finding]:
    rows = [row for row in audit.expected if row.target == "pooled"]
    if not rows:
        yield say(
            "warning", "too-few-rows", "There are too few relevant interactions to hold a part of them out at random."
        )
        return
    worst = min(rows, key=lambda row: row.ess)
    few = worst.ess < SMALL_ESS
    yield say(
        _grade(worst.ess, worst.ess_share),
        "expected-ess",
        f"Effective sample size to expect of snips, pooled, on a random hold-out of {percent(HELD_OUT)}",
        f"({count(worst.rows, 'interaction')}):",
        "; ".join(f"{row.propensity} {row.ess:,.0f} ({percent(row.ess_share)})" for row in rows) + ".",
        f"Below {SMALL_ESS} hardly any comparison can be decided: more data are needed." if few else "",
    )
    if audit.relevant is not None or audit.feedback in ("implicit", "conversions"):  # else ranks are not judged
        best = [row for row in audit.widths if row.propensity == audit.widths[0].propensity]  # the log's own, if any
        yield from [say("note", "interval-widths", *_widths(best))] if best else []


def _widths(rows: list[Width]) -> Iterator[str]:
    """What weighting does to intervals, where it could be measured."""
    if all(row.ratio is None for row in rows):
        yield f"With {rows[0].propensity}, simple lists have too few hits to measure what weighting does to intervals."
        return
    yield f"What weighting by {rows[0].propensity} does to intervals depends on the list. Measured there"
    yield f"({METRIC}, pooled, ± one standard error):"
    for row in rows:
        if row.ratio is None:
            yield f"for ten {row.listed} there are too few hits{';' if row is rows[0] else '.'}"
            continue
        single = row.ratio_low == row.ratio_high
        text = f"for the ten {row.listed}" if single else f"for ten {row.listed}"
        span = "" if single else f" ({row.ratio_low:.2g} to {row.ratio_high:.2g} for most of 20)"
        yield (
            f"{text} naive {row.naive:.2g} ± {row.naive_se:.1g}, snips {row.snips:.2g} ± {row.snips_se:.1g}, "
            f"{row.ratio:.2g} times as wide{span}{';' if row is rows[0] else '.'}"
        )


def _propensity(audit: Audit) -> Iterator[Finding]:
    p = audit.propensity
    if p is None:
        if audit.positives:
            yield say(
                "note",
                "no-propensity",
                "There is no column 'propensity', and clicks alone cannot say how much of an item's popularity is",
                "exposure and how much is taste.",
            )
        else:
            yield say(
                "note",
                "no-propensity",
                "There is no column 'propensity': how likely a pair was to be seen must be modelled.",
            )
        return
    if p.constant:
        yield say(
            "warning",
            "constant-propensity",
            f"The column 'propensity' is {p.minimum:.3g} in every row: it corrects nothing, and unskew evaluate does",
            "not use it unless asked to, since a placeholder looks the same. If every pair really was equally likely",
            "to be shown, say propensity='known' there.",
        )
        return
    yield say(
        _grade(p.ess, p.ess_share),
        "own-propensities",
        f"The log has its own propensities{f', which {p.estimated_by} estimated' if p.estimated_by else ''}, from",
        f"{p.minimum:.3g} to {p.maximum:.3g}; their effective sample size is",
        f"{p.ess:,.0f} of {audit.size.rows:,} rows ({percent(p.ess_share)}).",
        f"The largest weight alone is {percent(p.largest_weight)} of the sum." if p.largest_weight > 0.01 else "",
    )
    if (
        audit.feedback in ("conversions", "ratings")
        and not audit.positives
        and not IMPLIED[0] <= p.implied_pairs / p.pairs <= IMPLIED[1]
    ):
        yield say(
            "warning",
            "implied-pairs",
            f"The propensities imply {p.implied_pairs:,.0f} pairs (Σ 1/P), but there are {p.pairs:,} (users × items).",
            "Are they the probability that this user saw this item? A policy's probability of choosing an item for",
            "one slot is something else. If the file is a random part of the log that they speak of, check",
            "known(share=…) instead (propensities=…), which allows for that.",
        )


def _checks(audit: Audit, logged: Collection[str]) -> Iterator[Finding]:
    """What the checks say of each propensity that was asked about; on clicks, what they cannot say."""
    clicks = audit.checks.positives
    if clicks and audit.checks:
        yield say("warning", "clicks-only", f"{CLICKS_ONLY}.")
    for c in audit.checks:
        weights = f"The effective sample size of its weights is {percent(c.ess_share)} of the seen pairs."
        if c.findings and clicks:  # against exposure they prove nothing
            yield say("note", "clicks-disagree", f"{c.propensity}, held against the clicks: {'; '.join(c.findings)}.")
        elif c.findings:
            part = (
                "If this log is the test part of a split, its training pairs are missing, and the check does not apply."
            )
            yield say(
                "warning",
                "propensity-disagrees",
                f"{c.propensity}: {'; '.join(c.findings)}.",
                part if c.propensity in logged else "",
            )
        elif c.log_loss is None:
            yield say("note", "propensity-unchecked", f"{c.propensity}: {'; '.join(c.unasked)}.", weights)
        elif clicks:
            yield say("note", "clicks-agree", f"{c.propensity} agrees with the clicks on held-out pairs.", weights)
        else:
            yield say(
                "good", "propensity-agrees", f"{c.propensity} agrees with what was seen on held-out pairs.", weights
            )
        for text in c.notes:
            yield say("note", text.code, f"{c.propensity}: {text}.")
    fixed = dict.fromkeys(text for c in audit.checks if c.log_loss is not None for text in c.unasked)
    for text in fixed:
        yield say("note", text.code, f"{text[0].upper()}{text[1:]}.")
    for unfit in audit.checks.refused:
        yield say("warning", "propensity-refused", f"{unfit.propensity} cannot be had from this log: {unfit.reason}")


def _support(audit: Audit) -> Iterator[Finding]:
    """What is supported, once for all readings of the log of which it is true."""
    said: dict[str, list[str]] = {}
    for reading in dict.fromkeys(row.reading for row in audit.supports):
        by_names: dict[tuple[str, ...], list[str]] = {}
        for target in dict.fromkeys(row.target for row in audit.supports):
            rows = [row for row in audit.supports if (row.reading, row.target) == (reading, target) and row.supported]
            by_names.setdefault(tuple(row.estimator.split("(")[0] for row in rows), []).append(target)
        parts = [f"{listed(names) if names else 'nothing'} under {listed(to)}" for names, to in by_names.items()]
        said.setdefault("; ".join(parts), []).append(reading)
    for parts_, readings in said.items():
        yield say(
            "note" if "nothing under" in parts_ else "good",
            "supported",
            f"Read as {' or '.join(readings)}, with {audit.supports[0].propensity} propensities, unskew evaluate",
            f"accepts {parts_}.",
        )


def _grade(ess: float, share: float) -> str:
    """Few effective rows are a warning: whatever share of the rows they are, they decide what can be decided."""
    return "warning" if ess < SMALL_ESS else "note" if share < FAIR_ESS else "good"


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:.3g} to {high:.3g}"
