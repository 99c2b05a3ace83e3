"""The document of a cross-validation: the verdict over all folds, both averages, what was skipped, lines over folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from unskew.cross_validation import CrossValidation, FoldValue, OverFolds
from unskew.inference.verdict import Outcome
from unskew.report import document as doc
from unskew.report import input_words, inputs, numbers, words
from unskew.report import result_charts as charts
from unskew.report.agreement_words import agreement, agreement_role
from unskew.report.document import ALWAYS, NEVER, WIDE, Column, Table
from unskew.report.fold_charts import fold_lines, legend
from unskew.report.fold_warnings import skipped_folds
from unskew.report.names import clean, tidy
from unskew.report.result_document import (
    FACETS,
    SENTENCES,
    SHOWN,
    VERDICTS,
    average_note,
    choices_of,
    drawn,
    verdict_table,
)
from unskew.report.scenario_blocks import leaderboard_blocks, scenario_blocks
from unskew.report.scenario_words import range_of
from unskew.report.texts import glossary, section
from unskew.report.view import Facet, View, decided, in_scenarios, winner
from unskew.result import Estimate, Verdict

SKIPPED = 6  # windows that a terminal lists


def cross_validation_document(found: CrossValidation) -> doc.Document:
    """What people look at."""
    view = View.of(found.macro)
    facet, said = view.headline, words.headline_sentences(view, brief=True)
    if not view.debiased:
        said = [doc.Sentence(sentence.spans, "caution") for sentence in said]
    agrees = agreement(view)
    return doc.Document(
        title=words.title(view),
        panel="" if len(said) > 1 or not view.debiased else "Verdict",
        subtitle=f"{view.carrier(facet)}, {facet.target}, {_count(found)}" if facet else _count(found),
        summary=(
            doc.Sentences(tuple(said), "", SENTENCES, "more pairs", ".verdicts() has them all"),
            doc.Paragraph(agrees, agreement_role(agrees)),
            _pooled(view, found),
            doc.Callout("How far to trust this", tuple(words.trust(view)), "doubt"),
            doc.Callout("Warnings", view.result.warnings, "warning"),
            doc.on_page(doc.Paragraph(_basis(found), "basis")),
        ),
        body=tuple(_body(view, found)),
        choices=choices_of(view),
    )


def _body(view: View, found: CrossValidation) -> Iterator[doc.Block]:
    tables = tuple(_table(view, facet, found) for facet in view.facets)
    listed = doc.Sentences(skipped_folds(found.skipped), "Skipped", SKIPPED, "more", ".skipped has them all")
    verdicts = tuple(_without_tipping(table) for facet in view.facets if (table := verdict_table(view, facet)).rows)
    yield doc.in_brief(doc.Tables(tables, "Over all folds", FACETS, SHOWN, ".table()"), listed)
    yield doc.on_page(section("folds.lines", _lines(view, found), listed))
    yield doc.on_page(section("folds.table", doc.Tables(tables, "", FACETS, SHOWN, ".table()")))
    yield from leaderboard_blocks(view)
    yield from scenario_blocks(view)
    whole = view.facets_of(view.whole)
    ahead = drawn(view, whole, charts.differences, (charts.legend(view, view.estimators), VERDICTS))
    yield doc.on_page(section("result.differences", ahead))
    yield doc.on_page(section("folds.verdicts", doc.Tables(verdicts, "", FACETS, SHOWN, ".verdicts()")))
    shown = doc.Tables(verdicts, "Verdicts over all folds", FACETS, SHOWN, ".verdicts()")
    yield doc.in_brief(shown, average_note(view))
    yield doc.on_page(section("folds.values", doc.Folded("Every fold", "", tuple(_values(view, found)))))
    notes = [*found.notes, *_read(found)]
    yield doc.in_brief(doc.Sentences(tuple(doc.Sentence.plain(clean(line), "input") for line in notes), "Inputs"))
    account = view.result.inputs
    yield doc.on_page(section("result.inputs", doc.Cards(inputs.cards(account, ranked=True)), *inputs.tables(account)))
    yield glossary("folds", "result")


def lines_document(found: CrossValidation) -> doc.Document:
    """The lines over folds alone."""
    view = View.of(found.macro)
    return doc.Document(title=words.title(view), summary=(), body=(_lines(view, found),))


def _count(found: CrossValidation) -> str:
    folds = len(found.folds_)
    return "one fold" if folds == 1 else f"average over {folds} folds"


def _pooled(view: View, found: CrossValidation) -> doc.Paragraph:
    """Whether the rows of all folds together say the same of the headline's pairs."""
    facet = view.headline
    if facet is None or len(found.folds_) == 1:
        return doc.Paragraph("", "agreement")
    carrier = view.carrier(facet)
    other = View.of(found.pooled)
    pairs = {(v.a, v.b): v for v in other.verdicts(facet, carrier)}
    both = [(v, pairs[v.a, v.b]) for v in view.verdicts(facet, carrier) if (v.a, v.b) in pairs]
    if not both:
        return doc.Paragraph("", "agreement")
    apart = [(v, w) for v, w in both if _said(v.verdict) != _said(w.verdict)]
    start = "With the rows of all folds pooled, so that large folds count more"
    if not apart:
        return doc.Paragraph(f"{start}, the same is said.", "agreement")
    told = "; ".join(f"{_phrase(w)} (average over folds: {v.verdict})" for v, w in apart[:2])
    more = f"; {len(apart) - 2} more differ" if len(apart) > 2 else ""
    return doc.Paragraph(f"{start}: {told}{more}.", "disagreement")


def _phrase(verdict: Verdict) -> str:
    """What a verdict says of two models, as a part of a sentence."""
    if not decided(verdict):
        what = "it depends" if verdict.verdict == Outcome.DEPENDS else "it stays undecided"
        return f"between {verdict.a} and {verdict.b} {what}"
    first = winner(verdict)
    second = verdict.b if first == verdict.a else verdict.a
    sure = verdict.verdict in (Outcome.BETTER, Outcome.WORSE)
    return f"{first} is {'better than' if sure else 'ahead of'} {second}"


def _said(word: str) -> str:
    """What a verdict says of the first model, whatever carries it."""
    outcome = Outcome(word)
    return "first" if outcome.first else "second" if outcome.decided else str(outcome)


def _basis(found: CrossValidation) -> str:
    users = found.inputs["users"]
    rows = sum(fold.test_rows for fold in found.folds_)
    skipped = f"; {len(found.skipped)} more are skipped" if found.skipped else ""
    return (
        f"{found.split}: {numbers.count(len(found.folds_))} folds{skipped}; {numbers.count(users['judged'])} users, "
        f"{numbers.count(rows)} held-out interactions. Intervals and verdicts are clustered by user over all folds, "
        "since folds share users. They are about users like these in these folds: how the next month differs from "
        "this one, only the spread between folds can hint at."
    )


def _table(view: View, facet: Facet, found: CrossValidation) -> Table:
    """Both averages of every model, and how folds differ."""
    pooled = View.of(found.pooled)
    rows = [row for row, e in zip(found.rows(), view.result.estimates, strict=True) if _facet(e) == facet]
    macros = view.estimates(facet)
    others = pooled.estimates(facet)
    places = view.places(facet)
    several = len(found.folds_) > 1

    def beside(label: str, terminal: range = ALWAYS) -> Column:
        return Column(label, page=several, terminal=terminal if several else NEVER)

    columns: list[tuple[Column, Callable[[Estimate, Estimate, OverFolds], str]]] = [
        (Column("model", "name", once=True), lambda m, p, r: m.model),
        (Column("estimator", "name", pick=True), lambda m, p, r: m.estimator),
        (Column("macro" if several else "value", strong=True), lambda m, p, r: numbers.number(m.value, places)),
        (Column("interval"), lambda m, p, r: _limits(m, places)),
        (beside("pooled"), lambda m, p, r: numbers.number(p.value, places)),
        (beside("its interval", WIDE), lambda m, p, r: _limits(p, places)),
        (beside("best in"), lambda m, p, r: f"{r.folds_won} of {r.folds}"),
        (beside("sd of folds", WIDE), lambda m, p, r: numbers.number(r.fold_sd, places)),
        (Column("hits", terminal=NEVER), lambda m, p, r: numbers.count(m.hits)),
        (Column("users", terminal=NEVER), lambda m, p, r: numbers.count(m.users)),
    ]
    triples = sorted(zip(macros, others, rows, strict=True), key=lambda each: view.models.index(each[0].model))
    texts = tuple(tuple(write(*each) for _, write in columns) for each in triples)
    note = ", ".join([facet.target, *dict.fromkeys(f"propensity {e.propensity}" for e in macros if e.propensity)])
    heads = tuple(column for column, _ in columns)
    about = (("metric", facet.metric),)
    return Table(facet.metric, note, heads, texts, "estimates", (facet.metric, facet.target, ""), about=about)


def _without_tipping(table: Table) -> Table:
    """Verdicts without the columns of tipping points, which folds do not have."""
    kept = [n for n, column in enumerate(table.columns) if "Γ" not in column.label]
    rows = tuple(tuple(row[n] for n in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[n] for n in kept), rows=rows)


def _limits(e: Estimate, places: int | None) -> str:
    return range_of(e.low, e.high, places) if in_scenarios(e) else words.limits(e, places)


def _facet(e: Estimate) -> Facet:
    return Facet(e.metric, e.target, e.segment)


def _names(view: View, found: CrossValidation) -> Mapping[str, str]:
    """How models are shown, by what they are called."""
    return {e.model: shown.model for e, shown in zip(found.macro.estimates, view.result.estimates, strict=True)}


def _lines(view: View, found: CrossValidation) -> doc.Cards:
    if len(found.folds_) < 2:
        return doc.Cards(())
    names, cards = _names(view, found), []
    for facet in view.facets_of(view.whole):
        for estimator in dict.fromkeys(name for name in (view.carrier(facet), view.naive(facet)) if name):
            cards.append(fold_lines(view, facet, estimator, tidy(found.values_), names))
    return doc.Cards(tuple(cards), (legend(view.models),), shown=SHOWN, inline=True)


def _values(view: View, found: CrossValidation) -> Iterator[Table]:
    """The values of every fold, a table per cell: folds down, models across."""
    names = _names(view, found)
    cells: dict[tuple[str, str, str], dict[str, dict[str, FoldValue]]] = {}
    for v in found.values_:
        cells.setdefault((v.metric, v.target, v.estimator), {}).setdefault(v.fold, {})[v.model] = v
    about = {fold.fold: fold for fold in found.folds_}
    for (metric, target, estimator), folds in cells.items():
        places = numbers.decimals((v.low, v.high) for own in folds.values() for v in own.values())
        heads = doc.columns(("fold",), ("users", "rows", *names.values()))
        rows = tuple(
            (
                clean(fold),
                numbers.count(about[fold].users),
                numbers.count(about[fold].test_rows),
                *(_fold_value(own[model], places) for model in names),
            )
            for fold, own in folds.items()
        )
        chosen = (("metric", metric), ("estimator", estimator))
        yield Table(metric, f"{target}, {clean(estimator)}", heads, rows, about=chosen)


def _fold_value(v: FoldValue, places: int | None) -> str:
    return f"{numbers.number(v.value, places)} {numbers.interval(v.low, v.high, places)}"


def _read(found: CrossValidation) -> Iterator[str]:
    """What was read and left out, a line each."""
    view = View.of(found.macro)
    yield from input_words.read(view)
    folds = found.inputs["folds"]
    for reason, rows in (*folds["left_out"].items(), *folds["dropped"].items()):
        yield f"not judged, over all folds: {numbers.count(rows)} rows ({reason})"
    yield from input_words.refused(view)
