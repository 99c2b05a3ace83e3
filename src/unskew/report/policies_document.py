"""The document of a log's policies: whether they differ, which models each favours, values, rankings, corrections."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from unskew.protocols import PolicyImpact
from unskew.protocols.family import Kind
from unskew.protocols.impact import PolicyDifference
from unskew.report import document as doc
from unskew.report import fold_warnings, numbers
from unskew.report.group_charts import Mark, by_group, legend
from unskew.report.names import by_kind, clean, shown
from unskew.report.texts import glossary, section
from unskew.report.view import grouped
from unskew.report.words import unless_all

Cell = tuple[str, str, str, str]  # split, metric, estimator, target
SENTENCES = 8


def policies_document(impact: PolicyImpact) -> doc.Document:
    """What people look at."""
    view = _View(impact)
    policies = legend("Policies", view.policies)
    tables = tuple(_values(view, cell) for cell in view.cells)
    return doc.Document(
        title=doc.Sentence.plain(_title(view)),
        subtitle=f"{view.words(view.first)}; folds put together: {impact.average}",
        summary=(
            doc.Paragraph(_opening(view), "opening"),
            doc.Sentences(tuple(_favoured(view)), "", SENTENCES, "more favours", ".favours() has them"),
            doc.Sentences(tuple(_corrected(view))),
            doc.Callout("Warnings", tuple(_warnings(view)), "warning"),
        ),
        body=(
            section("policies.favours", doc.Cards(tuple(_favour_charts(view)), (policies,), fit=True), _favours(view)),
            section(
                "policies.values",
                doc.Cards(tuple(_value_charts(view)), (policies,), fit=True),
                doc.Tables(tables, where=".table()"),
            ),
            section("policies.rankings", _rankings(view)),
            section("policies.corrections", _corrections(view)),
            doc.on_page(section("policies.differences", doc.Folded("All tests", _tests(view), (_differences(view),)))),
            glossary("policies"),
        ),
    )


class _View:
    """An impact with names that are safe to print."""

    def __init__(self, impact: PolicyImpact) -> None:
        self.impact = impact
        self.policy = shown(group.policy for group in impact.groups)
        self.split = by_kind(impact.results)
        self.model = shown(dict.fromkeys(v.model for v in impact.values_))
        self.policies = list(self.policy.values())
        self.values = [self._named(v) for v in impact.values_]
        self.differences = [self._named(d) for d in impact.differences_]
        self.rankings = [self._named(r) for r in impact.rankings_]
        self.corrections = [self._named(c) for c in impact.corrections_]
        self.cells: list[Cell] = list(dict.fromkeys(_cell(v) for v in impact.values_))
        self.first = self.cells[0]
        self.estimator = self.first[2]

    def _named(self, row: Any) -> Any:
        names: dict[str, str] = {}
        for field, known in (
            ("policy", self.policy),
            ("other", self.policy),
            ("model", self.model),
            ("against", self.model),
        ):
            if (name := getattr(row, field, None)) is not None:
                names[field] = known[name]
        return replace(row, **names)

    def headline(self, rows: Iterable[Any]) -> list[Any]:
        """The rows of the first metric, estimator and target, by all splits."""
        return [row for row in rows if _cell(row)[1:] == self.first[1:]]

    def words(self, cell: Cell) -> str:
        """A cell in words; the splits have their own place."""
        return clean(", ".join(cell[1:]))

    def words_of(self, cell: Cell) -> str:
        """A cell in words, with its split."""
        return clean(", ".join((self.split[cell[0]], *cell[1:])))

    def which(self, row: Any) -> tuple[str, ...]:
        """Of which cell a row is, by what differs between cells; nothing where there is one only."""
        several = [len({cell[n] for cell in self.cells}) > 1 for n in range(4)]
        texts = (self.split[row.split], *(clean(text) for text in _cell(row)[1:]))
        named = ", ".join(text for text, differs in zip(texts, several, strict=True) if differs)
        return (named,) if any(several) else ()

    @property
    def of(self) -> tuple[str, ...]:
        """The heading of ``which``."""
        return ("of",) if len(self.cells) > 1 else ()


def _cell(row: Any) -> Cell:
    return row.split, row.metric, row.estimator, row.target


def _kind(rows: Iterable[PolicyDifference], kind: Kind) -> list[PolicyDifference]:
    return [row for row in rows if row.kind == kind]


def _title(view: _View) -> str:
    rows = view.headline(view.differences)
    turned = any(r.reversed for r in view.headline(view.rankings))
    count = len(view.policies)
    if turned:
        return "Which model is ahead depends on the logging policy"
    if any(d.differs for d in [*_kind(rows, Kind.FAVOUR), *_kind(rows, Kind.RATIO)]):
        return "The logging policy favours some models over others"
    if any(d.differs for d in rows):
        return f"Values differ between the {count} logging policies; which models they favour is not decided"
    return f"No difference between the {count} logging policies is decided"


def _opening(view: _View) -> str:
    """How many tests of every kind find a difference; absence of evidence is called that."""
    rows = view.headline(view.differences)
    counts = []
    for kind, what in ((Kind.VALUE, "values"), (Kind.RATIO, "ratios of two models"), (Kind.FAVOUR, "favours")):
        own = _kind(rows, kind)
        if own:
            counts.append(f"{sum(d.differs for d in own)} of {len(own)} {what}")
    rankings = view.headline(view.rankings)
    turned, pairs = sum(r.reversed for r in rankings), sum(r.pairs for r in rankings)
    orders = f"; {turned} of {pairs} orders of models are reversed" if pairs else ""
    text = f"Decided between policies: {', '.join(counts)}{orders}."
    if not any(d.differs for d in rows):
        widest = max((d.high / d.low for d in rows if d.low and d.high), default=math.nan)
        text += (
            f" That is no proof of equality: the widest interval spans a factor of {numbers.number(widest, 1)}."
            if math.isfinite(widest)
            else ""
        )
    return text


def _favoured(view: _View) -> Iterable[doc.Sentence]:
    rows = [d for d in _kind(view.headline(view.differences), Kind.FAVOUR) if d.differs]
    if len(view.policies) == 2:  # what one favours, the other disfavours
        rows = [d for d in rows if (d.ratio or 1.0) > 1.0]
    for d in sorted(rows, key=lambda d: -abs(math.log(d.ratio or 1.0))):
        verb = "favours" if (d.ratio or 1.0) > 1.0 else "disfavours"
        text = (
            f" {verb} {d.model}: against the other models it scores {_number(d.ratio)} times what it does under "
            f"the other policies {_ends(d.low, d.high)}, by {clean(d.split)}."
        )
        yield doc.Sentence.about(d.policy, text, "warning")


def _corrected(view: _View) -> Iterable[doc.Sentence]:
    """What is left of the favours under estimators that weigh rows."""
    for estimator in dict.fromkeys(c.estimator for c in view.corrections):
        rows = [
            c
            for c in view.corrections
            if c.estimator == estimator and (c.metric, c.target) == (view.first[1], view.first[3])
        ]
        before = [c for c in rows if c.naive_differs]
        if not before:
            yield doc.Sentence.about(
                estimator, ": naive favours are not decided, so that there is nothing to correct.", "note"
            )
            continue
        left = sum(c.corrected_differs for c in before)
        smaller, larger = (sum(c.change == word for c in before) for word in ("smaller", "larger"))
        sizes = [
            sum(abs(math.log(getattr(c, side) or 1.0)) for c in rows) / len(rows) for side in ("naive", "corrected")
        ]
        text = (
            f": of {len(before)} favours that naive decides, {left} are still decided; {smaller} are decidedly "
            f"smaller, {larger} larger. The mean favour goes from a factor of {_number(math.exp(sizes[0]))} to "
            f"{_number(math.exp(sizes[1]))}."
        )
        yield doc.Sentence.about(estimator, text, "note" if smaller and not larger else "warning")


def _warnings(view: _View) -> Iterable[str]:
    impact = view.impact
    if impact.shared_users:
        yield (
            f"{numbers.count(impact.shared_users)} users have rows of several policies. They are left out, with "
            f"{numbers.count(impact.shared_rows)} rows: policies are compared over different users."
        )
    drawn = sum(group.left_out for group in impact.groups)
    if drawn:
        yield (
            f"{numbers.count(drawn)} users are left out at random, so that all policies have as many: models learn "
            "better from more rows. All users can be kept instead: docs/protocols.md."
        )
    sizes = {group.users for group in impact.groups}
    if len(sizes) > 1:
        yield "Policies have different numbers of users: models learn better from more rows, whatever the policy."
    if not impact.refits:
        yield (
            "Fitted models are taken as given (no refits): differences that come from whom they were fitted on alone "
            "are found too often."
        )
    yield "If users chose their policy, or got it for a reason, users differ as well as policies."
    for split, found in impact.results.items():
        first = next(iter(found.values()))
        if first.skipped:
            every = len(first.skipped) + len(first.folds_)
            yield f"{view.split[split]}: {len(first.skipped)} of {every} folds are skipped for all policies."
    yield from fold_warnings.not_read(next(iter(next(iter(impact.results.values())).values())))
    by_split = {
        view.split[split]: tuple(
            fold_warnings.over_all({view.policy[policy]: result for policy, result in found.items()})
        )
        for split, found in impact.results.items()
    }
    said = [(text, split) for split, texts in by_split.items() for text in texts]
    yield from unless_all(grouped(said), len(by_split))
    values = ((f"{view.split[v.split]}, {v.policy}", v) for v in view.headline(view.values))
    yield from fold_warnings.untested(values, impact.average)
    yield from fold_warnings.missing(impact.missing, view.split)


def _number(value: float | None) -> str:
    return numbers.number(value, 2)


def _ends(low: float | None, high: float | None) -> str:
    return numbers.factors(low, high)


def _favours(view: _View) -> doc.Tables:
    """A table for every split and estimator of the headline's metric and target."""
    found = _kind(view.differences, Kind.FAVOUR)
    cells = [cell for cell in view.cells if (cell[1], cell[3]) == (view.first[1], view.first[3])]
    heads = (
        doc.Column("policy", "name", once=True),
        doc.Column("model", "name"),
        *(doc.Column(label) for label in ("favour", "its interval", "p")),
        doc.Column("", "text"),
    )
    tables = []
    for cell in cells:
        rows = tuple(
            (
                d.policy,
                d.model,
                _number(d.ratio),
                _ends(d.low, d.high),
                numbers.p_value(d.p_adjusted),
                "differs" if d.differs else "open",
            )
            for d in found
            if _cell(d) == cell
        )
        tables.append(doc.Table("Favours", view.words_of(cell), heads, rows))
    return doc.Tables(tuple(table for table in tables if table.rows), where=".favours()")


def _values(view: _View, cell: Cell) -> doc.Table:
    rows = [v for v in view.values if _cell(v) == cell]
    places = numbers.decimals((v.low, v.high) for v in rows)
    table = tuple(
        (
            v.policy,
            v.model,
            numbers.number(v.value, places),
            numbers.interval(v.low, v.high, places),
            numbers.count(v.rank),
            _number(v.ratio),
            _ends(v.ratio_low, v.ratio_high),
        )
        for v in rows
    )
    heads = (
        doc.Column("policy", "name", once=True),
        doc.Column("model", "name"),
        doc.Column("value", strong=True),
        *(doc.Column(label) for label in ("interval", "rank", "to the best", "its interval")),
    )
    return doc.Table(clean(cell[1]), clean(", ".join((cell[0], *cell[2:]))), heads, table)


def _rankings(view: _View) -> doc.Tables:
    """A table for every cell: pairs of models that both policies decide, and the others."""
    heads = doc.columns(("policy", "other"), ("Kendall's τ", "its range", "agree", "reversed", "open"))
    tables = []
    for cell in view.cells:
        rows = tuple(
            (
                r.policy,
                r.other,
                _number(r.tau),
                numbers.interval(r.tau_low, r.tau_high, 2),
                *(numbers.count(n) for n in (r.agree, r.reversed, r.open)),
            )
            for r in view.rankings
            if _cell(r) == cell and math.isfinite(r.tau)
        )
        tables.append(doc.Table("Rankings", view.words_of(cell), heads, rows))
    return doc.Tables(tuple(table for table in tables if table.rows), where=".rankings()")


def _corrections(view: _View) -> doc.Table:
    rows = tuple(
        (
            view.split[c.split],
            c.estimator,
            c.policy,
            c.model,
            _number(c.naive),
            _number(c.corrected),
            _number(c.goes_away),
            _ends(c.low, c.high),
            c.change,
        )
        for c in view.corrections
        if c.metric == view.first[1] and c.target == view.first[3]
    )
    heads = (
        *(doc.Column(name, "name") for name in ("split", "estimator", "policy", "model")),
        *(doc.Column(label) for label in ("naive favour", "corrected", "goes away", "its interval")),
        doc.Column("", "text"),
    )
    return doc.Table("With propensities", "the same favours when rows are weighed", heads, rows)


def _tests(view: _View) -> str:
    return f"{numbers.count(len(view.differences))} rows"


def _differences(view: _View) -> doc.Table:
    rows = tuple(
        (
            *view.which(d),
            d.kind,
            f"{d.policy} over {d.other}" if d.other else d.policy,
            f"{d.model} over {d.against}" if d.against else d.model,
            _number(d.ratio),
            _ends(d.low, d.high),
            numbers.p_value(d.p_adjusted),
            "differs" if d.differs else "open",
        )
        for d in view.differences
    )
    heads = (
        *doc.columns((*view.of, "kind", "policies", "models"), ("ratio", "its interval", "p")),
        doc.Column("", "text"),
    )
    return doc.Table("All tests", "at one level for all of a cell, over all splits", heads, rows)


def _favour_charts(view: _View) -> Iterable[doc.Chart]:
    for cell in view.cells:
        rows = [d for d in _kind(view.differences, Kind.FAVOUR) if _cell(d) == cell and d.ratio is not None]
        if rows:
            marks = [Mark(d.model, d.policy, d.ratio or math.nan, d.low, d.high) for d in rows]
            note = clean(", ".join((cell[0], *cell[2:])))
            yield by_group(f"{clean(cell[1])}: favours", note, "favour", marks, view.policies, line=1.0)


def _value_charts(view: _View) -> Iterable[doc.Chart]:
    for cell in view.cells:
        rows = [v for v in view.values if _cell(v) == cell and math.isfinite(v.value)]
        marks = [Mark(v.model, v.policy, v.value, v.low, v.high) for v in rows]
        note = clean(", ".join((cell[0], *cell[2:])))
        yield by_group(f"{clean(cell[1])}: values", note, clean(cell[1]), marks, view.policies)
