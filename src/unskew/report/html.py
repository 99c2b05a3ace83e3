"""One self-contained page, and a small piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from unskew.report import charts, inputs, numbers, words
from unskew.report.glossary import TERMS
from unskew.report.marks import PATHS
from unskew.report.rows import EstimateRow, VerdictRow, estimate_rows, verdict_rows
from unskew.report.view import Facet, View, lower_is_better, unique
from unskew.result import Result, Weights

if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN = 3
# Whatever slipped into a page, the browser would run no script and load nothing; the icon is an empty one.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
NOTEBOOK_ROWS = 30


class Card(NamedTuple):
    """A chart with its name."""

    name: str
    brief: str
    note: str
    svg: Any


@dataclass(frozen=True)
class Block:
    """The tables of one facet."""

    name: str
    brief: str
    note: str
    verdict_note: str
    few_clicks: bool
    clipped: bool
    estimates: list[list[EstimateRow]]
    verdicts: list[list[VerdictRow]]


@dataclass(frozen=True)
class Segment:
    """Charts and tables of one segment."""

    name: str
    note: str
    forests: list[Card]
    blocks: list[Block]


def page(result: Result) -> str:
    """The whole result as one HTML page that loads nothing from anywhere."""
    charts.altair()
    view = View.of(result)
    whole = view.facets_of(view.whole)
    segments = [_segment(view, name) for name in view.segments if name != view.whole]
    context = {
        "title": words.title(view),
        "sentences": words.headline_sentences(view, brief=True),
        "basis": _basis(view),
        "debiased": view.debiased,
        "agreement": (said := words.agreement(view)),
        "disagree": said.startswith(words.NOT_ALL),
        "trust": words.trust(view),
        "warnings": view.result.warnings,
        "facts": _facts(view),
        "differences": [_fewer(view, facet, card) for facet, card in _drawn(view, whole, charts.differences)],
        "forests": cards(view, whole, charts.forest),
        "slopes": cards(view, whole, charts.slope),
        "weights": _weights(view),
        "segments": segments,
        "overview": _overview(view) if segments else [],
        "blocks": [_block(view, facet) for facet in whole],
        "promises": _promises(view),
        "inputs": inputs.entries(view.result.inputs),
        "clicks": inputs.bars(view.result.inputs.get("clicks_per_user")),
        "counted": inputs.counted(view.result.inputs.get("settings", {})),
        "legend": legend(view, view.estimators),
        "compared": legend(view, _compared(view)),
        "glossary": TERMS,
        "shown": SHOWN,
    }
    return rendered("page.html.j2", context | {"sections": _sections(context)})


def notebook(result: Result) -> str:
    """The verdicts in words and the estimates as a table, as a piece of HTML without scripts."""
    view = View.of(result)
    columns = ["model", "metric", "estimator", "target", "segment", "value", "interval", "ess"]
    if not view.segments:
        columns.remove("segment")
    rows = [[getattr(row, name) for name in columns] for facet in view.facets for row in estimate_rows(view, facet)]
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            title=words.title(view),
            sentences=words.headline_sentences(view, brief=True),
            agreement=words.agreement(view),
            trust=words.trust(view),
            warnings=list(view.result.warnings),
            columns=columns,
            rows=rows[:NOTEBOOK_ROWS],
            more=max(len(rows) - NOTEBOOK_ROWS, 0),
        )
    )


def rendered(template: str, context: dict[str, Any]) -> str:
    """A whole page, with its style, its content-security policy and our version."""
    css = markup(files("unskew.report").joinpath("page.css").read_text(encoding="utf-8"))
    told = {"css": css, "version": our_version(), "policy": POLICY}
    return environment().get_template(template).render(context | told)


@cache
def environment() -> Environment:
    """The templates of all our pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("unskew.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def markup(text: str) -> Any:
    """Text that is already markup: our own style sheet and our own charts, nothing else."""
    from markupsafe import Markup

    return Markup(text)


def cards(view: View, facets: Sequence[Facet], draw: Callable[[View, Facet], str]) -> list[Card]:
    """The charts of some facets, where there is something to draw."""
    return [card for _, card in _drawn(view, facets, draw)]


def plain_cards(*found: tuple[str, str, str]) -> list[Card]:
    """Charts with a name and a note each, where there is something to draw."""
    return [Card(name, "", note, markup(svg)) for name, note, svg in found if svg]


def _drawn(view: View, facets: Sequence[Facet], draw: Callable[[View, Facet], str]) -> list[tuple[Facet, Card]]:
    charted = [(facet, draw(view, facet)) for facet in facets]
    return [(facet, Card(facet.metric, facet.target, _note(view, facet), markup(svg))) for facet, svg in charted if svg]


def _fewer(view: View, facet: Facet, card: Card) -> Card:
    """Say so where a chart shows only some of the pairs."""
    shown, pairs = len(charts.charted_pairs(view, facet)), len(view.verdicts(facet, view.carrier(facet)))
    if shown == pairs:
        return card
    return card._replace(note=f"{card.note}; {shown} of {pairs} pairs, those of the best model: the table has all")


def _weights(view: View) -> list[Card]:
    there = [w for w in view.result.weights if w.segment == view.whole]
    drawn = ((w, charts.histogram(view, w)) for w in there if w.estimator in view.estimators)
    return [Card(w.estimator, w.target, _weights_note(view, w), markup(svg)) for w, svg in drawn if svg]


def _weights_note(view: View, w: Weights) -> str:
    cells = [
        e for e in view.result.estimates if (e.estimator, e.target, e.segment) == (w.estimator, w.target, w.segment)
    ]
    ess = numbers.spread((e.ess for e in cells), numbers.count)
    of = numbers.spread((e.interactions for e in cells), numbers.count)
    largest = numbers.spread((e.max_weight_share for e in cells), numbers.share)
    return f"{w.target}: ess {ess} of {of} interactions; the largest share is {largest}"


def _segment(view: View, name: str) -> Segment:
    facets = view.facets_of(name)
    users = numbers.spread((e.users for facet in facets for e in view.estimates(facet)), numbers.count)
    return Segment(
        name, f"{users} users", cards(view, facets, charts.forest), [_block(view, facet) for facet in facets]
    )


def _overview(view: View) -> list[Card]:
    """The headline's first pairs in every segment, on one chart."""
    facet = view.headline
    if facet is None:
        return []
    carrier = view.carrier(facet)
    pairs = unique((v.a, v.b) for v in view.verdicts(facet, carrier))[:SHOWN]
    everywhere = [facet, *(facet._replace(segment=name) for name in view.segments)]
    rows = [
        (f"{place.segment or 'all users'}" + (f": {v.a} − {v.b}" if len(pairs) > 1 else ""), v)
        for place in unique(everywhere)
        for v in view.verdicts(place, carrier)
        if (v.a, v.b) in pairs
    ]
    svg = charts.differences(view, facet, rows)
    name = f"{pairs[0][0]} − {pairs[0][1]}, by segment" if len(pairs) == 1 else "Differences by segment"
    return [Card(name, facet.target, f"{facet.metric}, {facet.target}, {carrier}", markup(svg))] if svg else []


def _block(view: View, facet: Facet) -> Block:
    propensities = unique(e.propensity for e in view.estimates(facet) if e.propensity is not None)
    note = ", ".join([facet.target, *(f"propensity {text}" for text in propensities)])
    together = max((view.comparisons(facet, name) for name in view.estimators), default=0)
    verdict_note = facet.target + (f", one level over {together} comparisons" if together > 1 else "")
    models = groupby(estimate_rows(view, facet), key=lambda row: row.model)
    both = groupby(verdict_rows(view, facet), key=lambda row: (row.a, row.b))
    return Block(
        name=facet.metric,
        brief=facet.target,
        note=note,
        verdict_note=verdict_note,
        few_clicks=any(e.few_clicks is not None for e in view.estimates(facet)),
        clipped=any(e.clipped_share > 0.0 for e in view.estimates(facet)),
        estimates=[list(rows) for _, rows in models],
        verdicts=[list(rows) for _, rows in both],
    )


def _promises(view: View) -> list[dict[str, str]]:
    """Which estimator claims what; the cells are named only where an estimator claims different things."""
    said: dict[tuple[str, str], list[str]] = {}
    for e in view.result.estimates:
        if e.promise:
            said.setdefault((e.estimator, e.promise), []).append(f"{e.metric} {e.target}")
    often = [estimator for estimator, _ in said]
    return [
        {
            "estimator": estimator,
            "promise": promise,
            "cells": ", ".join(unique(cells)) if often.count(estimator) > 1 else "all metrics and targets",
        }
        for (estimator, promise), cells in said.items()
    ]


def _note(view: View, facet: Facet) -> str:
    note = facet.target if facet.segment in (None, view.whole) else f"{facet.target}, {facet.segment}"
    return f"{note}; lower is better" if lower_is_better(facet.metric) else note


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


def _facts(view: View) -> list[tuple[str, str]]:
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
    return facts


def legend(view: View, names: Sequence[str]) -> list[dict[str, str]]:
    """The colour and the mark of each estimator."""
    return [
        {"name": name, "colour": charts.colour(view, name), "path": PATHS[charts.shape(view, name)]} for name in names
    ]


def _compared(view: View) -> list[str]:
    """The estimators that the charts of differences show: the one that counts in each facet, and naive."""
    shown = {name for facet in view.facets for name in (view.carrier(facet), view.naive(facet)) if name}
    return [name for name in view.estimators if name in shown]


def _sections(context: dict[str, Any]) -> list[tuple[str, str]]:
    known = (
        ("differences", "Who is ahead", "differences"),
        ("estimates", "Estimates", "forests"),
        ("change", "What changes", "slopes"),
        ("weights", "Weights", "weights"),
        ("segments", "Segments", "segments"),
        ("tables", "All numbers", "blocks"),
        ("inputs", "Inputs", "inputs"),
        ("glossary", "Glossary", "glossary"),
    )
    return [(anchor, name) for anchor, name, key in known if context[key]]


def our_version() -> str:
    """The version that a page was made by."""
    try:
        return version("unskew")
    except PackageNotFoundError:
        return ""
