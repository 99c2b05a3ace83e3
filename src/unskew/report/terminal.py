"""The terminal: the verdicts in words, the estimates, the verdicts as a table, the warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unskew.report import words
from unskew.report.rows import EstimateRow, VerdictRow, estimate_rows, verdict_rows
from unskew.report.view import View
from unskew.result import Result

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

Row = EstimateRow | VerdictRow
Rows = Sequence[Row]

WIDE = 100
NARROW = 72  # below it there is no room for tipping points
SENTENCES = 6
ROWS = 36
_FACET = {"metric", "target", "segment"}
_ONCE = {"model", "a", "b"}
STYLES = {"better": "green", "ahead": "green", "worse": "red", "behind": "red", "undecided": "yellow"}


def panel(result: Result) -> RenderableType:
    """The result as something that rich prints, fitted to the width of the terminal."""
    return _Fitted(View.of(result))


@dataclass(frozen=True)
class _Fitted:
    view: View

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide, narrow = options.max_width >= WIDE, options.max_width < NARROW
        view = self.view
        tables = [*_estimates(view, wide), *_verdicts(view, wide, narrow)]
        parts = [_headline(view), *tables, *_inputs(view), *_warnings(view)]
        yield Group(*(line for part in parts for line in (part, Text())))


def _headline(view: View) -> RenderableType:
    said = words.headline_sentences(view, brief=True)
    body = Table.grid(padding=(0, 1))
    for sentence in said[:SENTENCES]:
        style = STYLES.get(_colour(sentence), "dim") if view.debiased else "bold yellow"
        body.add_row(Text("●", style=style), _sentence(sentence))
    if len(said) > SENTENCES:
        body.add_row("", Text(f"… and {len(said) - SENTENCES} more", style="dim"))
    if said_by_others := words.agreement(view):
        differ = said_by_others.startswith(words.NOT_ALL)
        mark, style = ("≠", "yellow") if differ else ("=", "")
        body.add_row(Text(mark, style="bold yellow" if differ else "dim"), Text(said_by_others, style=style))
    for text in words.trust(view):
        body.add_row(Text("?", style="bold cyan"), Text(text, style="italic"))
    facet = view.headline
    basis = f"{view.carrier(facet)}, {facet.target}" if facet else ""
    title = str(words.title(view)) if len(said) > 1 or not view.debiased else "Verdict"
    return Panel(
        body,
        title=Text(title, style="bold", overflow="ellipsis", no_wrap=True),
        subtitle=Text(basis, style="dim", overflow="ellipsis", no_wrap=True),
        title_align="left",
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="dim",
        padding=(0, 1),
    )


def _colour(sentence: words.Sentence) -> str:
    """Sentences tell a decided pair from the winner's side, so *worse* is as green as *better*."""
    return {"worse": "better", "behind": "ahead"}.get(sentence.verdict, sentence.verdict)


def _sentence(sentence: words.Sentence) -> Text:
    text = Text()
    for part in sentence.parts:
        text.append(part.text, style={"name": "bold", "flag": "bold yellow"}.get(part.kind, ""))
    return text


def _estimates(view: View, wide: bool) -> list[RenderableType]:
    names = ["model", "estimator"]
    figures = {"value": "value", "interval": "interval", "ess": "ess"}
    figures |= {"hits": "hits", "largest": "largest share"} if wide else {}
    figures |= {"never": "never shown"} if any((e.unsupported or 0.0) > 0.0 for e in view.result.estimates) else {}
    figures |= {"clipped": "clipped"} if any(e.clipped_share > 0.0 for e in view.result.estimates) else {}
    figures |= {"users": "users"} if wide else {}
    return _tables("Estimates", [estimate_rows(view, facet) for facet in view.facets], names, figures, ".table()", wide)


def _verdicts(view: View, wide: bool, narrow: bool) -> list[RenderableType]:
    names = ["a", "b", "estimator"] if wide else ["pair", "estimator"]
    figures = {"difference": "difference" if wide else "diff.", "interval": "interval"}
    figures |= {"adjusted": "p adj."} if wide else {}
    figures |= {"verdict": "verdict"}
    figures |= {} if narrow else {"tipping_low": "Γ, low"}
    rows = [verdict_rows(view, facet) for facet in view.facets]
    parts = _tables("Verdicts", rows, names, figures, ".verdicts()", wide)
    if any(row.flag for facet in rows for row in facet):
        parts.append(Text("≠ naive says something else", style="yellow"))
    return parts + _doubts([row for facet in rows for row in facet][:ROWS])


def _doubts(rows: Rows) -> list[RenderableType]:
    """Why pairs are undecided, or what makes their verdicts doubtful: each reason once, with the rows it is about."""
    said: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if isinstance(row, VerdictRow) and row.trust:
            where = ", ".join(text for text in (f"{row.a} − {row.b}", row.metric, row.target, row.segment) if text)
            said.setdefault(row.trust, {}).setdefault(where, []).append(row.estimator)
    if not said:
        return []
    grid = Table.grid(padding=(0, 1))
    for text, places in list(said.items())[:SENTENCES]:
        cells = [f"{where}, {' and '.join(names)}" for where, names in places.items()]
        more = f" and {len(cells) - 2} more" if len(cells) > 2 else ""
        grid.add_row(Text("?", style="bold cyan"), Text(f"{'; '.join(cells[:2])}{more}: {text}"))
    if len(said) > SENTENCES:
        grid.add_row("", Text(f"… and {len(said) - SENTENCES} more reasons: column trust of .verdicts()", style="dim"))
    return [grid]


def _tables(
    title: str, facets: Sequence[Rows], names: list[str], figures: dict[str, str], method: str, wide: bool
) -> list[RenderableType]:
    """One table where there is room for the names of metric and target, else one per metric and target."""
    shown, left = [], ROWS
    for rows in facets:
        if rows and left > 0:
            shown.append(rows[:left])
            left -= len(rows)
    parts: list[RenderableType] = []
    if wide and shown:
        facet_names = ["metric", "target"] + ["segment"] * any(row.segment for rows in shown for row in rows)
        parts = [_table(Text(title, style="bold"), shown, [*facet_names, *names], figures)]
    elif shown:
        parts = [_table(_heading(title, rows[0]), [rows], names, figures) for rows in shown]
    hidden = sum(len(rows) for rows in facets) - sum(len(rows) for rows in shown)
    if hidden:
        parts.append(Text(f"… and {hidden:,} more rows: {method} has them all", style="dim"))
    return parts


def _table(title: Text, facets: Sequence[Rows], names: list[str], figures: dict[str, str]) -> Table:
    """Rows in groups of one model or pair, whose name stands once; a line between facets."""
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    for name in names:
        table.add_column(name, overflow="fold", min_width=min(len(name), 9))
    for key, label in figures.items():
        marked = max(_cell(row, key, 0, 1).cell_len for rows in facets for row in rows) if key == "verdict" else None
        table.add_column(label, justify="left" if marked else "right", no_wrap=True, min_width=marked)
    for rows in facets:
        first = True
        for _, alike in groupby(rows, key=_who):
            group: list[Row] = list(alike)
            for place, row in enumerate(group):
                cells = {name: _cell(row, name, place, len(group)) for name in (*names, *figures)}
                table.add_row(*(Text() if name in _FACET and not first else cell for name, cell in cells.items()))
                first = False
        table.add_section()
    return table


def _cell(row: Row, name: str, place: int, size: int) -> Text:
    if name == "pair":
        lines = [row.a, f"− {row.b}"] if isinstance(row, VerdictRow) else []
        return Text("\n".join(lines) if size == 1 else lines[place] if place < 2 else "")
    text = getattr(row, name)
    if name == "verdict":
        mark = " ≠" if isinstance(row, VerdictRow) and row.flag else ""
        doubt = " ?" if isinstance(row, VerdictRow) and row.trust else ""
        return Text(text, style=STYLES.get(text, "")).append(mark, style="bold yellow").append(doubt, style="bold cyan")
    return Text("" if place and name in _ONCE else text.replace("< ", "<") if name == "adjusted" else text)


def _who(row: Row) -> tuple[str, ...]:
    return (row.model,) if isinstance(row, EstimateRow) else (row.a, row.b)


def _heading(title: str, row: Row) -> Text:
    facet = ", ".join(text for text in (row.metric, row.target, row.segment) if text)
    return Text(title, style="bold").append(f"  {facet}", style="dim not bold")


def _inputs(view: View) -> list[RenderableType]:
    """What was read and what was dropped, a line per input; and what was refused."""
    grid = Table.grid(padding=(0, 1))
    for line in words.read(view):
        grid.add_row(Text("·", style="dim"), Text(line, style="dim"))
    for line in words.refused(view)[:SENTENCES]:
        grid.add_row(Text("×", style="bold"), Text(line))
    return [Group(Text("Inputs", style="bold"), grid)] if grid.row_count else []


def _warnings(view: View) -> list[RenderableType]:
    if not view.result.warnings:
        return []
    grid = Table.grid(padding=(0, 1))
    for warning in view.result.warnings:
        grid.add_row(Text("!", style="bold yellow"), Text(warning))
    return [Group(Text("Warnings", style="bold"), grid)]
