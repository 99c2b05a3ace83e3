"""The document of an audit: what it found first, then the numbers, and what to do with this log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from unskew.auditing import Audit
from unskew.auditing.places import Place
from unskew.auditing.spread import Spread
from unskew.report import audit_charts as charts
from unskew.report import audit_words as words
from unskew.report import checks_document, numbers
from unskew.report import document as doc
from unskew.report.names import tidy
from unskew.report.texts import glossary, section
from unskew.report.view import unique

WIDE, WIDER = range(100, doc.EVER), range(120, doc.EVER)  # terminals with room for more columns
NARROW = range(100)


def audit_document(audit: Audit) -> doc.Document:
    """What people look at, from an audit whose names are safe to print."""
    audit = tidy(audit)
    size = audit.size
    notes = [*size.notes, *(f"{n:,} rows dropped: {why}" for why, n in size.dropped.items())]
    basis = " ".join(f"{text}." for text in (f"{audit.source}; {words.reading(audit)}", *notes))
    advice = doc.Steps("What to do", tuple((joined(advice.text), advice.command) for advice in audit.advice))
    supports = _supports(audit)
    named = (replace(table, name=table.note[:1].upper() + table.note[1:], note="") for table in supports)
    long_tail = _cards(charts.ranks(audit), charts.tail(audit), legend=("items", "users"))
    time = _cards(charts.periods(audit), charts.newcomers(audit), legend=("new items", "new users"))
    targets = unique(e.target for e in audit.expected)
    weights = _cards(charts.expected(audit), charts.propensities(audit), legend=targets)
    return doc.Document(
        title=doc.Sentence.plain(f"Audit of {PurePath(audit.source).name}"),
        panel=f"Audit of {audit.source}",
        subtitle=words.reading(audit),
        summary=(
            doc.Paragraph(joined(audit.opening), "opening"),
            doc.on_page(doc.Paragraph(basis, "basis")),
            doc.Facts(tuple(words.facts(audit))),
            doc.Sentences(tuple(doc.Sentence.plain(joined(found.text), found.level) for found in audit.findings)),
        ),
        body=(
            doc.on_page(section("audit.advice", advice), section("audit.supports", *named)),
            section("audit.tail", long_tail, _spreads(audit)),
            doc.in_brief(_shape(audit)),
            _values(audit),
            section("audit.time", time, said=f"{words.time(audit)}."),
            section("audit.places", _cards(charts.places(audit)), _places(audit)),
            section("audit.policies", _cards(charts.policies(audit)), *_policy_tables(audit)),
            section("audit.weights", weights, _expected(audit), _widths(audit)),
            _checks(audit),
            doc.in_brief(*supports, advice),
            glossary("audit", *(("checks",) if audit.checks else ())),
        ),
    )


def joined(text: str) -> str:
    """A sentence whose per-cent signs stay with their numbers."""
    return text.replace(" %", f"{numbers.SPACE}%")


def _values(audit: Audit) -> doc.Section:
    legend = () if audit.mcar is None else ("log", "MCAR log")
    drawn = _cards(charts.values(audit), charts.seen(audit), legend=legend)
    lead = "lead" if audit.mcar is None else "lead_mcar"
    return section("audit.values", drawn, _contrast(audit), lead=lead)


def _checks(audit: Audit) -> doc.Section:
    """The checks of propensities; terminals have their findings among the audit's own."""
    if not audit.checks:
        return section("audit.checks")
    said = doc.on_page(checks_document.findings(audit.checks))
    return section("audit.checks", said, *checks_document.blocks(audit.checks))


def _cards(*found: doc.Chart | None, legend: Sequence[str] = ()) -> doc.Cards:
    """Charts, where there is something to draw."""
    swatches = tuple(doc.Swatch(name, f"var(--e{place})") for place, name in enumerate(legend, 1))
    legends = (doc.Legend("", swatches),) if swatches else ()
    return doc.Cards(tuple(chart for chart in found if chart is not None), legends, fit=True)


def _spreads(audit: Audit) -> doc.Table:
    """Users and items side by side."""
    quantiles = ("min", "5%", "25%", "median", "75%", "95%", "max")
    wide = {"mean", "min", "5%", "25%", "75%", "95%", "top 10%"}
    labels = ("number", "mean", *quantiles, "Gini", "top 1%", "top 10%", "KL bits", "chance", "effective")
    found = tuple(
        doc.Column(label.replace("%", f"{numbers.SPACE}%"), terminal=WIDER if label in wide else range(doc.EVER))
        for label in labels
    )
    rows = tuple(_spread(name, part, quantiles) for name, part in (("items", audit.items), ("users", audit.users)))
    return doc.Table("Long tail", "rows of each item and of each user", (doc.Column("", "name"), *found), rows)


def _spread(name: str, part: Spread, quantiles: tuple[str, ...]) -> tuple[str, ...]:
    return (
        name,
        numbers.count(part.number),
        numbers.number(part.mean, 1),
        *(numbers.count(part.quantiles[key]) for key in quantiles),
        numbers.number(part.gini, 2),
        numbers.share(part.top_1_percent),
        numbers.share(part.top_10_percent),
        numbers.number(part.kl_bits, 2),
        numbers.number(part.kl_chance, 2),
        numbers.count(part.effective),
    )


def _shape(audit: Audit) -> doc.Sparks:
    """Little bars for popularity, activity, values, time and propensities, each with its ends and a sentence."""
    rows = [_sizes(name, part) for name, part in (("items", audit.items), ("users", audit.users))]
    rows.append(doc.Spark("", words.exponent(audit)))
    if (v := audit.values) is not None:
        ends = (words.level(v.minimum, v.minimum), words.level(v.maximum, v.maximum))
        rows.append(doc.Spark("values", words.values(v), ends, tuple(level.rows for level in v.levels)))
        if audit.mcar is not None:
            counts = tuple(value.rows_mcar for value in audit.mcar.values)
            rows.append(doc.Spark("MCAR", "the same values there", ends, counts))
    if (t := audit.time) is not None:
        rows.append(doc.Spark("time", "", words.span(t), tuple(period.rows for period in t.periods)))
        rows.append(doc.Spark("", words.time(audit)))
    if (p := audit.propensity) is not None:
        rows.append(doc.Spark("propensity", "", (f"{p.minimum:.3g}", f"{p.maximum:.3g}"), tuple(p.histogram.count)))
        rows.append(doc.Spark("", words.propensity(p)))
    return doc.Sparks("Shape", tuple(rows))


def _sizes(name: str, part: Spread) -> doc.Spark:
    """The range of rows, and how many have how many, from the first bin that holds any."""
    counts = part.histogram.count
    first = next(place for place, n in enumerate(counts) if n)
    ends = (numbers.count(part.quantiles["min"]), numbers.count(part.quantiles["max"]))
    return doc.Spark(name, f"{name} by their number of rows", ends, tuple(counts[first:]))


def _contrast(audit: Audit) -> doc.Table:
    """Value by value, the log against the MCAR log."""
    rows = []
    for v in () if audit.mcar is None else audit.mcar.values:
        ends = numbers.interval(v.ratio_low, v.ratio_high, 2)
        shares = (numbers.share(v.share), numbers.share(v.share_mcar))
        rows.append((words.level(v.low, v.high), *shares, numbers.number(v.ratio, 2), ends, numbers.number(v.seen, 4)))
    labels = ("log", "MCAR", "ratio", f"95{numbers.SPACE}% interval", "P(seen | value)")
    heads = doc.columns(("value",), labels)
    return doc.Table("Values against the MCAR log", words.contrast(audit), heads, tuple(rows))


def _places(audit: Audit) -> doc.Table:
    """One row per place."""
    found = audit.places
    rows = () if found is None else tuple((words.place(p), *_place(p, rate=found.rates)) for p in found.places)
    measured = found is not None and found.places[0].mean is not None
    shown = "" if found is None else words.by_place(found)
    heads = (doc.Column("place", "name"), doc.Column("rows"), doc.Column("share of the rows"))
    last = (doc.Column(shown),) if measured else ()
    return doc.Table("Places", "" if found is None else words.places(found), (*heads, *last), rows)


def _place(p: Place, *, rate: bool) -> tuple[str, ...]:
    shares = (numbers.count(p.rows), numbers.share(p.share))
    return shares if p.mean is None else (*shares, numbers.share(p.mean) if rate else numbers.number(p.mean))


def _policy_tables(audit: Audit) -> list[doc.Table]:
    """One row per policy, and one per pair of policies."""
    found = audit.policies
    if found is None:
        return []
    valued = any(p.mean is not None for p in found.policies)
    logged = any(p.ess is not None for p in found.policies)
    heads = (
        doc.Column("policy", "name"),
        doc.Column("rows"),
        doc.Column("users"),
        doc.Column("items", terminal=WIDE),
        doc.Column("effective items", terminal=WIDE),
        doc.Column("effective", page=False, terminal=NARROW),
        doc.Column("mean value", page=valued, terminal=WIDE if valued else doc.NEVER),
        doc.Column("mean", page=False, terminal=NARROW if valued else doc.NEVER),
        doc.Column("se", page=valued, terminal=WIDE if valued else doc.NEVER),
        doc.Column("propensities", page=logged, terminal=range(doc.EVER * logged)),
        doc.Column("ess", page=logged, terminal=range(doc.EVER * logged)),
    )
    rows = []
    for p in found.policies:
        ends = numbers.DASH
        if p.least_propensity is not None and p.largest_propensity is not None:
            ends = f"{words.plain(p.least_propensity)} to {words.plain(p.largest_propensity)}"
        sizes = tuple(numbers.count(n) for n in (p.rows, p.users, p.items, p.effective_items, p.effective_items))
        mean = numbers.number(p.mean)
        rows.append((p.name, *sizes, mean, mean, numbers.number(p.se), ends, numbers.count(p.ess)))
    note = f"{numbers.share(found.shared_users)} of the users have rows of more than one"
    if found.number > len(found.policies):
        note = f"the largest {len(found.policies)} of {found.number}; {note}"
    tables = [doc.Table("Policies", note, heads, tuple(rows))]
    if found.pairs:
        pairs = tuple(
            (f"{p.a} – {p.b}", numbers.number(p.js_bits, 3), numbers.number(p.js_chance, 3)) for p in found.pairs
        )
        about = "Jensen–Shannon divergence of their items, in bits"
        tables.append(doc.Table("Policies apart", about, doc.columns(("pair",), ("bits", "chance")), pairs))
    return tables


def _expected(audit: Audit) -> doc.Table:
    """Effective sample sizes to expect of snips."""
    rows = tuple(
        (
            e.propensity,
            e.target,
            *(numbers.count(n) for n in (e.rows, e.ess)),
            *(numbers.share(x) for x in (e.ess_share, e.largest_weight)),
        )
        for e in audit.expected
    )
    heads = doc.columns(("propensity", "target"), ("interactions", "ess", "share", "largest weight"))
    note = f"snips, random hold-out of 30{numbers.SPACE}%{words.every_row(audit)}"
    return doc.Table("Effective sample size to expect", note, heads, rows)


def _widths(audit: Audit) -> doc.Table:
    """What weighting does to standard errors of two kinds of simple lists; a single propensity stands in the note."""
    propensities = unique(w.propensity for w in audit.widths)
    several = len(propensities) > 1
    rows = tuple(
        (
            *((w.propensity,) if several else ()),
            w.listed,
            numbers.count(w.hits),
            _plus_minus(w.naive, w.naive_se),
            _plus_minus(w.snips, w.snips_se),
            numbers.DASH if w.ratio is None else f"{w.ratio:.2g}",
            numbers.DASH if w.ratio_low == w.ratio_high else f"{w.ratio_low:.2g} to {w.ratio_high:.2g}",
        )
        for w in audit.widths
    )
    names = ("propensity", "ten") if several else ("ten",)
    heads = doc.columns(names, ("hits", "naive", "snips", "wider", "mostly"))
    where = f"on that hold-out{words.every_row(audit)}; of random items 20 lists"
    weights = "" if several else f"{''.join(propensities)}, "
    note = f"{weights}recall@10, pooled, ± one standard error, {where}"
    return doc.Table("What weighting does to intervals", note, heads, rows)


def _plus_minus(value: float | None, error: float | None) -> str:
    return numbers.DASH if value is None or error is None else f"{value:.2g} ± {error:.1g}"


def _supports(audit: Audit) -> tuple[doc.Table, ...]:
    """Estimators × targets, for readings of the log that differ; the reasons of refusals are footnotes."""
    found: dict[doc.Table, list[str]] = {}
    for reading in unique(row.reading for row in audit.supports):
        cells = [row for row in audit.supports if row.reading == reading]
        reasons = unique(row.refused for row in cells if row.refused is not None)
        answers: dict[str | None, doc.Cell] = {
            reason: doc.Cell("no", "worse", note=note) for note, reason in enumerate(reasons, 1)
        }
        answers |= {None: doc.Cell("yes", "better")}
        targets = unique(row.target for row in cells)
        rows: list[tuple[str | doc.Cell, ...]] = []
        for name in unique(row.estimator for row in cells):
            own = {row.target: row.refused for row in cells if row.estimator == name}
            rows.append((name, *(answers[own[target]] for target in targets)))
        heads = (doc.Column("estimator", "name"), *(doc.Column(target, "tag") for target in targets))
        about = f"{cells[0].propensity} propensities; recall@10"
        table = doc.Table("What this log supports", about, heads, tuple(rows), "supports", footnotes=tuple(reasons))
        found.setdefault(table, []).append(reading)
    return tuple(replace(table, note=f"read as {' or '.join(read)}; {table.note}") for table, read in found.items())
