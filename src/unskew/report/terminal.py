"""Any document on a terminal: what is read first in a panel, then tables, then the warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from unskew.report import document as doc
from unskew.report.folded_names import broken, folded
from unskew.report.no_break import NO_BREAK, kept_together
from unskew.report.numbers import bars_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

JOINED = "\ue000"  # a no-break space while lines are wrapped: rich breaks at any space; of private use, so in no text
BORDER = 6  # corners, lines and blanks beside a title
ROWS = 36  # a screenful of tables that belong together
# Sentences tell a decided pair from the winner's side, so *worse* is as green as *better*.
MARKS = {
    "better": ("●", "green"), "worse": ("●", "green"), "ahead": ("●", "green"), "behind": ("●", "green"),
    "undecided": ("●", "yellow"), "depends": ("◐", "magenta"), "caution": ("●", "bold yellow"),
    "warning": ("!", "bold yellow"), "note": ("·", "bold cyan"), "good": ("✓", "green"),
    "agreement": ("=", "dim"), "disagreement": ("≠", "bold yellow"), "doubt": ("?", "bold cyan"),
    "input": ("·", "dim"), "refused": ("×", "bold"), "opening": ("", ""), "step": ("→", "bold cyan"),
    "order": ("·", "bold cyan"), "average": ("ø", "dim"),
}  # fmt: skip
STYLES = {"opening": "bold", "disagreement": "yellow", "input": "dim"}
CELLS = {
    "better": "green",
    "ahead": "green",
    "worse": "red",
    "behind": "red",
    "undecided": "yellow",
    "depends": "magenta",
    "best": "bold",
}
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")  # of a command line, with its quotes
SPANS = {"name": "bold", "flag": "bold yellow"}


def panel(document: doc.Document) -> RenderableType:
    """A document as something that rich prints, fitted to the width of the terminal."""
    return _Fitted(document)


@dataclass(frozen=True)
class _Fitted:
    document: doc.Document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, document = options.max_width, kept_together(self.document, JOINED)
        first = doc.shown_in(doc.Medium.BRIEF, document.summary)
        warnings = [block for block in first if isinstance(block, doc.Callout) and block.tone == "warning"]
        parts: list[RenderableType] = [_panel(document, [block for block in first if block not in warnings], width)]
        for block in doc.shown_in(doc.Medium.BRIEF, document.body):
            parts += _block(block, width)
        parts += [_titled(block.title, _grid(_lines(block))) for block in warnings]
        for piece in console.render(Group(*(line for part in parts for line in (part, Text()))), options):
            yield piece._replace(text=piece.text.replace(JOINED, NO_BREAK))


def _panel(document: doc.Document, blocks: Sequence[doc.Block], width: int) -> RenderableType:
    """A box with title and subtitle in its border, or on its first and last lines where the border is too short."""
    title = Text(document.panel or str(document.title), style="bold", no_wrap=True)
    content = _grid(line for block in blocks for line in _lines(block))
    fits = title.cell_len <= width - BORDER
    below = Text(document.subtitle, style="dim")
    in_border = below.cell_len <= width - BORDER
    head = [] if fits else [Text(title.plain, style="bold")]
    foot = [] if in_border else [below]
    return Panel(
        Group(*head, content, *foot),
        title=title if fits else None,
        subtitle=below if document.subtitle and in_border else None,
        title_align="left",
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="dim",
        padding=(0, 1),
    )


def _lines(block: doc.Block) -> list[tuple[Text, Text]]:
    """A mark and a text for each line."""
    if isinstance(block, doc.Sentences):
        lines = [_line(_sentence(sentence), sentence.tone) for sentence in block.items[: block.shown]]
        if (hidden := len(block.items) - block.shown) > 0:
            lines.append((Text(), Text(f"… and {hidden} {block.more}: {block.where}", style="dim")))
        return lines
    if isinstance(block, doc.Paragraph):
        return [_line(Text(block.text), block.role)]
    if isinstance(block, doc.Callout):
        return [_line(Text(text, style="italic" if block.tone == "doubt" else ""), block.tone) for text in block.texts]
    if isinstance(block, doc.Facts):
        return [(Text(), Text(" · ".join(f"{value} {name}" for name, value in block.items), style="dim"))]
    return []


def _line(text: Text, tone: str) -> tuple[Text, Text]:
    mark, style = MARKS.get(tone, ("●", "dim"))
    text.style = text.style or STYLES.get(tone, "")
    return Text(mark, style=style), text


def _sentence(sentence: doc.Sentence) -> Text:
    text = Text()
    for span in sentence.spans:
        text.append(span.text, style=SPANS.get(span.kind, ""))
    return text


def _grid(lines: Iterable[tuple[Text, Text]]) -> RichTable:
    """Marks and texts; a word that is longer than a line, such as a path, is folded, never cut."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row(*line)
    return grid


def _titled(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(title, style="bold"), body) if title else body


def _block(block: doc.Block, width: int) -> list[RenderableType]:
    if isinstance(block, doc.Sentences):
        return [_titled(block.title, _grid(_lines(block)))]
    if isinstance(block, doc.Paragraph):
        mark, style = MARKS[block.role]
        return [Text(f"{mark} {block.text}", style=STYLES.get(block.role, style))]
    if isinstance(block, doc.Table):
        return [_table(_heading("", block), [block], width)]
    if isinstance(block, doc.Tables):
        return _tables(block, width)
    if isinstance(block, doc.Sparks):
        return [_sparks(block)]
    return [_steps(block, width)] if isinstance(block, doc.Steps) else []


def _tables(block: doc.Tables, width: int) -> list[RenderableType]:
    """One table where there is room for the names of its facets, else one for each; no more than a screenful."""
    shown, left = [], ROWS
    for table in block.tables:
        if table.rows and left > 0:
            shown.append(replace(table, rows=table.rows[:left]))
            left -= len(table.rows)
    if block.facets and shown and width in doc.WIDE:
        parts: list[RenderableType] = [_table(Text(block.title, style="bold"), shown, width, block.facets)]
    else:
        parts = [_table(_heading(block.title, table), [table], width) for table in shown]
    hidden = sum(len(table.rows) for table in block.tables) - sum(len(table.rows) for table in shown)
    if hidden:
        parts.append(Text(f"… and {hidden:,} more rows: {block.where} has them all", style="dim"))
    return parts


def _heading(title: str, table: doc.Table) -> Text:
    note = ", ".join(text for text in table.facet if text) if title else table.note
    return Text(title or table.name, style="bold").append(f"  {note}", style="dim not bold")


def _table(title: Text, tables: Sequence[doc.Table], width: int, facets: Sequence[str] = ()) -> RenderableType:
    """Rows under one head, a line between tables; what repeats stands once, and so do the names of facets."""
    told = [place for place in range(len(facets)) if any(table.facet[place] for table in tables)]
    there = [place for place, column in enumerate(tables[0].columns) if width in column.terminal]
    once = [place for place in there if tables[0].columns[place].once]
    heads = [doc.Column(facets[place], "name") for place in told] + [tables[0].columns[place] for place in there]
    sections: list[list[list[Text]]] = []
    for table in tables:
        names = [Text(table.facet[place]) for place in told]
        sections.append([])
        for _, alike in groupby(table.rows, key=lambda row: [row[place] for place in once]):
            rows = list(alike)
            for number, row in enumerate(rows):
                cells = [_once(row[p], number, len(rows)) if p in once else _cell(row[p]) for p in there]
                sections[-1].append([*names, *cells])
                names = [Text()] * len(told)
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    body = [cells for section in sections for cells in section]
    widths = folded(heads, body, width)
    for place, head in enumerate(heads):
        _add(drawn, head, [cells[place] for cells in body], widths.get(place))
    for section in sections:
        for cells in section:
            drawn.add_row(
                *(broken(cell, widths[place]) if place in widths else cell for place, cell in enumerate(cells))
            )
        drawn.add_section()
    if tables[0].facet:
        drawn.title, drawn.title_justify = title, "left"
        return drawn
    notes = [(Text(f"({n})", style="dim"), Text(text, style="dim")) for n, text in enumerate(tables[0].footnotes, 1)]
    return Group(title, drawn, *([_grid(notes)] if notes else []))


def _add(drawn: RichTable, column: doc.Column, cells: Sequence[Text], width: int | None) -> None:
    """Names may be folded, and so are long labels of them; numbers and tags may not."""
    if column.kind == "name" and width is not None:
        drawn.add_column(broken(Text(column.label), width), overflow="fold", width=width)
    elif column.kind == "name":
        least = len(column.label) if 0 < len(column.label) < 10 else 6
        drawn.add_column(Text(column.label), overflow="fold", min_width=least)
    elif column.kind == "tag":
        drawn.add_column(Text(column.label), no_wrap=True, min_width=max(cell.cell_len for cell in cells))
    elif width is not None:
        drawn.add_column(broken(Text(column.label), width), justify="right", no_wrap=True)
    else:
        drawn.add_column(Text(column.label), justify="right", no_wrap=True)


def _cell(cell: str | doc.Cell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    text = Text(f"{cell.text} ({cell.note})" if cell.note else cell.text, style=CELLS.get(cell.tone, ""))
    text.append(" ≠" if cell.flag else "", style="bold yellow")
    return text.append(" ?" if cell.doubt else "", style="bold cyan")


def _once(cell: str | doc.Cell, place: int, size: int) -> Text:
    """The lines of a text, one beside each row of its group, or all beside the only one."""
    lines = str(cell).splitlines()
    return Text(str(cell) if size == 1 else lines[place] if place < len(lines) else "")


def _sparks(block: doc.Sparks) -> RenderableType:
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for spark in block.rows:
        text = Text(spark.text, style="not dim")
        if spark.counts:
            low, high = spark.ends
            bars = Text(f"{low} ", style="dim").append(bars_of(spark.counts), style="cyan not dim").append(f" {high}")
            text = bars.append(f"  {spark.text}", style="not dim") if spark.text else bars
        grid.add_row(spark.name, text)
    return _titled(block.title, grid)


def _steps(block: doc.Steps, width: int) -> RenderableType:
    parts: list[RenderableType] = []
    for text, command in block.items:
        parts.append(_grid([_line(Text(text), "step")]))
        if command is not None:
            parts.append(_Command(wrapped(command, width - 3)))
    return _titled(block.title, Group(*parts))


@dataclass(frozen=True)
class _Command:
    """Lines to be pasted, indented. What is longer than the terminal is left to it to wrap, so that it can be copied
    whole; a console that would cut it (``crops``, as rich's do by themselves) gets it folded."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = not getattr(console, "crops", True)
        for line in self.text.splitlines():
            yield Text(f"  {line}", style="cyan", no_wrap=whole, overflow="ignore" if whole else "fold")


def wrapped(command: str, width: int) -> str:
    """A command on several lines that can be pasted: broken before options, with backslashes.

    An option that is longer than a line is broken before its value, and a value that is longer stands alone, whole.
    """
    lines = [""]
    for option in re.split(r" (?=--)", command):
        for place, word in enumerate([option] if len(option) + 4 <= width else _WORD.findall(option)):
            if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
                lines.append(f"{'    ' if place else '  '}{word}")
            else:
                lines[-1] += f" {word}" if lines[-1] else word
    return ("\n" if command.startswith("us.") else " \\\n").join(lines)  # inside brackets Python needs no backslash
