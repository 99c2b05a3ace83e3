"""The document of a result: the verdicts in words, charts, every number, what was read, and a glossary.

In the tables every number is written once, the same in every medium.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from unskew.estimators import Standing
from unskew.report import document as doc
from unskew.report import input_words, inputs, numbers, words
from unskew.report import result_charts as charts
from unskew.report.agreement import agreement_section
from unskew.report.agreement_words import agreement, agreement_role
from unskew.report.document import ALWAYS, EVER, NEVER, WIDE, Cell, Column, Table
from unskew.report.next_step import next_step
from unskew.report.scenario_blocks import leaderboard_blocks, scenario_blocks
from unskew.report.scenario_words import range_of
from unskew.report.texts import glossary, section
from unskew.report.view import Facet, View, grouped, in_scenarios, unique
from unskew.report.words import disagreement, limits, users_needed
from unskew.result import Estimate, Result, Verdict

Both = dict[Facet, tuple[doc.Table, doc.Table]]  # the estimates and the verdicts of each facet

SHOWN = 3  # charts, tables and segments that are not folded away
SENTENCES = 6
ROWS = 36  # of verdicts on a terminal, whose doubts are told
FACETS = ("metric", "target", "segment")
AVERAGE = "ø"
COLOURS = {"better, ahead": "good", "worse, behind": "bad", "depends": "turn", "undecided": "calm"}
VERDICTS = doc.Legend("Verdicts", tuple(doc.Swatch(name, f"var(--{colour})") for name, colour in COLOURS.items()))
_NARROW, _TIPPING, _WIDER = range(WIDE.start), range(72, EVER), range(112, EVER)  # terminals


def result_document(result: Result) -> doc.Document:
    """What people look at, from a result whose names are safe to print."""
    view = View.of(result)
    said = words.headline_sentences(view, brief=True)
    facet = view.headline
    tables = {facet: (estimate_table(view, facet), verdict_table(view, facet)) for facet in view.facets}
    return doc.Document(
        title=words.title(view),
        panel="" if len(said) > 1 or not view.debiased else "Verdict",
        subtitle=", ".join([view.carrier(facet), facet.target, *_sampled(view)]) if facet else "",
        summary=_summary(view, said),
        body=(
            *next_step(view),
            doc.on_page(*agreement_section(view)),
            *leaderboard_blocks(view),
            *scenario_blocks(view),
            doc.on_page(*_charts(view), _weights(view), _segments(view, tables)),
            *_tables(view, tables),
            *_inputs(view),
            glossary("result"),
        ),
        choices=choices_of(view),
    )


def choices_of(view: View) -> tuple[doc.Choice, ...]:
    """What a reader of the page may pick."""
    return doc.Choice("metric", tuple(view.metrics)), doc.Choice("estimator", tuple(view.estimators))


def _summary(view: View, said: list[doc.Sentence]) -> tuple[doc.Block, ...]:
    if not view.debiased:
        said = [doc.Sentence(sentence.spans, "caution") for sentence in said]
    agrees = agreement(view)
    return (
        doc.Sentences(tuple(said), "", SENTENCES, "more pairs", ".verdicts() has them all"),
        doc.Paragraph(agrees, agreement_role(agrees)),
        doc.Callout("How far to trust this", tuple(words.trust(view)), "doubt"),
        doc.Callout("Warnings", view.result.warnings, "warning"),
        doc.on_page(doc.Paragraph(_basis(view), "basis")),
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
    together = view.comparisons(facet, carrier)
    corrected = (
        f" Intervals of differences and p-values hold for {together} comparisons together." if together > 1 else ""
    )
    several = len(view.facets) > 1 or len(view.estimators) > 1
    others = " Other metrics, targets and estimators, views of the same question, follow below." if several else ""
    sampled = "".join(f", samples: {text}" for text in _sampled(view))
    return (
        f"Estimator {carrier}, target {facet.target}{propensity}{sampled}; {users} users with "
        f"{words.rows_of(cells)}.{corrected}{others}"
    )


def _sampled(view: View) -> list[str]:
    """How the rows were sampled, where they were."""
    return unique(e.sample for e in view.result.estimates if e.sample)


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
    rows = "answers" if cells and Standing(cells[0].standing) is Standing.ANSWERED else "interactions"
    for name, values in (("users", [e.users for e in cells]), (rows, [e.interactions for e in cells])):
        if values:
            facts.append((name, numbers.count(max(values))))
    return tuple(facts)


def _charts(view: View) -> tuple[doc.Block, ...]:
    """Differences, estimates, and how the picture changes; beside each other where each has one chart."""
    whole = view.facets_of(view.whole)
    ahead = drawn(view, whole, charts.differences, (charts.legend(view, _compared(view)), VERDICTS))
    scores = drawn(view, whole, charts.forest, (charts.legend(view, view.estimators),))
    slopes = drawn(view, whole, charts.slope)
    lead = "lead_scenarios" if view.result.scenarios else "lead"
    not_debiased = "lead_sampled" if _sampled(view) else "lead_not_debiased"
    found = (
        section("result.differences", ahead, lead=lead),
        section("result.estimates", scores, lead=lead if view.debiased else not_debiased),
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
    facets = view.facets_of(view.whole)
    tables = doc.Tables(tuple(support_table(view, facet) for facet in facets), shown=1)
    return section("result.weights", doc.Cards(found, shown=SHOWN), tables)


def support_table(view: View, facet: Facet) -> Table:
    """On how much each estimate rests: how many interactions carry it, and what the log could not show."""
    columns: list[tuple[Column, Callable[[Estimate], str]]] = [
        (Column("model", "name", once=True), lambda e: e.model),
        (Column("estimator", "name", pick=True), lambda e: e.estimator),
        (Column("hits"), lambda e: numbers.count(e.hits)),
        (Column("ess", strong=True), lambda e: numbers.count(e.ess)),
        (Column("largest share"), lambda e: numbers.share(e.max_weight_share)),
        (Column("never shown"), lambda e: numbers.share(e.unsupported)),
        (Column("support gap"), lambda e: numbers.share(e.support_gap)),
    ]
    rows = tuple(tuple(write(e) for _, write in columns) for e in view.by_model(facet))
    heads = tuple(column for column, _ in columns)
    about = (("metric", facet.metric),)
    return Table(f"Support of {facet.metric}", facet.target, heads, rows, "support", _facet(facet), about=about)


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
            average_note(view),
            doc.Paragraph("naive says something else" if differs else "", "disagreement"),
            _doubts(rows[:ROWS]),
        ),
    )


def _all(tables: Both, facets: list[Facet]) -> tuple[doc.Tables, doc.Tables]:
    estimates = tuple(tables[facet][0] for facet in facets)
    verdicts = tuple(tables[facet][1] for facet in facets if tables[facet][1].rows)
    return (
        doc.Tables(estimates, "Estimates", FACETS, 1, ".table()"),
        doc.Tables(verdicts, "Verdicts", FACETS, 1, ".verdicts()"),
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
    lines = [doc.Sentence.plain(line, "input") for line in input_words.read(view)]
    lines += [doc.Sentence.plain(line, "refused") for line in input_words.refused(view)[:SENTENCES]]
    account = view.result.inputs
    ranked = any(traits.ranked for traits in view.result.traits.values()) or not view.result.traits
    page = section("result.inputs", doc.Cards(inputs.cards(account, ranked)), *inputs.tables(account))
    return doc.in_brief(doc.Sentences(tuple(lines), "Inputs")), doc.on_page(page)


def estimate_table(view: View, facet: Facet) -> Table:
    """The estimates of a facet, model by model; what is 0 everywhere has no column where there is little room."""
    rows, everywhere, places = view.by_model(facet), view.result.estimates, view.places(facet)
    never = any((e.unsupported or 0.0) > 0.0 for e in everywhere)
    raised = any(e.clipped_share > 0.0 for e in everywhere)
    few, drawn = any(e.few_clicks is not None for e in rows), any(e.draws_se is not None for e in rows)
    clipped = Column("clipped", page=any(e.clipped_share > 0.0 for e in rows), terminal=ALWAYS if raised else NEVER)
    digits = None if places is None else places + 1
    columns: list[tuple[Column, Callable[[Estimate], str]]] = [
        (Column("model", "name", once=True), lambda e: e.model),
        (Column("estimator", "name", pick=True), lambda e: e.estimator),
        (Column("estimate", strong=True, terminal=NEVER), lambda e: numbers.number(e.value, places)),
        (Column("value", page=False), lambda e: _average(e) + numbers.number(e.value, places)),
        (Column("interval"), lambda e: limits(e, places)),
        (Column("se", terminal=NEVER), lambda e: numbers.DASH if in_scenarios(e) else numbers.number(e.se, digits)),
        (Column("se of draws", page=drawn, terminal=NEVER), lambda e: numbers.number(e.draws_se, digits)),
        (Column("ess"), lambda e: numbers.count(e.ess)),
        (Column("hits", terminal=WIDE), lambda e: numbers.count(e.hits)),
        (Column("largest share", terminal=WIDE), lambda e: numbers.share(e.max_weight_share)),
        (Column("never shown", terminal=ALWAYS if never else NEVER), lambda e: numbers.share(e.unsupported)),
        (clipped, lambda e: numbers.share(e.clipped_share)),
        (Column("support gap", terminal=NEVER), lambda e: numbers.share(e.support_gap)),
        (Column("few clicks", page=few, terminal=NEVER), lambda e: numbers.number(e.few_clicks, places, sign=True)),
        (Column("users", terminal=_room(view)), lambda e: numbers.count(e.users)),
        (Column("interactions", terminal=NEVER), lambda e: numbers.count(e.interactions)),
    ]
    note = ", ".join(
        [facet.target, *(f"propensity {text}" for text in unique(e.propensity for e in rows) if text), *_sampled(view)]
    )
    texts = tuple(tuple(write(e) for _, write in columns) for e in rows)
    heads, about = tuple(column for column, _ in columns), (("metric", facet.metric),)
    return Table(facet.metric, note, heads, texts, "estimates", _facet(facet), about=about)


def verdict_table(view: View, facet: Facet) -> Table:
    """The verdicts of a facet, pair by pair."""
    places = view.places_of_differences(facet)

    def verdict(v: Verdict) -> Cell:
        return Cell(v.verdict, v.verdict, view.naive(facet) or "", disagreement(v, view.by_naive(v)), bool(v.trust))

    def difference(v: Verdict) -> str:
        return _average(v) + numbers.number(v.difference, places, sign=True)

    columns: list[tuple[Column, Callable[[Verdict], str | Cell]]] = [
        (Column("pair", "name", once=True, terminal=_NARROW), lambda v: f"{v.a}\n− {v.b}"),
        (Column("a", "name", once=True, page=False, terminal=WIDE), lambda v: v.a),
        (Column("b", "name", once=True, page=False, terminal=WIDE), lambda v: v.b),
        (Column("estimator", "name", pick=True), lambda v: v.estimator),
        (Column("verdict", "tag", terminal=NEVER), verdict),
        (Column("difference", strong=True, terminal=NEVER), lambda v: numbers.number(v.difference, places, sign=True)),
        (Column("difference", page=False, terminal=WIDE), difference),
        (Column("diff.", page=False, terminal=_NARROW), difference),
        (Column("interval"), lambda v: (range_of if in_scenarios(v) else numbers.interval)(v.low, v.high, places)),
        (Column("p", terminal=NEVER), lambda v: numbers.p_value(v.p)),
        (Column("adjusted p", terminal=NEVER), lambda v: numbers.p_value(v.p_adjusted)),
        (
            Column("p adj.", page=False, terminal=_room(view)),
            lambda v: numbers.p_value(v.p_adjusted).replace("< ", "<"),
        ),
        (Column("verdict", "tag", page=False), verdict),
        (Column("tipping Γ", terminal=NEVER), lambda v: numbers.gamma(v.tipping)),
        (Column("Γ, low", terminal=_TIPPING), lambda v: numbers.gamma(v.tipping_low)),
        (Column("users needed", terminal=NEVER), lambda v: numbers.count(users_needed(view, v))),
        (Column("trust", "aside", terminal=NEVER), lambda v: v.trust),
    ]
    together = max((view.comparisons(facet, name) for name in view.estimators), default=0)
    note = facet.target + (f", one level over {together} comparisons" if together > 1 else "")
    texts = tuple(tuple(write(v) for _, write in columns) for v in view.by_pair(facet))
    heads, about = tuple(column for column, _ in columns), (("metric", facet.metric),)
    return Table(facet.metric, note, heads, texts, "verdicts", _facet(facet), about=about)


def _average(row: Estimate | Verdict) -> str:
    """The mark of an average over scenarios, where a terminal shows it under the name of a value."""
    number = row.value if isinstance(row, Estimate) else row.difference
    return AVERAGE if in_scenarios(row) and math.isfinite(number) else ""


def average_note(view: View) -> doc.Paragraph:
    """What that mark means, where it stands."""
    return doc.Paragraph("average over all scenarios" if view.result.scenarios else "", "average")


def _facet(facet: Facet) -> tuple[str, ...]:
    return facet.metric, facet.target, facet.segment or ""


def _room(view: View) -> range:
    """The terminals with room for one more column; estimators with scenarios have long names."""
    return _WIDER if view.result.scenarios else WIDE
