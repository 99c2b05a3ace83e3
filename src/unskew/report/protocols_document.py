"""The document of a comparison of protocols: what differs first, then values, ratios to the best, rankings, folds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from unskew.protocols import ProtocolComparison
from unskew.protocols.comparison import Ranking, Reordered
from unskew.report import document as doc
from unskew.report import fold_warnings, numbers
from unskew.report.group_charts import Mark, by_group, legend, over_folds
from unskew.report.names import by_kind, clean, shown
from unskew.report.texts import glossary, section

Cell = tuple[str, str, str]
SENTENCES = 8
FOLDS = 2  # folds from which on a line says something


def protocols_document(comparison: ProtocolComparison) -> doc.Document:
    """What people look at."""
    view = _View(comparison)
    protocols = legend("Protocols", view.protocols)
    return doc.Document(
        title=doc.Sentence.plain(_title(view)),
        subtitle=f"{view.words(view.first)}; folds put together: {comparison.average}",
        summary=(
            doc.Paragraph(_opening(view), "opening"),
            doc.Sentences(
                tuple(_said(view)),
                "",
                SENTENCES,
                "more pairs of models are ordered differently",
                ".reordered() has them",
            ),
            doc.Sentences(tuple(_levels(view))),
            doc.Sentences(tuple(_questions(view)), "What each protocol asks"),
            doc.Callout("Warnings", tuple(_warnings(view)), "warning"),
        ),
        body=(
            section(
                "protocols.values",
                doc.Cards(tuple(_value_charts(view)), (protocols,), fit=True),
                doc.Tables(tuple(_values(view, cell) for cell in view.cells), where=".table()"),
            ),
            section("protocols.rankings", _rankings(view), doc.on_page(_reordered(view))),
            section(
                "protocols.folds",
                doc.Cards(tuple(_fold_charts(view)), (legend("Models", view.models),), fit=True),
                doc.on_page(_steadiness(view)),
            ),
            glossary("protocols"),
        ),
    )


class _View:
    """A comparison with names that are safe and short: a protocol is called by its kind where no other has the same."""

    def __init__(self, comparison: ProtocolComparison) -> None:
        self.comparison = comparison
        self.protocol = by_kind(comparison.results)
        self.model = shown(dict.fromkeys(v.model for v in comparison.values_))
        self.protocols, self.models = list(self.protocol.values()), list(self.model.values())
        self.values = [self._named(v) for v in comparison.values_]
        self.rankings = [self._named(r) for r in comparison.rankings_]
        self.reordered = [self._named(r) for r in comparison.reordered_]
        self.levels = [self._named(r) for r in comparison.levels_]
        self.cells: list[Cell] = list(dict.fromkeys((v.metric, v.estimator, v.target) for v in comparison.values_))
        self.first = self.cells[0]

    def _named(self, row: Any) -> Any:
        names = {f: self.protocol[getattr(row, f)] for f in ("protocol", "other") if hasattr(row, f)}
        names |= {f: self.model[getattr(row, f)] for f in ("model", "a", "b") if hasattr(row, f)}
        return replace(row, **names)

    def of(self, rows: Iterable[Any], cell: Cell) -> list[Any]:
        """The rows of one cell."""
        return [row for row in rows if (row.metric, row.estimator, row.target) == cell]

    def words(self, cell: Cell) -> str:
        """A cell in words."""
        return clean(", ".join(cell))


def _title(view: _View) -> str:
    """How many pairs are ordered differently by any two protocols, and how many of them decidedly."""
    rankings = view.of(view.rankings, view.first)
    if not rankings:
        return f"Values by {len(view.protocols)} protocol" + "s" * (len(view.protocols) > 1)
    pairs = rankings[0].pairs
    rows = view.of(view.reordered, view.first)
    turned = {frozenset((r.a, r.b)) for r in rows}
    surely = {frozenset((r.a, r.b)) for r in rows if r.decided and r.other_decided}
    if not pairs:
        return f"One model by {len(view.protocols)} protocols"
    if not turned:
        return f"By their values, {_all(view)} protocols put the models in the same order"
    which = f"{len(turned)} of {pairs} pairs of models {'is' if len(turned) == 1 else 'are'} ordered differently"
    if len(turned) == 1:
        return f"{which}, {'and both protocols decide it' if surely else 'which no two protocols decide'}"
    return f"{which}, {len(surely) or 'none'} of them decidedly by both protocols"


def _all(view: _View) -> str:
    return "both" if len(view.protocols) == 2 else f"all {len(view.protocols)}"


def _opening(view: _View) -> str:
    """What differs, in a sentence or two."""
    rows = view.of(view.reordered, view.first)
    surely = [r for r in rows if r.decided and r.other_decided]
    if surely:
        r = surely[0]
        return f"{r.protocol} puts {r.a} before {r.b}, {r.other} puts {r.b} before {r.a}, and both decide it."
    if rows:
        r = rows[0]
        who = _who(r)
        return f"{r.protocol} puts {r.a} before {r.b}, {r.other} the other way round; {who}."
    rankings = view.of(view.rankings, view.first)
    if not rankings or not rankings[0].pairs:
        return "With one model or one protocol there is no order to compare."
    left = max(r.open for r in rankings)
    pairs = rankings[0].pairs
    if not left:
        return (
            "No two models are ordered differently by any two protocols, and all of them decide every pair of models."
        )
    undecided = "this pair of models is" if pairs == 1 else f"up to {left} of {pairs} pairs of models are"
    return (
        f"This order is not certain: {undecided} not decided by both of two protocols, so that more data might show "
        "different orders."
    )


def _who(r: Reordered) -> str:
    if r.decided and r.other_decided:
        return "both decide it"
    if r.decided or r.other_decided:
        return f"only {r.protocol if r.decided else r.other} decides it"
    return "neither decides it"


def _said(view: _View) -> Iterable[doc.Sentence]:
    """Every pair that is ordered differently, those that both protocols decide first."""
    rows = sorted(view.of(view.reordered, view.first), key=lambda r: -(r.decided + r.other_decided))
    for r in rows:
        tone = "warning" if r.decided and r.other_decided else "note"
        yield doc.Sentence.about(
            f"{r.a} and {r.b}", f": {r.a} first by {r.protocol}, {r.b} first by {r.other}; {_who(r)}.", tone
        )


def _levels(view: _View) -> Iterable[doc.Sentence]:
    """How many times larger values are by one protocol than by another, over the models."""
    rows = [r for r in view.of(view.levels, view.first) if r.ratio is not None]
    for pair in dict.fromkeys((r.protocol, r.other) for r in rows):
        alike = [r for r in rows if (r.protocol, r.other) == pair]
        sure = sum(r.differs for r in alike)
        ratios = numbers.spread((r.ratio for r in alike), lambda x: numbers.number(x, 2))
        text = f": values are {ratios} times those by {pair[1]}; decided for {sure} of {len(alike)} models."
        yield doc.Sentence.about(pair[0], text, "warning" if sure else "note")


def _questions(view: _View) -> Iterable[doc.Sentence]:
    for name, question in view.comparison.questions.items():
        yield doc.Sentence.about(view.protocol[name], f" ({clean(name)}): {clean(question)}", "note")


def _warnings(view: _View) -> Iterable[str]:
    """What each cross-validation warns of, what was skipped, and what is missing."""
    yield (
        "Protocols answer different questions: where they differ, neither is the other's error. Intervals are for "
        "other users with the same fitted models."
    )
    results = {view.protocol[name]: found for name, found in view.comparison.results.items()}
    for name, found in results.items():
        if found.skipped:
            every = len(found.skipped) + len(found.folds_)
            yield f"{name}: {len(found.skipped)} of {every} folds are skipped."
    yield from fold_warnings.not_read(next(iter(results.values())))
    yield from fold_warnings.over_all(results)
    values = view.of(view.values, view.first)
    yield from fold_warnings.untested(((v.protocol, v) for v in values), view.comparison.average)
    yield from fold_warnings.missing(view.comparison.missing, view.protocol)


def _values(view: _View, cell: Cell) -> doc.Table:
    rows = view.of(view.values, cell)
    places = numbers.decimals((v.low, v.high) for v in rows)
    best = numbers.decimals((v.ratio_low, v.ratio_high) for v in rows if v.ratio_low is not None)
    table = tuple(
        (
            v.protocol,
            v.model,
            numbers.number(v.value, places),
            numbers.interval(v.low, v.high, places),
            numbers.count(v.rank),
            numbers.number(v.ratio, best),
            numbers.interval(v.ratio_low, v.ratio_high, best),
            numbers.count(v.folds),
            numbers.number(v.fold_sd, places),
            numbers.number(v.chance_sd, places),
        )
        for v in rows
    )
    heads = (
        doc.Column("protocol", "name", once=True),
        doc.Column("model", "name"),
        doc.Column("value", strong=True),
        doc.Column("interval"),
        doc.Column("rank"),
        doc.Column("to the best"),
        doc.Column("its interval"),
        doc.Column("folds", terminal=doc.WIDE),
        doc.Column("fold sd", terminal=doc.WIDE),
        doc.Column("by chance", terminal=doc.WIDE),
    )
    return doc.Table(clean(cell[0]), clean(", ".join(cell[1:])), heads, table)


def _rankings(view: _View) -> doc.Table:
    rows = tuple(
        (
            *((view.words((r.metric, r.estimator, r.target)),) if len(view.cells) > 1 else ()),
            r.protocol,
            r.other,
            numbers.number(r.tau, 2),
            numbers.interval(r.tau_low, r.tau_high, 2),
            numbers.count(r.agree),
            numbers.count(r.reversed),
            numbers.count(r.open),
        )
        for r in view.rankings
        if _known(r)
    )
    names = ("cell",) * (len(view.cells) > 1) + ("protocol", "other")
    figures = ("Kendall's τ", "its range", "agree", "reversed", "open")
    return doc.Table(
        "Rankings", "pairs of models that both protocols decide, and the others", doc.columns(names, figures), rows
    )


def _known(r: Ranking) -> bool:
    return math.isfinite(r.tau)


def _reordered(view: _View) -> doc.Table:
    rows = tuple(
        (
            view.words((r.metric, r.estimator, r.target)),
            f"{r.a} before {r.b}",
            r.protocol,
            "decided" if r.decided else "open",
            r.other,
            "decided" if r.other_decided else "open",
            numbers.number(r.ratio, 2),
            numbers.interval(r.ratio_low, r.ratio_high, 2),
        )
        for r in view.reordered
    )
    heads = doc.columns(("cell", "order", "by", "", "reversed by", " "), ("ratio of ratios", "its interval"))
    return doc.Table("Ordered differently", "pairs of models with values in other orders", heads, rows)


def _steadiness(view: _View) -> doc.Table:
    rows = tuple(
        (view.protocol[s.protocol], view.words((s.metric, s.estimator, s.target)), numbers.count(s.folds),
         numbers.number(s.tau_to_all, 2))
        for s in view.comparison.steadiness_
    )  # fmt: skip
    heads = doc.columns(("protocol", "cell"), ("folds", "mean τ"))
    return doc.Table("Steadiness", "mean τ between a fold's ranking and the one over all folds", heads, rows)


def _value_charts(view: _View) -> Iterable[doc.Chart]:
    for cell in view.cells:
        rows = [v for v in view.of(view.values, cell) if math.isfinite(v.value)]
        metric, rest = clean(cell[0]), clean(", ".join(cell[1:]))
        yield by_group(
            f"{metric}: values",
            rest,
            metric,
            [Mark(v.model, v.protocol, v.value, v.low, v.high) for v in rows],
            view.protocols,
        )
        marks = [Mark(v.model, v.protocol, v.ratio, v.ratio_low, v.ratio_high) for v in rows if v.ratio is not None]
        yield by_group(f"{metric}: ratios to the best", rest, "ratio to the best", marks, view.protocols, line=1.0)


def _fold_charts(view: _View) -> Iterable[doc.Chart]:
    """Lines over the folds of every protocol that has several, for the first cell."""
    for name, found in view.comparison.results.items():
        if len(found.folds_) < FOLDS:
            continue
        labels = shown(fold.fold for fold in found.folds_)
        marks = [
            Mark(view.model[v.model], labels[v.fold], v.value, v.low, v.high)
            for v in found.values_
            if (v.metric, v.estimator, v.target) == view.first and math.isfinite(v.value)
        ]
        yield over_folds(
            view.protocol[name], clean(view.first[0]), clean(view.first[0]), list(labels.values()), marks, view.models
        )
