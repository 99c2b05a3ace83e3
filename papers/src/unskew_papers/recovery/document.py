"""The document of a study: who recovers the truth, who names wrong models, and how sure that is."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from unskew.report import NAIVE, boxes, clean, colour, numbers, places, shown
from unskew.report import document as doc
from unskew_papers.recovery.result import DrawScore, Score, StudyResult, line_of

NARROW, WIDE = doc.ALWAYS, doc.WIDE
MEASURES = {
    "tau": ("Kendall's τ", NARROW),
    "spearman": ("Spearman's ρ", WIDE),
    "rmse": ("relative error", NARROW),
    "regret": ("regret", NARROW),
    "coverage": ("coverage", NARROW),
    "widened": ("widened", WIDE),
}
VERDICTS = {
    "right": ("right", NARROW),
    "wrong": ("wrong", NARROW),
    "depends": ("depends", NARROW),
    "undecided": ("undecided", NARROW),
    "alone_right": ("alone: right", WIDE),
    "alone_wrong": ("alone: wrong", WIDE),
}
SHARES = ("regret", "coverage", "widened", *VERDICTS)
MOST_FAILURES = 5


class Cell(NamedTuple):
    """A metric and a target."""

    metric: str
    target: str


def study_document(result: StudyResult) -> doc.Document:
    """What people look at."""
    view = _View(result)
    return doc.Document(
        title=doc.Sentence.plain(_title(view)),
        subtitle=clean(result.source),
        summary=(
            doc.Paragraph(_opening(view), "opening"),
            doc.Sentences(tuple(_said(view))),
            doc.Callout("Warnings", tuple(_warnings(view)), "warning"),
        ),
        body=(
            _section(
                "ranking",
                doc.Cards(tuple(_charts(view)), fit=True),
            ),
            _section(
                "scores",
                doc.Tables(tuple(_table(view, cell, MEASURES) for cell in view.cells), where=".table()"),
            ),
            _section(
                "verdicts",
                doc.Tables(tuple(_table(view, cell, VERDICTS) for cell in view.cells if view.judged(cell))),
            ),
            _section("comparisons", doc.on_page(_comparisons(view))),
            _section("truth", doc.on_page(*(_truth(view, cell) for cell in view.cells))),
            _section("trouble", doc.on_page(_failures(view), _missing(view))),
            doc.Section("glossary", "Glossary", (doc.Glossary(tuple(_texts()["glossary"].items())),)),
        ),
    )


def _section(anchor: str, *blocks: doc.Block) -> doc.Section:
    text = _texts()[anchor]
    return doc.Section(anchor, text["title"], blocks, text.get("lead", ""), text.get("menu", ""))


@cache
def _texts() -> dict[str, dict[str, str]]:
    """What never depends on the numbers: headings, leads, the glossary."""
    return tomllib.loads(files("unskew_papers.recovery").joinpath("texts.toml").read_text(encoding="utf-8"))


class _View:
    """A study with names that are safe and short."""

    def __init__(self, result: StudyResult) -> None:
        self.result = result
        self.several = len({row.question for row in result.draw_scores}) > 1
        lines = dict.fromkeys(line_of(row, self.several) for row in result.draw_scores)
        self.names = shown(lines)
        self.cells = list(dict.fromkeys(Cell(row.metric, row.target) for row in result.scores_))

    def line(self, row: DrawScore | Score) -> str:
        """What an estimator is called."""
        return self.names[line_of(row, self.several)]

    def scores(self, cell: Cell, measure: str) -> dict[str, Score]:
        """One measure of every estimator."""
        own = (s for s in self.result.scores_ if (s.metric, s.target, s.measure) == (*cell, measure))
        return {self.line(s): s for s in own}

    def judged(self, cell: Cell) -> bool:
        """Whether anything was said of pairs."""
        return any(math.isfinite(s.mean) for s in self.scores(cell, "right").values())


def _title(view: _View) -> str:
    if not view.cells:
        return "Nothing could be scored"
    cell = view.cells[0]
    found = {name: s for name, s in view.scores(cell, "tau").items() if math.isfinite(s.mean)}
    if not found:
        return "No order of the models could be compared with the truth"
    top = max(found, key=lambda name: found[name].mean)
    best = [name for name, s in found.items() if s.best]
    metric = clean(cell.metric)
    if len(found) == 1:
        return f"{metric}: {top} orders the models with τ {numbers.number(found[top].mean, 2)}"
    if not best:
        return f"{metric}: no estimator orders the models significantly better than another"
    if len(best) == 1:
        return f"{metric}: {best[0]} orders the models best"
    return f"{metric}: {', '.join(best)} order the models best, and equally well"


def _opening(view: _View) -> str:
    result = view.result
    truth = "known without error" if result.complete else "the average over pairs drawn at random, which errs, too"
    count = f"{len(result.models)} models on {len(result.draws)} draw{'s' * (len(result.draws) != 1)}"
    return f"{count}; the truth is {truth}."


def _said(view: _View) -> Iterable[doc.Sentence]:
    """Per cell who is best by τ, and who names a wrong model most often."""
    for cell in view.cells:
        tau = {name: s for name, s in view.scores(cell, "tau").items() if math.isfinite(s.mean)}
        if not tau:
            continue
        told = ", ".join(f"{name} {numbers.number(s.mean, 2)}" for name, s in tau.items())
        yield doc.Sentence.about(f"{clean(cell.metric)}, {clean(cell.target)}", f": mean τ {told}.", "note")
        wrong = {name: s for name, s in view.scores(cell, "wrong").items() if math.isfinite(s.mean)}
        if bad := [f"{name} {numbers.share(s.mean)}" for name, s in wrong.items() if s.mean > 0.0]:
            text = f": verdicts that name the wrong model, of truly different pairs: {', '.join(bad)}."
            yield doc.Sentence.about(f"{clean(cell.metric)}, {clean(cell.target)}", text, "warning")


def _warnings(view: _View) -> Iterable[str]:
    result = view.result
    if len(result.draws) < 2:
        yield "There is one draw only, so nothing is compared: give more seeds."
    elif not result.complete:
        yield (
            "Draws are splits of one log: how they vary says how much the split and the models' seeds matter, not how "
            "another log would differ."
        )
    if result.failures:
        models = dict.fromkeys(failure.model for failure in result.failures)
        named = ", ".join(clean(name) for name in list(models)[:MOST_FAILURES])
        fits = "1 fit" if len(result.failures) == 1 else f"{len(result.failures)} fits"
        yield f"{fits} failed ({named}{', …' if len(models) > MOST_FAILURES else ''}): see below."
    for lost in result.missing:
        what = clean(lost.question) + ("" if lost.estimator is None else f", {clean(lost.estimator)}")
        yield f"{what} gives nothing on {lost.draws} of {len(result.draws)} draws: {clean(lost.reason)}"
    yield from (clean(note) + "." for note in result.notes)


def _charts(view: _View) -> Iterable[doc.Chart]:
    for cell in view.cells:
        found: dict[str, list[float]] = {}
        estimators: dict[str, str] = {}
        for row in view.result.draw_scores:
            if (row.metric, row.target) == cell:
                found.setdefault(view.line(row), []).append(row.tau)
                estimators[view.line(row)] = row.estimator
        debiased = places({line: name for line, name in estimators.items() if name != "naive"})
        own = [colour(debiased[line]) if line in debiased else NAIVE for line in found]
        if any(math.isfinite(value) for values in found.values() for value in values):
            yield boxes(clean(cell.metric), clean(cell.target), "Kendall's τ", found, own)


def _table(view: _View, cell: Cell, measures: dict[str, tuple[str, range]]) -> doc.Table:
    lines = list(view.scores(cell, "tau"))
    scores = {measure: view.scores(cell, measure) for measure in measures}
    there = [m for m in measures if any(math.isfinite(s.mean) for s in scores[m].values())]
    rows = tuple((line, *(_number(m, scores[m][line]) for m in there)) for line in lines)
    heads = (
        doc.Column("estimator", "name"),
        *(doc.Column(measures[m][0], terminal=measures[m][1]) for m in there),
    )
    return doc.Table(clean(cell.metric), clean(cell.target), heads, rows)


def _number(measure: str, score: Score) -> str | doc.Cell:
    """The mean, of measures that are no shares with its interval; the best in bold."""
    text = numbers.share(score.mean) if measure in SHARES else numbers.number(score.mean, 2)
    if math.isfinite(score.low) and measure not in SHARES:
        text += f" {numbers.interval(score.low, score.high, 2)}"
    return doc.Cell(text, "best") if score.best else text


def _comparisons(view: _View) -> doc.Table:
    rows = tuple(
        (
            clean(f"{c.metric}, {c.target}"),
            {**MEASURES, **VERDICTS}[c.measure][0],
            f"{view.names[c.a]} − {view.names[c.b]}",
            numbers.number(c.difference, 4, sign=True),
            numbers.p_value(c.p),
            numbers.p_value(c.p_bonferroni),
            numbers.p_value(c.p_holm),
            numbers.p_value(c.p_paired),
        )
        for c in view.result.comparisons_
    )
    heads = doc.columns(("cell", "by", "difference of"), ("difference", "p", "Bonferroni", "Holm", "paired"))
    return doc.Table("Tests", "over draws", heads, rows)


def _truth(view: _View, cell: Cell) -> doc.Table:
    values: dict[str, list[float]] = {}
    errors: dict[str, list[float]] = {}
    for t in view.result.truths:
        if (t.metric, t.target) == cell:
            values.setdefault(t.model, []).append(t.value)
            errors.setdefault(t.model, []).append(t.se)
    names = shown(values)
    means = {model: sum(found) / len(found) for model, found in values.items()}
    order = sorted(means, key=lambda model: -means[model])
    rows = tuple(
        (names[model], numbers.number(means[model], 4), numbers.number(sum(errors[model]) / len(errors[model]), 4))
        for model in order
    )
    return doc.Table(clean(cell.metric), clean(cell.target), doc.columns(("model",), ("worth", "its error")), rows)


def _failures(view: _View) -> doc.Table:
    rows = tuple((clean(f.model), clean(f.draw), clean(f.error)) for f in view.result.failures)
    heads = (doc.Column("model", "name"), doc.Column("draw", "name"), doc.Column("error", "aside"))
    return doc.Table("Models that failed", "the JSON has their tracebacks", heads, rows)


def _missing(view: _View) -> doc.Table:
    rows = tuple(
        (clean(m.question), clean(m.estimator or ""), numbers.count(m.draws), clean(m.reason))
        for m in view.result.missing
    )
    names = (doc.Column("question", "name"), doc.Column("estimator", "name"), doc.Column("draws"))
    return doc.Table("What was refused", "", (*names, doc.Column("reason", "aside")), rows)
