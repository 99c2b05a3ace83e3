"""The document of a result: the verdicts in words, charts, every number, what was read, and a glossary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unskew.report import document as doc
from unskew.report import inputs, numbers, words
from unskew.report import result_charts as charts
from unskew.report.glossary import glossary
from unskew.report.result_tables import estimate_table, verdict_table
from unskew.report.view import Facet, View, unique
from unskew.result import Result, Verdict

SHOWN = 3  # charts, tables and segments that are not folded away
SENTENCES = 6
ROWS = 36  # of verdicts on a terminal, whose doubts are told
FACETS = ("metric", "target", "segment")


def result_document(result: Result) -> doc.Document:
    """What people look at, from a result whose names are safe to print."""
    view = View.of(result)
    said = words.headline_sentences(view, brief=True)
    facet = view.headline
    title = words.title(view)
    return doc.Document(
        title=title,
        panel="" if len(said) > 1 or not view.debiased else "Verdict",
        subtitle=f"{view.carrier(facet)}, {facet.target}" if facet else "",
        summary=_summary(view, said),
        body=(
            doc.on_page(*_charts(view), *_weights(view), *_segments(view)),
            *_tables(view),
            *_inputs(view),
            glossary("result"),
        ),
    )


def _summary(view: View, said: list[doc.Sentence]) -> tuple[doc.Block, ...]:
    if not view.debiased:
        said = [doc.Sentence(sentence.spans, "caution") for sentence in said]
    found: list[doc.Block] = [doc.Sentences(tuple(said), "", SENTENCES, "more pairs", ".verdicts() has them all")]
    if agreement := words.agreement(view):
        found.append(doc.Paragraph(agreement, "disagreement" if agreement.startswith(words.NOT_ALL) else "agreement"))
    if basis := _basis(view):
        found.append(doc.on_page(doc.Paragraph(basis, "basis")))
    if trust := words.trust(view):
        found.append(doc.Callout("How far to trust this", tuple(trust), "doubt"))
    if view.result.warnings:
        found.append(doc.Callout("Warnings", view.result.warnings, "warning"))
    return (*found, doc.on_page(doc.Facts(_facts(view))))


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
    lead = (
        "First model minus second, with its interval. To the right of the line the first scores higher. Shapes are "
        "estimators, colours are verdicts; a hollow mark has no interval."
    )
    verdicts = doc.Legend(
        "Verdicts",
        (
            doc.Swatch("better, ahead", "var(--good)"),
            doc.Swatch("worse, behind", "var(--bad)"),
            doc.Swatch("undecided", "var(--calm)"),
        ),
    )
    ahead = drawn(view, whole, charts.differences, (charts.legend(view, _compared(view)), verdicts))
    scores = drawn(view, whole, charts.forest, (charts.legend(view, view.estimators),))
    slopes = drawn(view, whole, charts.slope)
    debiased = "What each model would score if everything had been seen, with intervals."
    as_it_is = (
        "What each model scores on the log as it is, with intervals. If everything had been seen, it could be very "
        "different."
    )
    crossing = (
        "From the naive to the debiased estimate of each model. Lines that cross are models that change places; the "
        "favourites of both sides are coloured."
    )
    known = (
        doc.Section("differences", "Who is ahead", ahead, lead),
        doc.Section("estimates", "Estimates", scores, debiased if view.debiased else as_it_is),
        doc.Section("change", "What changes", slopes, crossing),
    )
    found = tuple(section for section in known if section.blocks)
    single = all(len(cards.cards) == 1 for cards in (*ahead, *scores))
    return (doc.SideBySide(found),) if found and single else found


def drawn(
    view: View,
    facets: Sequence[Facet],
    draw: Callable[[View, Facet], doc.Chart | None],
    legends: tuple[doc.Legend, ...] = (),
    shown: int = SHOWN,
) -> tuple[doc.Cards, ...]:
    """The charts of some facets, where there is something to draw."""
    found = tuple(chart for facet in facets if (chart := draw(view, facet)) is not None)
    return (doc.Cards(found, legends, shown=shown),) if found else ()


def _compared(view: View) -> list[str]:
    """The estimators that the charts of differences show: the one that counts in each facet, and naive."""
    shown = {name for facet in view.facets for name in (view.carrier(facet), view.naive(facet)) if name}
    return [name for name in view.estimators if name in shown]


def _weights(view: View) -> tuple[doc.Block, ...]:
    there = [w for w in view.result.weights if w.segment == view.whole and w.estimator in view.estimators]
    found = tuple(chart for w in there if (chart := charts.weights(view, w)) is not None)
    lead = (
        "How many held-out interactions carry which weight. A long tail to the right means that few interactions "
        "decide: the effective sample size falls."
    )
    return (doc.Section("weights", "Weights", (doc.Cards(found, shown=SHOWN),), lead),) if found else ()


def _segments(view: View) -> tuple[doc.Block, ...]:
    names = [name for name in view.segments if name != view.whole]
    if not names:
        return ()
    blocks = [*_overview(view), *(_segment(view, name, place < SHOWN) for place, name in enumerate(names))]
    return (doc.Section("segments", "Segments", tuple(blocks), "The same questions, asked of some of the users only."),)


def _segment(view: View, name: str, opened: bool) -> doc.Folded:
    facets = view.facets_of(name)
    users = numbers.spread((e.users for facet in facets for e in view.estimates(facet)), numbers.count)
    tables = [
        table for facet in facets for table in (estimate_table(view, facet), verdict_table(view, facet)) if table.rows
    ]
    return doc.Folded(name, f"{users} users", (*drawn(view, facets, charts.forest), *tables), opened)


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


def _tables(view: View) -> tuple[doc.Block, ...]:
    """Every estimate and every verdict; on a page those of segments stand with their segment."""
    if not view.facets:
        return ()
    whole = view.facets_of(view.whole)
    lead = "Every estimate and every verdict. The glossary below explains the columns."
    page = [*_all(view, whole), *_promises(view)]
    rows = [v for facet in view.facets for v in view.by_pair(facet)]
    other = (
        (doc.Paragraph("naive says something else", "disagreement"),)
        if any(words.disagreement(v, view.by_naive(v)) for v in rows)
        else ()
    )
    return (
        doc.on_page(doc.Section("tables", "All numbers", tuple(page), lead)),
        doc.in_brief(*_all(view, view.facets), *other, *_doubts(rows[:ROWS])),
    )


def _all(view: View, facets: list[Facet]) -> list[doc.Block]:
    estimates = tuple(estimate_table(view, facet) for facet in facets)
    verdicts = tuple(table for facet in facets if (table := verdict_table(view, facet)).rows)
    found: list[doc.Block] = [doc.Tables(estimates, "Estimates", FACETS, SHOWN, ".table()")]
    return [*found, doc.Tables(verdicts, "Verdicts", FACETS, SHOWN, ".verdicts()")] if verdicts else found


def _doubts(rows: Sequence[Verdict]) -> tuple[doc.Sentences, ...]:
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
    where = "column trust of .verdicts()"
    return (doc.Sentences(tuple(found), "", SENTENCES, "more reasons", where),) if found else ()


def _promises(view: View) -> tuple[doc.Table, ...]:
    """Which estimator claims what; the cells are named only where an estimator claims different things."""
    said: dict[tuple[str, str], list[str]] = {}
    for e in view.result.estimates:
        if e.promise:
            said.setdefault((e.estimator, e.promise), []).append(f"{e.metric} {e.target}")
    often = [estimator for estimator, _ in said]
    rows = tuple(
        (estimator, claim, ", ".join(unique(cells)) if often.count(estimator) > 1 else "all metrics and targets")
        for (estimator, claim), cells in said.items()
    )
    heads = (*doc.columns(("estimator",), ()), doc.Column("claim", "text"), doc.Column("for", "aside"))
    return (doc.Table("What each estimator may claim", "", heads, rows, "claims"),) if rows else ()


def _inputs(view: View) -> tuple[doc.Block, ...]:
    """What was read, dropped and refused: in full on a page, a line for each elsewhere."""
    lines = [doc.Sentence.plain(line, "input") for line in words.read(view)]
    lines += [doc.Sentence.plain(line, "refused") for line in words.refused(view)[:SENTENCES]]
    brief = (doc.Sentences(tuple(lines), "Inputs"),) if lines else ()
    account = view.result.inputs
    ranked = any(traits.ranked for traits in view.result.metrics.values()) or not view.result.metrics
    cards, tables = inputs.cards(account, ranked), inputs.tables(account)
    page = (*((doc.Cards(cards),) if cards else ()), *tables)
    lead = "Nothing is left out without a count."
    section = doc.Section("inputs", "What was read, and what was dropped", page, lead, "Inputs")
    return (doc.in_brief(*brief), *((doc.on_page(section),) if page else ()))
