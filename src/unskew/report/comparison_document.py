"""The document of a comparison of propensities: what changes, how far estimates move, all of them side by side."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from unskew.core.notice import Notice, made_of
from unskew.estimators import Standing
from unskew.evaluation.comparison import Compared, Move, PropensityComparison, compared
from unskew.inference.verdict import opposite
from unskew.report import document as doc
from unskew.report import names, numbers
from unskew.report import result_charts as charts
from unskew.report.result_document import drawn
from unskew.report.texts import glossary, section
from unskew.report.view import Facet, View, grouped, unique
from unskew.report.words import NOT_DEBIASED, limits, unless_all
from unskew.report.words import title as result_title
from unskew.result import Result, Verdict

Words = list[tuple[str, str, str]]
SENTENCES = 8
_OF_RESULTS = (
    "estimate", "interval", "naive", "propensity", "ess", "largest share", "per_user", "pooled", "per_user_sum",
    "difference", "verdict",
)  # fmt: skip
_WIDER = range(130, doc.EVER)  # propensities have long names
_NARROWER = range(130)


def comparison_document(comparison: PropensityComparison) -> doc.Document:
    """What people look at, from a comparison whose names are safe to print."""
    comparison = tidy(comparison)
    view = side_by_side(comparison)
    changed = doc.Sentences(_said(changes(comparison)), "", SENTENCES, "more verdicts change", ".changes() has them")
    others = doc.Sentences(_said(beside(comparison)))
    moving = doc.Tables((moves(comparison),), where=".moves()")
    estimates = doc.Tables(tuple(_estimates(view, facet) for facet in view.facets), where=".table()")
    legend = charts.legend(view, view.estimators, "Propensities")
    forests = drawn(view, view.facets_of(view.whole), charts.forest, (legend,), doc.EVER)
    return doc.Document(
        title=doc.Sentence.plain(title(comparison)),
        summary=(changed, others, *_notes(comparison)),
        body=(
            section("comparison.moves", forests, moving),
            doc.on_page(section("comparison.verdicts", _verdict_table(comparison))),
            section("comparison.tables", estimates),
            glossary("comparison", also=_OF_RESULTS),
        ),
    )


def _said(words: Words) -> tuple[doc.Sentence, ...]:
    return tuple(doc.Sentence.about(subject, made_of(f" {text}", text), level) for level, subject, text in words)


def _notes(comparison: PropensityComparison) -> tuple[doc.Block, ...]:
    """What was fitted, the warnings, and the sizes."""
    fitted = "; ".join(f"{name} was fitted as {text}" for name, text in comparison.fitted.items() if name != text)
    first = next(iter(comparison.results.values()))
    facts = (
        ("propensities", numbers.count(len(comparison.results))),
        ("models", numbers.count(len({e.model for e in first.estimates}))),
        ("users", numbers.spread((e.users for e in first.estimates), numbers.count)),
    )
    return (
        doc.on_page(doc.Paragraph(f"{fitted}." if fitted else "", "basis")),
        doc.Callout("Warnings", tuple(warnings(comparison)), "warning"),
        doc.on_page(doc.Facts(facts)),
    )


def tidy(comparison: PropensityComparison) -> PropensityComparison:
    """The same comparison with texts that are safe to print."""
    called = names.shown(comparison.results)
    return PropensityComparison(
        {called[name]: View.of(result).result for name, result in comparison.results.items()},
        names.tidy(comparison.missing),
    )


def side_by_side(comparison: PropensityComparison) -> View:
    """A view whose *estimators* are the propensities, and whose targets name the estimator too.

    So every chart and table of estimates serves here as well. Naive stands beside them for contrast, once.
    """
    rows, contrast = [], []
    propensities = list(comparison.results)
    for name, result in comparison.results.items():
        for e in result.estimates:
            if e.propensity is not None:
                rows.append(replace(e, estimator=name, target=f"{e.estimator}, {e.target}"))
    first = next(iter(comparison.results.values()))
    for e in first.estimates:
        if not Standing(e.standing).debiased and e.estimator not in propensities:
            alike = unique(row.target for row in rows if row.target.endswith(f", {e.target}"))
            contrast += [replace(e, target=target) for target in alike]
    return View(Result(tuple(contrast + rows), (), (), {}, (), traits=first.traits))


def title(comparison: PropensityComparison) -> Notice:
    """The headline."""
    several = len(comparison.results)
    if several < 2:
        return Notice("Only one propensity could be used", code="one-propensity")
    if not any(e.propensity is not None for result in comparison.results.values() for e in result.estimates):
        return Notice(f"{NOT_DEBIASED}: no estimator here uses propensities", code="not-debiased")
    changed = len(_changed(comparison))
    if changed:
        text = f"{changed} of {_verdicts(comparison)} verdicts depend on the propensity"
        return Notice(text, code="verdicts-depend", verdicts=changed)
    if not _verdicts(comparison):
        return Notice(f"Estimates under {several} propensities", code="estimates")
    every = "both propensities" if several == 2 else f"all {several} propensities"
    none = f"No verdict depends on which of {several} propensities is used"
    same = _same_title(comparison, every)
    return Notice(same or none, code="same-title" if same else "same-verdicts")


def _same_title(comparison: PropensityComparison, every: str) -> str:
    """What all of them say first, and that they all say it; where some say *ahead* and some *better*, the former."""
    titles = [result_title(View.of(result)) for result in comparison.results.values()]
    texts = unique(map(str, titles))
    if len(texts) > 1:
        texts = unique(text.replace(" better than ", " ahead of ") for text in texts)
    if len(texts) > 1 or texts[0].startswith(NOT_DEBIASED):
        return ""
    (text,) = texts
    named = titles[0].spans[0].kind == "name"  # its winner
    return f"{text} under {every}" if named else f"Under {every} {text[0].lower()}{text[1:]}"


def changes(comparison: PropensityComparison) -> Words:
    """Level, subject and sentence for every pair of models whose verdict changes, contradictions first."""

    def contradicted(verdicts: dict[str, str]) -> bool:
        return any(opposite(one, other) for one, other in combinations(verdicts.values(), 2))

    changed = sorted(_changed(comparison).items(), key=lambda pair: not contradicted(pair[1]))
    return [
        ("warning", f"{cell[4]} against {cell[5]}", f"on {_cell(*cell[:4])}: {_under(verdicts)}.")
        for cell, verdicts in changed
    ]


def beside(comparison: PropensityComparison) -> Words:
    """That nothing changes, how far estimates move, and what is missing."""
    found: Words = []
    if len(comparison.results) > 1 and _verdicts(comparison) and not comparison.changed:
        number, same = _verdicts(comparison), "the same under every propensity."
        one = number == 1
        said = Notice(f"{'is' if one else 'are'} {same}", code="same-verdicts")
        found.append(("good", "The verdict" if one else f"All {number} verdicts", said))
    moved = [m for m in comparison.all_moves() if m.weighted and m.ratio is not None]
    if moved:
        most = max(moved, key=lambda m: m.ratio or 0.0)
        found.append(("warning" if (most.ratio or 0.0) > 1.0 else "good", most.model, _furthest(most)))
    return found + _missing(comparison)


def _missing(comparison: PropensityComparison) -> Words:
    """What could not be had; cells with one reason stand together, and so do propensities."""
    cells = grouped(
        ((m.propensity, m.reason), "" if m.metric is None else f"{m.metric} × {m.estimator} × {m.target}")
        for m in comparison.missing
    )
    alike = grouped(((", ".join(found), reason), name) for (name, reason), found in cells.items())
    return [
        ("note", "; ".join(propensities), made_of(f"without {what}: {reason}", reason))
        if what
        else ("warning", "; ".join(propensities), made_of(f"cannot be used here: {reason}", reason))
        for (what, reason), propensities in alike.items()
    ]


def warnings(comparison: PropensityComparison) -> list[str]:
    """The cautions of all evaluations, each once, with the propensities it speaks of unless these are all."""
    said = grouped((str(text), name) for name, result in comparison.results.items() for text in result.warnings)
    return unless_all(said, len(comparison.results))


def moves(comparison: PropensityComparison) -> doc.Table:
    """How far every weighted estimate moves."""
    found = [m for m in comparison.all_moves() if m.weighted or m.spread]
    places = {key: _places(comparison, *key) for key in {(m.metric, m.target, m.segment) for m in found}}
    segmented = any(e.segment is not None for result in comparison.results.values() for e in result.estimates)
    rows = []
    for m in found:
        digits = places[m.metric, m.target, m.segment]
        cell = (_cell(m.metric, m.estimator, m.target, None), m.metric, m.estimator, m.target, m.segment or "all users")
        under = (m.smallest_under, m.largest_under)
        ends = (numbers.number(value, digits) for value in (m.smallest, m.largest, m.spread))
        rows.append((m.model, *cell, *under, *ends, numbers.number(m.ratio, 2)))
    heads = (
        doc.Column("model", "name"),
        doc.Column("cell", "name", page=False, terminal=_NARROWER),
        *(doc.Column(label, "name", terminal=_WIDER) for label in ("metric", "estimator", "target")),
        doc.Column("segment", "name", page=segmented, terminal=range(doc.EVER * segmented)),
        *(doc.Column(label, "name", terminal=_WIDER) for label in ("smallest under", "largest under")),
        *(doc.Column(label) for label in ("smallest", "largest", "spread", "÷ half-width")),
    )
    note = "largest minus smallest estimate over the propensities, and over the mean half-width of the intervals"
    return doc.Table("How far estimates move", note, heads, tuple(rows))


def _estimates(view: View, facet: Facet) -> doc.Table:
    """The estimates of one metric and estimator: a row per model and propensity."""
    places = view.places(facet)
    rows = tuple(
        (
            *(e.model, e.estimator, numbers.number(e.value, places), limits(e, places)),
            *(numbers.count(e.ess), numbers.share(e.max_weight_share)),
        )
        for e in view.by_model(facet)
    )
    model, *rest = doc.columns(("model", "propensity"), ("estimate", "interval", "ess", "largest share"))
    note = ", ".join(text for text in (facet.target, facet.segment) if text)
    return doc.Table(facet.metric, note, (replace(model, once=True), *rest), rows)


def _verdict_table(comparison: PropensityComparison) -> doc.Table:
    """A row per pair and cell, a column per propensity."""
    propensities = list(comparison.results)
    cells = _by_pair(comparison)
    rows = tuple(
        (f"{cell[4]} − {cell[5]}", _cell(*cell[:4]), *(_verdict(found.get(name)) for name in propensities))
        for cell, found in cells.items()
    )
    note = "difference of the two models, and what follows from it"
    return doc.Table("Verdicts by propensity", note, doc.columns(("pair", "cell", *propensities), ()), rows)


def _by_pair(comparison: PropensityComparison) -> dict[Compared, dict[str, Verdict]]:
    cells: dict[Compared, dict[str, Verdict]] = {}
    for name, result in comparison.results.items():
        for v in result.verdicts_:
            cells.setdefault(compared(v), {})[name] = v
    return cells


def _changed(comparison: PropensityComparison) -> dict[Compared, dict[str, str]]:
    """The verdicts of every pair on which propensities disagree."""
    there = {compared(c) for c in comparison.all_changes()}
    return {
        cell: {name: v.verdict for name, v in found.items()}
        for cell, found in _by_pair(comparison).items()
        if cell in there
    }


def _verdicts(comparison: PropensityComparison) -> int:
    """How many verdicts two propensities or more can speak of; those without weights count only if they change."""
    results = comparison.results.values()
    weighted = {(e.estimator, e.target) for r in results for e in r.estimates if e.propensity is not None}
    changed = _changed(comparison)
    there = [cell for cell, found in _by_pair(comparison).items() if len(found) > 1]
    return sum((cell[1], cell[2]) in weighted or cell in changed for cell in there)


def _under(verdicts: dict[str, str]) -> str:
    by_verdict = grouped((verdict, name) for name, verdict in verdicts.items())
    return "; ".join(f"{verdict} under {' and '.join(propensities)}" for verdict, propensities in by_verdict.items())


def _furthest(m: Move) -> str:
    places = numbers.decimals([(0.0, 2.0 * (m.half_width or 0.0))])
    ends = f"{numbers.number(m.smallest, places)} under {m.smallest_under}, {numbers.number(m.largest, places)} under "
    return (
        f"moves furthest for its interval, by {numbers.number(m.ratio, 2)} half-widths: {ends}{m.largest_under} "
        f"({_cell(m.metric, m.estimator, m.target, m.segment)})."
    )


def _cell(metric: str, estimator: str, target: str, segment: str | None) -> str:
    return f"{metric}, {estimator}, {target}" + (f", {segment}" if segment is not None else "")


def _verdict(v: Verdict | None) -> str:
    if v is None:
        return numbers.DASH
    return f"{v.verdict} {numbers.number(v.difference, numbers.decimals([(v.low, v.high)]), sign=True)}"


def _places(comparison: PropensityComparison, metric: str, target: str, segment: str | None) -> int | None:
    rows = [e for result in comparison.results.values() for e in result.estimates]
    return numbers.decimals(
        (e.low, e.high) for e in rows if (e.metric, e.target, e.segment) == (metric, target, segment)
    )
