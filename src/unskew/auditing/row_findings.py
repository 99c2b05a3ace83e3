"""Findings about the rows of a log: their places on the page, policies, times, values, users, repeats.

``findings.py`` has all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unskew.auditing.contrast import Z
from unskew.auditing.looks import HELD_OUT
from unskew.auditing.opening import NOUNS, count, percent
from unskew.auditing.places import Places
from unskew.log.interactions import MOSTLY, mostly_repeated

if TYPE_CHECKING:
    from unskew.auditing.record import Audit

FEW_USERS = 100
SKEWED = 0.5  # bits of KL beyond chance
DRIFTS = 0.05  # bits of Jensen–Shannon beyond chance
ENOUGH = 25  # rows of a value in each log, for its ratio to be quoted


@dataclass(frozen=True)
class Finding:
    """One sentence or a few; ``level`` is ``good``, ``note`` or ``warning``, ``code`` what is said in any wording."""

    level: str
    text: str
    code: str


def say(level: str, code: str, *sentences: str) -> Finding:
    """A finding of these sentences; empty ones are left out."""
    return Finding(level, " ".join(sentence for sentence in sentences if sentence), code)


def _places(audit: Audit) -> Iterator[Finding]:
    found = audit.places
    if found is None:
        return
    yield say(
        "warning",
        "places",
        f"Items were shown at several places of the page (column 'position', {found.least:,} to {found.largest:,}).",
        _by_place(audit, found),
        "Fewer people look at lower places, and better items may have stood higher: this log cannot tell the two",
        "apart. Lists that resemble the old order look too good, and an evaluation says ahead at most, if people look",
        "at all places alike. Log for each row the probability of the item at its place, and leave some chance in the",
        "order.",
    )


def _by_place(audit: Audit, found: Places) -> str:
    """The first place beside the last one; of rates beside the last one that has enough rows to speak of."""
    known = [p for p in found.places if p.low == p.high and (p.mean is None or p.rows >= ENOUGH)]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    if first.mean is None or last.mean is None:
        share, rest = percent(first.share), percent(last.share)
        return f"Place {first.low:,} has {share} of the {NOUNS['implicit']}, place {last.low:,} has {rest}."
    what, shown = ("mean value", "{:.3g}".format) if not found.rates else ("share that is relevant", percent)
    if found.rates and audit.feedback == "conversions":
        what = "click rate"
    return f"The {what} is {shown(first.mean)} at place {first.low:,} and {shown(last.mean)} at place {last.low:,}."


def _policies(audit: Audit) -> Iterator[Finding]:
    found = audit.policies
    if found is None or found.number == 1:
        return
    most = max(found.pairs, key=lambda pair: pair.js_bits - pair.js_chance)
    if most.js_bits <= most.js_chance + DRIFTS:
        yield say(
            "good", "policies-alike", f"The {found.number} policies chose items alike (differences are within chance)."
        )
        return
    yield say(
        "warning",
        "policies-differ",
        f"The log was written by {found.number} policies that chose differently: {most.a} and {most.b} differ by",
        f"{most.js_bits:.2f} bits (chance: {most.js_chance:.2f}). Each favours recommenders that resemble it; look at",
        "them apart with by='policy'.",
    )


def _time(audit: Audit) -> Iterator[Finding]:
    time = audit.time
    if time is None:
        yield say(
            "note", "no-time", "There is no column 'time': a hold-out can be random only, and drift cannot be seen."
        )
        return
    if time.drift is None or time.ahead is None:
        yield say("note", "tied-times", "Too many rows share one time to put them in order: drift cannot be seen.")
        return
    d, ahead = time.drift, time.ahead
    if d.js_bits > d.js_chance + DRIFTS:
        yield say(
            "note",
            "items-drift",
            f"What is seen drifts: items of the first and last third differ by {d.js_bits:.2f} bits (chance:",
            f"{d.js_chance:.2f}). Random hold-outs let recommenders see the future; compare with one by time.",
        )
    else:
        yield say(
            "good", "items-steady", f"Items hardly drift over time ({d.js_bits:.2f} bits, chance: {d.js_chance:.2f})."
        )
    if max(ahead.new_items, ahead.new_users) > 0.1:
        yield say(
            "note",
            "newcomers",
            f"In a hold-out of the last {percent(HELD_OUT)}, {percent(ahead.new_items)} of the interactions would be",
            f"on items and {percent(ahead.new_users)} by users without an earlier row, and lack training support.",
        )
    if d.difference is not None and d.se is not None and abs(d.difference) > Z * d.se > 0.0:
        yield say(
            "note",
            "values-drift",
            f"Values drift: their mean goes from {d.mean_first:.3f} in the first third to {d.mean_last:.3f} in the",
            f"last ({d.difference:+.3f}, standard error {d.se:.3f}).",
        )


def _values(audit: Audit) -> Iterator[Finding]:
    values = audit.values
    if values is None:
        return
    if values.constant:
        yield say(
            "warning",
            "constant-values",
            f"All values are {values.minimum:g}: they say nothing. Use feedback='implicit'.",
        )
    elif audit.feedback is None:
        yield say(
            "note",
            "unknown-feedback",
            "There is a column 'value', and nothing says what it means: evaluating needs feedback='conversions',",
            "ratings or implicit, or a threshold such as relevant='>=4'.",
        )
    elif audit.feedback == "ratings" and audit.relevant is None:
        yield say(
            "note",
            "no-threshold",
            "A rating alone does not say what is relevant: per_user and pooled need relevant='>=4'.",
        )
    elif audit.feedback == "conversions" and audit.positives:
        yield say(
            "warning",
            "positives-only",
            "Conversions without a single zero: is it a log of positives (feedback='implicit')?",
        )


def _users(audit: Audit) -> Iterator[Finding]:
    users = audit.users
    if users.number == 1:
        yield say("warning", "one-user", "There is one user only: no interval and no comparison can be had.")
        return
    if users.number < FEW_USERS:
        yield say(
            "warning",
            "few-users",
            f"There are {users.number} users only: users are the sample, so intervals will be wide.",
        )
    if users.single > 0.5:
        yield say(
            "note",
            "single-interactions",
            f"{percent(users.single)} of the users have a single interaction. Under per_user, snips and gs then equal",
            "naive; use target pooled.",
        )
    if users.kl_bits > users.kl_chance + SKEWED:
        yield say(
            "note",
            "uneven-users",
            f"Users differ in activity: the most active 1 % have {percent(users.top_1_percent)} of the interactions.",
            "Pooled estimates mostly describe them; per_user counts everybody alike.",
        )


def _rows(audit: Audit) -> Iterator[Finding]:
    size = audit.size
    if size.duplicates > MOSTLY * size.read:
        text = mostly_repeated(size.duplicates, size.read, {})
        yield say("warning", "mostly-repeated", text, "One row of each pair is kept here.")
    elif size.duplicates:
        yield say(
            "note",
            "repeated-pairs",
            f"{count(size.duplicates, 'row repeats', 'rows repeat')} a pair",
            f"({percent(size.duplicates / size.read)}).",
            "One row of each pair is kept here, as evaluate does with duplicates='first'.",
        )
    for reason, rows in size.dropped.items():
        yield say("note", "dropped-rows", f"{count(rows, 'row was', 'rows were')} dropped: {reason}.")


RULES = (_places, _policies, _time, _values, _users, _rows)
