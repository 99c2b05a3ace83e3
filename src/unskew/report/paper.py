"""Tables for a paper: a caption that says what the numbers are, marked cells, and notes on what is doubtful.

Of a result one table: models by metrics, by the estimator that counts and for the target of the headline. The best
value is bold; a dagger says that a verdict, which holds for all pairs together, puts a model behind the best one, so
that two numbers without daggers are not told apart. A number with a reason to doubt it carries a letter, and a number
that was refused is a dash with one. Numbers have the digits that the terminal and the page show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unskew.core.notice import Notice, made_of
from unskew.inference.verdict import Outcome
from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.leaderboard import depends, ranked
from unskew.report.view import Facet, View, grouped, in_scenarios, unique
from unskew.report.words import AS_IT_IS, NOT_DEBIASED, limits, rows_of
from unskew.result import Estimate, LeaderboardRow, Result

BEHIND, DEPENDS = "†", "‡"
WIDTH = 140  # of a terminal that has room for as many columns as a page of paper
_FOLDERS = re.compile(r"(?<![\w/])(?:[A-Za-z]:|~|\.{1,2})?(?:[/\\][^\s/\\'\",;:)]+)*[/\\](?=[^\s/\\'\",;:)]+\.\w)")
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z'])")
_OPTION = re.compile(r"(?<![\w(])(?:--[a-z]|[a-z_]+=(?:…|['\"\[{\d]|True))")  # --share 0.3, share=0.3, train=…
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class PaperCell(NamedTuple):
    """A text, whether it is the best of its column, and its marks: daggers and letters of notes."""

    text: str
    best: bool = False
    marks: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A table with its caption; ``numeric`` says which columns hold numbers, and ``notes`` pairs marks with texts."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[PaperCell, ...], ...]
    numeric: tuple[bool, ...]
    notes: tuple[tuple[str, str], ...] = ()


@dataclass
class _Notes:
    """Reasons to doubt a number, each with a letter."""

    letters: dict[str, str] = field(default_factory=dict)

    def letter(self, text: str) -> str:
        """The letter of a reason; empty where there is none."""
        if not text:
            return ""
        return self.letters.setdefault(text, _letter(len(self.letters)))


def _letter(place: int) -> str:
    return _LETTERS[place] if place < len(_LETTERS) else f"{_LETTERS[place % len(_LETTERS)]}{place // len(_LETTERS)}"


def result_table(result: Result, about: str = "") -> PaperTable:
    """The table of a result; ``about`` says in the caption what the values are averages of."""
    view = View.of(result)
    if (first := view.headline) is None:
        return PaperTable(Notice("The result holds no estimates.", code="no-estimates"), ("model",), (), (False,))
    facets = _columns(view, first)
    orders = {facet: {row.model: row for row in ranked(view, facet)} for facet in facets}
    notes = _Notes()
    rows = tuple(
        (PaperCell(model), *(_cell(view, facet, orders[facet].get(model), notes) for facet in facets))
        for model in view.models
    )
    head = ("model", *(_label(view, facet, facets) for facet in facets))
    marked = "".join(cell.marks for row in rows for cell in row)
    said = [*_caption(view, facets, about, marked)]
    caption = made_of(" ".join(said), *said)
    told = [*((letter, text) for text, letter in notes.letters.items()), *(("!", text) for text in result_notes(view))]
    return PaperTable(caption, head, rows, (False, *(True for _ in facets)), tuple(told))


def _columns(view: View, first: Facet) -> list[Facet]:
    """A facet for each metric: for the target of the headline, or for the first that the metric has."""
    there = sorted(view.facets_of(view.whole), key=lambda facet: facet.target != first.target)
    found = {metric: next(facet for facet in there if facet.metric == metric) for metric in (f.metric for f in there)}
    return [found[metric] for metric in view.metrics if metric in found]


def result_notes(view: View) -> tuple[str, ...]:
    """What a reader should know besides: why nothing is debiased, and the warnings."""
    warnings = unique(text for warning in view.result.warnings if (text := _without_hints(warning)))
    return (*((AS_IT_IS,) if not view.debiased else ()), *warnings)


def _without_hints(warning: str) -> str:
    """A warning for readers who have neither the files nor the program: no folders, and no advice on options."""
    named = _FOLDERS.sub("", warning)
    return " ".join(sentence for sentence in _SENTENCES.split(named) if not _OPTION.search(sentence))


def _cell(view: View, facet: Facet, row: LeaderboardRow | None, notes: _Notes) -> PaperCell:
    if row is None:
        return PaperCell(numbers.DASH)
    carrier, places = view.carrier(facet), view.places(facet)
    e = next(e for e in view.estimates(facet, carrier) if e.model == row.model)
    mark = "" if row.in_best_group or row.place is None else BEHIND
    if depends(row.against_best):
        mark = DEPENDS
    text = numbers.number(e.value, places)
    if row.place is not None:
        known = limits(e, places)
        text += f" {known}" if known.startswith("[") or known == numbers.DASH else f" ({known})"
    return PaperCell(text, row.place == 1, mark + notes.letter(_doubt(view, facet, e, row)))


def _doubt(view: View, facet: Facet, e: Estimate, row: LeaderboardRow) -> str:
    """Why a value, or the verdict that its dagger tells, is doubtful."""
    if e.trust:
        return e.trust[0].upper() + e.trust[1:]
    tops = {other.model for other in ranked(view, facet) if other.place == 1}
    against = (v for v in view.verdicts(facet, view.carrier(facet)) if {v.a, v.b} - tops == {row.model})
    return next((v.trust for v in against if v.trust and Outcome(v.verdict).decided), "")


def _label(view: View, facet: Facet, facets: Sequence[Facet]) -> str:
    """The metric, with its estimator and target where columns have different ones."""
    carrier = view.carrier(facet)
    told = [carrier] * (len({view.carrier(each) for each in facets}) > 1)
    told += [facet.target] * (len({each.target for each in facets}) > 1)
    told += [NOT_DEBIASED.lower()] * (not view.standing(facet, carrier).debiased)
    return facet.metric + (f" ({', '.join(told)})" if told else "")


def _caption(view: View, facets: Sequence[Facet], about: str, marked: str) -> Iterator[str]:
    carriers = unique(view.carrier(facet) for facet in facets)
    cells = [e for facet in facets for e in view.estimates(facet, view.carrier(facet))]
    level = numbers.share(float(view.result.inputs.get("settings", {}).get("level", 0.95)))
    if not view.debiased:
        yield Notice(f"{NOT_DEBIASED}: scores on the log as it is.", code="not-debiased")
    propensities = unique(e.propensity for e in cells if e.propensity)
    by = f"{' and '.join(carriers)}, target {' and '.join(unique(facet.target for facet in facets))}"
    by += "".join(f", propensity {text}" for text in propensities)
    by += "".join(f", samples: {text}" for text in unique(e.sample for e in cells if e.sample))
    users = numbers.spread((e.users for e in cells), numbers.count)
    segment = f" in {facets[0].segment}" if facets[0].segment is not None else ""
    n = f"{rows_of(cells)} of {users} users"
    yield f"Estimates{segment}{about} with {level} intervals ({by}), from {n}."
    if any(map(in_scenarios, cells)):
        ranged = [f.metric for f in facets if any(map(in_scenarios, view.estimates(f, view.carrier(f))))]
        which = "" if len(ranged) == len(facets) else f" of {' and '.join(ranged)}"
        held = "their intervals" if which else "intervals"
        text = f"Values{which} are averages over all scenarios of what the log cannot tell, {held} hold in every one."
        yield Notice(text, code="averages", averaged=ranged)
    if lower := [facet.metric for facet in facets if view.traits(facet.metric).lower_is_better]:
        yield Notice(f"Of {' and '.join(lower)} lower is better.", code="lower-is-better", lower=lower)
    verdicts = [v for facet in facets for v in view.verdicts(facet, view.carrier(facet))]
    yield "Bold: the best value."
    if not verdicts:
        return
    given = _assumed(view, facets)
    together = max(view.comparisons(facet, view.carrier(facet)) for facet in facets)
    corrected = f" (p adjusted for {together} comparisons per metric)" if together > 1 else ""
    if BEHIND in marked:
        yield Notice(f"{BEHIND} behind the best one{given}{corrected}.", code="behind", comparisons=together)
    else:
        yield Notice(f"No model is shown to be behind the best one{given}{corrected}.", code="none-behind")
    if DEPENDS in marked:
        yield Notice(f"{DEPENDS} whether it is behind depends on what the log cannot tell.", code="depends")


def _assumed(view: View, facets: Sequence[Facet]) -> str:
    """What daggers rest on, with the metrics that it is about unless these are all."""
    said = grouped(
        (v.assumption, facet.metric)
        for facet in facets
        for v in view.verdicts(facet, view.carrier(facet))
        if v.assumption
    )
    told = [
        f"if {text}" if len(set(of)) == len(facets) else f"on {' and '.join(unique(of))} if {text}"
        for text, of in said.items()
    ]
    return f", {'; '.join(told)}" if told else ""


def document_tables(document: doc.Document) -> list[PaperTable]:
    """The tables of any other document, as a terminal shows them; what is said first are notes of the first one."""
    shown = doc.shown_in(doc.Medium.BRIEF, (*document.summary, *document.body))
    told = [text for block in shown for text in _said(block)]
    found: list[PaperTable] = []
    for block in shown:
        for table in (
            (block,) if isinstance(block, doc.Table) else block.tables if isinstance(block, doc.Tables) else ()
        ):
            notes = tuple((f"({n})", text) for n, text in enumerate(table.footnotes, 1))
            found.append(
                _document_table(document, table, notes if found else (*notes, *(("!", text) for text in told)))
            )
    return found or [PaperTable(f"{document.title}.", ("",), (), (False,), tuple(("!", text) for text in told))]


def _said(block: doc.Block) -> tuple[str, ...]:
    if isinstance(block, doc.Callout):
        return block.texts
    return tuple(map(str, block.items)) if isinstance(block, doc.Sentences) and not block.title else ()


def _document_table(document: doc.Document, table: doc.Table, notes: tuple[tuple[str, str], ...]) -> PaperTable:
    there = [place for place, column in enumerate(table.columns) if WIDTH in column.terminal]
    told = ", ".join(text for text in (*table.facet, table.note) if text)
    caption = f"{document.title}. {table.name}" + (f" ({told})." if told else ".")
    rows = tuple(tuple(_shown(row[place]) for place in there) for row in table.rows)
    numeric = tuple(table.columns[place].kind == "number" for place in there)
    return PaperTable(caption, tuple(table.columns[place].label for place in there), rows, numeric, notes)


def _shown(cell: str | doc.Cell) -> PaperCell:
    if isinstance(cell, str):
        return PaperCell(" ".join(cell.split()))
    marks = (f"({cell.note})" if cell.note else "") + "≠" * bool(cell.flag) + "?" * cell.doubt
    return PaperCell(" ".join(cell.text.split()), cell.tone == "best", marks)
