"""What an audit says in words: every number written once, the same in the terminal, the notebook and the page."""

from __future__ import annotations

from unskew.auditing import Audit
from unskew.auditing.places import Place, Places
from unskew.auditing.times import Time
from unskew.auditing.values import Values
from unskew.auditing.weights import Propensities
from unskew.report import numbers
from unskew.report.numbers import small_share


def span(t: Time) -> tuple[str, str]:
    """The first and last time; of a long span the dates only."""
    short = t.days is not None and t.days > 3
    return (t.start[:10], t.end[:10]) if short else (t.start.replace("T", " "), t.end.replace("T", " "))


def reading(audit: Audit) -> str:
    """What a row is taken to say."""
    return (audit.feedback or "meaning of values not stated") + (
        f", relevant {audit.relevant}" if audit.relevant else ""
    )


def facts(audit: Audit) -> list[tuple[str, str]]:
    """The sizes, as name and text."""
    size = audit.size
    found = [
        ("interactions", numbers.count(size.rows)),
        ("users", numbers.count(size.users)),
        ("items", numbers.count(size.items)),
        ("density", small_share(size.density)),
    ]
    beside = {
        "repeated pair" + "s" * (size.duplicates != 1): size.duplicates,
        "dropped rows": sum(size.dropped.values()),
        "silent users": size.silent_users,
        "unseen items": size.unseen_items,
    }
    return found + [(name, numbers.count(number)) for name, number in beside.items() if number]


def exponent(audit: Audit) -> str:
    """The popularity exponent in a sentence."""
    law = audit.exponent
    if law is None:
        return "too few items with different counts for an exponent"
    fit = "" if law.fits else "; but this tail is no power law"
    return (
        f"count ∝ rank^−{numbers.number(law.zipf, 2)} (±{numbers.number(law.zipf_se, 2)}; α = "
        f"{numbers.number(law.alpha, 2)} ± {numbers.number(law.se, 2)}) over the {numbers.count(law.items)} items with "
        f"{numbers.count(law.from_count)} rows or more, {numbers.share(law.row_share)} of all rows{fit}"
    )


def level(low: float, high: float) -> str:
    """A value or a bin of values."""
    return plain(low) if low == high else f"{plain(low)} to {plain(high)}"


def plain(value: float) -> str:
    """Four significant digits."""
    return f"{value:,.4g}".replace("-", numbers.MINUS)


def values(v: Values) -> str:
    """Mean and range of the values in a sentence."""
    kinds = f"{v.distinct} different" if v.distinct is not None else "many different"
    zeros = f", {small_share(v.zeros)} zeros" if v.zeros else ""
    return f"mean {numbers.number(v.mean)}, sd {numbers.number(v.sd)}, {kinds}{zeros}"


def contrast(audit: Audit) -> str:
    """Distance and test in a sentence."""
    c = audit.mcar
    if c is None:
        return ""
    means = f"mean {numbers.number(c.mean, 3)} against {numbers.number(c.mean_mcar, 3)}"
    test = "" if c.p is None else f", {numbers.p_phrase(c.p)} (clustered by user)"
    return f"{means}; total variation distance {numbers.number(c.distance, 3)}{test}"


def time(audit: Audit) -> str:
    """Span, drift and newcomers in a sentence."""
    t = audit.time
    if t is None:
        return ""
    known = t.scale if t.scale in ("datetime", "number") else f"read as {t.scale}"
    days = "" if t.days is None else f"{numbers.number(t.days, 1 if t.days < 100 else 0)} days, "
    text = f"{days}counted by {t.width}" + ("" if t.scale == "datetime" else f" ({known})")
    if t.drift is not None:
        d = t.drift
        text += (
            f"; items of the first and last third differ by {numbers.number(d.js_bits, 2)} bits "
            f"(chance {numbers.number(d.js_chance, 2)})"
        )
    if t.ahead is not None:
        text += (
            f"; of the last 30{numbers.SPACE}%, {numbers.share(t.ahead.new_items)} are on new items, "
            f"{numbers.share(t.ahead.new_users)} by new users"
        )
    return text


def place(p: Place) -> str:
    """A place, or all that lie beyond those that are counted."""
    return f"{p.low:,}" if p.low == p.high else f"{p.low:,} to {p.high:,}"


def place_in_words(p: Place, shown: str) -> str:
    """A place with its rows, and what is shown of it."""
    where, rows = f"place {place(p)}", f"{numbers.count(p.rows)} rows"
    if p.mean is None:
        return f"{where}: {rows}, {numbers.share(p.share)} of the clicks"
    return f"{where}: {rows}, {shown} {numbers.number(p.mean)}"


def by_place(p: Places) -> str:
    """What is shown of every place."""
    if p.places[0].mean is None:
        return "share of the clicks"
    return "rate" if p.rates else "mean value"


def places(p: Places) -> str:
    """First and last place, and how many rows have none."""
    unknown = f"; {numbers.count(p.unknown)} rows have none" if p.unknown else ""
    return f"places {p.least:,} to {p.largest:,}{unknown}"


def propensity(p: Propensities) -> str:
    """The range and the effective size of the log's own propensities in a sentence."""
    by = f"estimated by {p.estimated_by}; " if p.estimated_by else ""
    return (
        f"{by}median {plain(p.quantiles['median'])}; ess {numbers.count(p.ess)} ({numbers.share(p.ess_share)} of the "
        f"rows), largest weight {numbers.share(p.largest_weight)}; {small_share(p.below_1_percent)} below 0.01, "
        f"{small_share(p.below_1_per_mille)} below 0.001"
    )


def every_row(audit: Audit) -> str:
    """A remark where nothing says which rows are relevant."""
    known = audit.relevant is not None or audit.feedback in ("implicit", "conversions")
    return "" if known else ", every row taken as relevant"
