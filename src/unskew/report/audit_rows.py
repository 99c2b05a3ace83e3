"""An audit as texts: every number written once, the same in the terminal, the notebook and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from unskew.auditing import Audit
from unskew.auditing.spread import Spread
from unskew.report import numbers
from unskew.report.names import clean
from unskew.report.view import unique

T = TypeVar("T")
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the first ``names`` columns are words, the rest numbers."""

    name: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1


@dataclass(frozen=True)
class SupportSheet:
    """What a reading of the log supports: per estimator a mark for every target, and the numbered reasons."""

    reading: str
    propensity: str
    targets: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    reasons: tuple[str, ...]


def tidy(value: T) -> T:
    """The same record with texts that are safe to print."""
    found: Any = value
    if isinstance(value, str):
        found = clean(value)
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{f.name: tidy(getattr(value, f.name)) for f in fields(value)})
    elif isinstance(value, tuple):
        found = tuple(tidy(item) for item in value)
    elif isinstance(value, Mapping):
        found = {tidy(key): tidy(item) for key, item in value.items()}
    return found  # type: ignore[no-any-return]


def said(text: str) -> str:
    """A sentence whose per-cent signs stay with their numbers."""
    return text.replace(" %", f"{numbers.SPACE}%")


def sizes(part: Spread) -> tuple[tuple[str, str], list[int]]:
    """The range of rows, and how many have how many, from the first bin that holds any."""
    counts = list(part.histogram.count)
    first = next(place for place, n in enumerate(counts) if n)
    return (numbers.count(part.quantiles["min"]), numbers.count(part.quantiles["max"])), counts[first:]


def span(audit: Audit) -> tuple[str, str]:
    """The first and last time; of a long span the dates only."""
    t = audit.time
    if t is None:
        return "", ""
    short = t.days is not None and t.days > 3
    return (t.start[:10], t.end[:10]) if short else (t.start.replace("T", " "), t.end.replace("T", " "))


def spark(counts: list[int], most_bars: int = 40) -> str:
    """Counts as little bars, neighbours together where there are too many; nothing at all is a space."""
    step = -(-len(counts) // most_bars)
    counts = [sum(counts[at : at + step]) for at in range(0, len(counts), step or 1)]
    most = max(counts, default=0)
    return "".join(_BARS[-(-8 * n // most) - 1] if n else " " for n in counts) if most else ""


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
    if size.duplicates:
        found.append(("repeated pair" + "s" * (size.duplicates != 1), numbers.count(size.duplicates)))
    if size.dropped:
        found.append(("dropped rows", numbers.count(sum(size.dropped.values()))))
    if size.silent_users:
        found.append(("silent users", numbers.count(size.silent_users)))
    if size.unseen_items:
        found.append(("unseen items", numbers.count(size.unseen_items)))
    return found


def small_share(value: float) -> str:
    """A share in per cent that keeps its first two digits, however small."""
    return numbers.share(value) if value >= 0.001 else f"{100 * value:.2g}{numbers.SPACE}%"


def spreads(audit: Audit, *, wide: bool) -> Sheet:
    """Users and items side by side."""
    inner = ("5%", "25%", "75%", "95%") if wide else ()
    shown = ("min", *inner[:2], "median", *inner[2:], "max") if wide else ("median", "max")
    columns = (
        "",
        "number",
        *(("mean",) if wide else ()),
        *(name.replace("%", f"{numbers.SPACE}%") for name in shown),
        "Gini",
    )
    columns += (
        f"top 1{numbers.SPACE}%",
        *((f"top 10{numbers.SPACE}%",) if wide else ()),
        "KL bits",
        "chance",
        "effective",
    )
    rows = tuple(_spread(name, part, shown) for name, part in (("items", audit.items), ("users", audit.users)))
    return Sheet("Long tail", "rows of each item and of each user", columns, rows)


def _spread(name: str, part: Spread, shown: tuple[str, ...]) -> tuple[str, ...]:
    rows = (numbers.count(part.quantiles[key]) for key in shown)
    wide = "min" in shown
    shares = (numbers.share(part.top_1_percent), *((numbers.share(part.top_10_percent),) if wide else ()))
    bits = (numbers.number(part.kl_bits, 2), numbers.number(part.kl_chance, 2))
    ends = (numbers.number(part.gini, 2), *shares, *bits, numbers.count(part.effective))
    mean = (numbers.number(part.mean, 1),) if wide else ()
    return name, numbers.count(part.number), *mean, *rows, *ends


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
    return _plain(low) if low == high else f"{_plain(low)} to {_plain(high)}"


def _plain(value: float) -> str:
    return f"{value:,.4g}".replace("-", numbers.MINUS)


def values(audit: Audit) -> str:
    """Mean and range of the values in a sentence."""
    v = audit.values
    if v is None:
        return ""
    kinds = f"{v.distinct} different" if v.distinct is not None else "many different"
    zeros = f", {small_share(v.zeros)} zeros" if v.zeros else ""
    return f"mean {numbers.number(v.mean)}, sd {numbers.number(v.sd)}, {kinds}{zeros}"


def contrast(audit: Audit) -> Sheet | None:
    """Value by value, the log against the MCAR log."""
    c = audit.mcar
    if c is None:
        return None
    rows = []
    for v in c.values:
        ends = (
            numbers.DASH
            if v.ratio_low is None or v.ratio_high is None
            else numbers.interval(v.ratio_low, v.ratio_high, 2)
        )
        shares = (numbers.share(v.share), numbers.share(v.share_mcar))
        rows.append((level(v.low, v.high), *shares, numbers.number(v.ratio, 2), ends, numbers.number(v.seen, 4)))
    columns = ("value", "log", "MCAR", "ratio", f"95{numbers.SPACE}% interval", "P(seen | value)")
    return Sheet("Values against the MCAR log", contrast_note(audit), columns, tuple(rows))


def contrast_note(audit: Audit) -> str:
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


def propensity(audit: Audit) -> str:
    """The range and the effective size of the log's own propensities in a sentence."""
    p = audit.propensity
    if p is None:
        return ""
    return (
        f"median {_plain(p.quantiles['median'])}; ess {numbers.count(p.ess)} ({numbers.share(p.ess_share)} of the "
        f"rows), largest weight {numbers.share(p.largest_weight)}; {small_share(p.below_1_percent)} below 0.01, "
        f"{small_share(p.below_1_per_mille)} below 0.001"
    )


def policies(audit: Audit, *, wide: bool) -> list[Sheet]:
    """One row per policy, and one per pair of policies."""
    found = audit.policies
    if found is None:
        return []
    valued = any(p.mean is not None for p in found.policies)
    logged = any(p.ess is not None for p in found.policies)
    columns = ("policy", "rows", "users", *(("items", "effective items") if wide else ("effective",)))
    columns += (("mean value", "se") if wide else ("mean",)) if valued else ()
    columns += ("propensities", "ess") if logged else ()
    rows = []
    for p in found.policies:
        row = (p.name, *(numbers.count(n) for n in (p.rows, p.users, *((p.items,) if wide else ()), p.effective_items)))
        row += ((numbers.number(p.mean), numbers.number(p.se)) if wide else (numbers.number(p.mean),)) if valued else ()
        if logged and p.least_propensity is not None and p.largest_propensity is not None:
            row += (f"{_plain(p.least_propensity)} to {_plain(p.largest_propensity)}", numbers.count(p.ess))
        rows.append(row)
    note = f"{numbers.share(found.shared_users)} of the users have rows of more than one"
    if found.number > len(found.policies):
        note = f"the largest {len(found.policies)} of {found.number}; {note}"
    sheets = [Sheet("Policies", note, columns, tuple(rows))]
    if found.pairs:
        pairs = tuple(
            (f"{p.a} – {p.b}", numbers.number(p.js_bits, 3), numbers.number(p.js_chance, 3)) for p in found.pairs
        )
        about = "Jensen–Shannon divergence of their items, in bits"
        sheets.append(Sheet("Policies apart", about, ("pair", "bits", "chance"), pairs))
    return sheets


def expected(audit: Audit) -> Sheet | None:
    """Effective sample sizes to expect of snips."""
    if not audit.expected:
        return None
    rows = tuple(
        (
            e.propensity,
            e.target,
            *(numbers.count(n) for n in (e.rows, e.ess)),
            *(numbers.share(x) for x in (e.ess_share, e.largest_weight)),
        )
        for e in audit.expected
    )
    columns = ("propensity", "target", "interactions", "ess", "share", "largest weight")
    note = f"snips, random hold-out of 30{numbers.SPACE}%{_every_row(audit)}"
    return Sheet("Effective sample size to expect", note, columns, rows, 2)


def widths(audit: Audit) -> Sheet | None:
    """What weighting does to the standard errors of two kinds of simple lists."""
    if not audit.widths:
        return None
    rows = tuple(
        (
            w.propensity,
            w.listed,
            numbers.count(w.hits),
            _plus_minus(w.naive, w.naive_se),
            _plus_minus(w.snips, w.snips_se),
            numbers.DASH if w.ratio is None else f"{w.ratio:.2g}",
            numbers.DASH if w.ratio_low == w.ratio_high else f"{w.ratio_low:.2g} to {w.ratio_high:.2g}",
        )
        for w in audit.widths
    )
    columns = ("propensity", "ten", "hits", "naive", "snips", "wider", "mostly")
    note = f"recall@10, pooled, ± one standard error, on that hold-out{_every_row(audit)}; of random items 20 lists"
    return Sheet("What weighting does to intervals", note, columns, rows, 2)


def _plus_minus(value: float | None, error: float | None) -> str:
    return numbers.DASH if value is None or error is None else f"{value:.2g} ± {error:.1g}"


def _every_row(audit: Audit) -> str:
    """A remark where nothing says which rows are relevant."""
    known = audit.relevant is not None or audit.feedback in ("implicit", "conversions")
    return "" if known else ", every row taken as relevant"


def command(text: str, width: int) -> str:
    """A command on several lines that can be pasted: broken before options, with backslashes."""
    lines = [""]
    for place, piece in enumerate(text.split(" --")):
        option = piece if not place else f"--{piece}"
        if lines[-1] and len(lines[-1]) + len(option) + 3 > width:
            lines.append(f"  {option}")
        else:
            lines[-1] += f" {option}" if lines[-1] else option
    return " \\\n".join(lines)


def supports(audit: Audit) -> list[SupportSheet]:
    """Estimators × targets, for readings of the log that differ; reasons are numbered from 1, 0 means yes."""
    found: dict[SupportSheet, list[str]] = {}
    for reading in unique(row.reading for row in audit.supports):
        cells = [row for row in audit.supports if row.reading == reading]
        reasons = unique(row.refused for row in cells if row.refused is not None)
        targets = unique(row.target for row in cells)
        rows = []
        for name in unique(row.estimator for row in cells):
            own = {row.target: row.refused for row in cells if row.estimator == name}
            marks = tuple(0 if (reason := own[t]) is None else reasons.index(reason) + 1 for t in targets)
            rows.append((name, marks))
        sheet = SupportSheet("", cells[0].propensity, tuple(targets), tuple(rows), tuple(reasons))
        found.setdefault(sheet, []).append(reading)
    return [replace(sheet, reading=" or ".join(readings)) for sheet, readings in found.items()]
