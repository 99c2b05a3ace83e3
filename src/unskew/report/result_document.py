"""The document of a result: the verdicts in words, charts, every number, what was read, and a glossary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unskew.report import document as doc
from unskew.report import inputs, numbers, words
from unskew.report import result_charts as charts
from unskew.report.result_tables import estimate_table, verdict_table
from unskew.report.texts import glossary, section
from unskew.report.view import Facet, View, grouped, unique
from unskew.result import Result, Verdict

Both = dict[Facet, tuple[doc.Table, doc.Table]]  # the estimates and the verdicts of each facet

SHOWN = 3  # charts, tables and segments that are not folded away
SENTENCES = 6
ROWS = 36  # of verdicts on a terminal, whose doubts are told
FACETS = ("metric", "target", "segment")
COLOURS = {"better, ahead": "good", "worse, behind": "bad", "undecided": "calm"}
VERDICTS = doc.Legend("Verdicts", tuple(doc.Swatch(name, f"var(--{colour})") for name, colour in COLOURS.items()))


def result_document(result: Result) -> doc.Document:
    """What people look at, from a result whose names are safe to print."""
    view = View.of(result)
    said = words.headline_sentences(view, brief=True)
    facet = view.headline
    tables = {facet: (estimate_table(view, facet), verdict_table(view, facet)) for facet in view.facets}
    return doc.Document(
        title=words.title(view),
        panel="" if len(said) > 1 or not view.debiased else "Verdict",
        subtitle=f"{view.carrier(facet)}, {facet.target}" if facet else "",
        summary=_summary(view, said),
        body=(
            doc.on_page(*_charts(view), _weights(view), _segments(view, tables)),
            *_tables(view, tables),
            *_inputs(view),
            glossary("result"),
        ),
    )


def _summary(view: View, said: list[doc.Sentence]) -> tuple[doc.Block, ...]:
    if not view.debiased:
        said = [doc.Sentence(sentence.spans, "caution") for sentence in said]
    agreement = words.agreement(view)
    role = "disagreement" if agreement.startswith(words.NOT_ALL) else "agreement"
    return (
        doc.Sentences(tuple(said), "", SENTENCES, "more pairs", ".verdicts() has them all"),
        doc.Paragraph(agreement, role),
        doc.on_page(doc.Paragraph(_basis(view), "basis")),
        doc.Callout("How far to trust this", tuple(words.trust(view)), "doubt"),
        doc.Callout("Warnings", view.result.warnings, "warning"),
        doc.on_page(doc.Facts(_facts(view))),
    )


def _basis(view: View) -> str:
    facet = view.headline
    if facet is None:
        return ""
    carrier = view.carrier(facet)
    cells = view.estimates(facet, carrier)
    propensity = f", propensity {cells[0].propensity}" if cells[0].propensity else ""
    users = numbers.spread((e.users for e in cells), numbers.count)
    clicks = numbers.spread((e.interactions for e in cells), numbers.count)
    together = view.comparisons(facet, carrier)
    corrected = (
        f" Intervals of differences and p-values hold for {together} comparisons together." if together > 1 else ""
    )
    several = len(view.facets) > 1 or len(view.estimators) > 1
    others = " Other metrics, targets and estimators, views of the same question, follow below." if several else ""
    return (
        f"Estimator {carrier}, target {facet.target}{propensity}; {users} users with {clicks} held-out interactions."
        f"{corrected}{others}"
    )


def _facts(view: View) -> tuple[tuple[str, str], ...]:
    counted = {
        "models": len(view.models),
        "metrics": len(view.metrics),
        "estimators": len(view.estimators),
        "targets": len(view.targets),
        "segments": len(view.segments),
    }
    facts = [(name if n != 1 else name[:-1], numbers.count(n)) for name, n in counted.items() if n]
    cells = view.estimates(view.headline, view.carrier(view.headline)) if view.headline else []
    for name, values in (("users", [e.users for e in cells]), ("interactions", [e.interactions for e in cells])):
        if values:
            facts.append((name, numbers.count(max(values))))
    return tuple(facts)


def _charts(view: View) -> tuple[doc.Block, ...]:
    """Differences, estimates, and how the picture changes; beside each other where each has one chart."""
    whole = view.facets_of(view.whole)
    ahead = drawn(view, whole, charts.differences, (charts.legend(view, _compared(view)), VERDICTS))
    scores = drawn(view, whole, charts.forest, (charts.legend(view, view.estimators),))
    slopes = drawn(view, whole, charts.slope)
    found = (
        section("result.differences", ahead),
        section("result.estimates", scores, lead="lead" if view.debiased else "lead_not_debiased"),
        section("result.change", slopes),
    )
    single = len(scores.cards) == 1 and len(ahead.cards) <= 1
    return (doc.SideBySide(found),) if single else found


def drawn(
    view: View,
    facets: Sequence[Facet],
    draw: Callable[[View, Facet], doc.Chart | None],
    legends: tuple[doc.Legend, ...] = (),
    shown: int = SHOWN,
) -> doc.Cards:
    """The charts of some facets, where there is something to draw."""
    found = tuple(chart for facet in facets if (chart := draw(view, facet)) is not None)
    return doc.Cards(found, legends, shown=shown)


def _compared(view: View) -> list[str]:
    """The estimators that the charts of differences show: the one that counts in each facet, and naive."""
    shown = {name for facet in view.facets for name in (view.carrier(facet), view.naive(facet)) if name}
    return [name for name in view.estimators if name in shown]


def _weights(view: View) -> doc.Section:
    there = [w for w in view.result.weights if w.segment == view.whole and w.estimator in view.estimators]
    found = tuple(chart for w in there if (chart := charts.weights(view, w)) is not None)
    return section("result.weights", doc.Cards(found, shown=SHOWN))


def _segments(view: View, tables: Both) -> doc.Section:
    names = [name for name in view.segments if name != view.whole]
    folded = (_segment(view, tables, name, place < SHOWN) for place, name in enumerate(names))
    return section("result.segments", *(_overview(view) if names else ()), *folded)


def _segment(view: View, tables: Both, name: str, opened: bool) -> doc.Folded:
    facets = view.facets_of(name)
    users = numbers.spread((e.users for facet in facets for e in view.estimates(facet)), numbers.count)
    found = (table for facet in facets for table in tables[facet] if table.rows)
    return doc.Folded(name, f"{users} users", (drawn(view, facets, charts.forest), *found), opened)


def _overview(view: View) -> tuple[doc.Block, ...]:
    """The headline's first pairs in every segment, on one chart."""
    facet = view.headline
    if facet is None:
        return ()
    carrier = view.carrier(facet)
    pairs = unique((v.a, v.b) for v in view.verdicts(facet, carrier))[:SHOWN]
    everywhere = [facet, *(facet._replace(segment=name) for name in view.segments)]
    rows = [
        (f"{place.segment or 'all users'}" + (f": {v.a} − {v.b}" if len(pairs) > 1 else ""), v)
        for place in unique(everywhere)
        for v in view.verdicts(place, carrier)
        if (v.a, v.b) in pairs
    ]
    name = f"{pairs[0][0]} − {pairs[0][1]}, by segment" if len(pairs) == 1 else "Differences by segment"
    chart = charts.differences(view, facet, rows, (name, f"{facet.metric}, {facet.target}, {carrier}"))
    return (doc.Cards((chart,)),) if chart is not None else ()


def _tables(view: View, tables: Both) -> tuple[doc.Block, ...]:
    """Every estimate and every verdict; on a page those of segments stand with their segment."""
    if not view.facets:
        return ()
    rows = [v for facet in view.facets for v in view.by_pair(facet)]
    differs = any(words.disagreement(v, view.by_naive(v)) for v in rows)
    return (
        doc.on_page(section("result.tables", *_all(tables, view.facets_of(view.whole)), _promises(view))),
        doc.in_brief(
            *_all(tables, view.facets),
            doc.Paragraph("naive says something else" if differs else "", "disagreement"),
            _doubts(rows[:ROWS]),
        ),
    )


def _all(tables: Both, facets: list[Facet]) -> tuple[doc.Tables, doc.Tables]:
    estimates = tuple(tables[facet][0] for facet in facets)
    verdicts = tuple(tables[facet][1] for facet in facets if tables[facet][1].rows)
    return (
        doc.Tables(estimates, "Estimates", FACETS, SHOWN, ".table()"),
        doc.Tables(verdicts, "Verdicts", FACETS, SHOWN, ".verdicts()"),
    )


def _doubts(rows: Sequence[Verdict]) -> doc.Sentences:
    """Why pairs are undecided, or what makes their verdicts doubtful: each reason once, with the rows it is about."""
    said: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if row.trust:
            where = ", ".join(text for text in (f"{row.a} − {row.b}", row.metric, row.target, row.segment) if text)
            said.setdefault(row.trust, {}).setdefault(where, []).append(row.estimator)
    found = []
    for text, places in said.items():
        cells = [f"{where}, {' and '.join(names)}" for where, names in places.items()]
        more = f" and {len(cells) - 2} more" if len(cells) > 2 else ""
        found.append(doc.Sentence.plain(f"{'; '.join(cells[:2])}{more}: {text}", "doubt"))
    return doc.Sentences(tuple(found), "", SENTENCES, "more reasons", "column trust of .verdicts()")


def _promises(view: View) -> doc.Table:
    """Which estimator claims what; the cells are named only where an estimator claims different things."""
    promising = [e for e in view.result.estimates if e.promise]
    said = grouped(((e.estimator, e.promise), f"{e.metric} {e.target}") for e in promising)
    often = [estimator for estimator, _ in said]
    rows = tuple(
        (estimator, claim, ", ".join(unique(cells)) if often.count(estimator) > 1 else "all metrics and targets")
        for (estimator, claim), cells in said.items()
    )
    heads = (*doc.columns(("estimator",), ()), doc.Column("claim", "text"), doc.Column("for", "aside"))
    return doc.Table("What each estimator may claim", "", heads, rows, "claims")


def _inputs(view: View) -> tuple[doc.Block, ...]:
    """What was read, dropped and refused: in full on a page, a line for each elsewhere."""
    lines = [doc.Sentence.plain(line, "input") for line in words.read(view)]
    lines += [doc.Sentence.plain(line, "refused") for line in words.refused(view)[:SENTENCES]]
    account = view.result.inputs
    ranked = any(traits.ranked for traits in view.result.metrics.values()) or not view.result.metrics
    page = section("result.inputs", doc.Cards(inputs.cards(account, ranked)), *inputs.tables(account))
    return doc.in_brief(doc.Sentences(tuple(lines), "Inputs")), doc.on_page(page)
