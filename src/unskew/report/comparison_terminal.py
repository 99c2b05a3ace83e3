"""A comparison of propensities on the terminal: what changes, how far estimates move, the estimates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unskew.evaluation.comparison import PropensityComparison
from unskew.report import comparison_rows as rows
from unskew.report.audit_rows import Sheet
from unskew.report.sheets import MARKS, sheet_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

WIDER = 130  # propensities have long names
SENTENCES = 8
ROWS = 36


def comparison_panel(comparison: PropensityComparison) -> RenderableType:
    """The comparison as something that rich prints, fitted to the width of the terminal."""
    return _Fitted(rows.tidy(comparison))


@dataclass(frozen=True)
class _Fitted:
    comparison: PropensityComparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.comparison
        parts = [_headline(found), *_shortened(rows.moves(found, wide=options.max_width >= WIDER), ".moves()")]
        view, left = rows.side_by_side(found), ROWS
        for facet in view.facets:
            sheet = rows.estimates(view, facet)
            if left > 0:
                parts.append(sheet_table(_once(replace(sheet, rows=sheet.rows[:left]))))
            left -= len(sheet.rows)
        if left < 0:
            parts.append(Text(f"… and {-left:,} more rows: .table() has them all", style="dim"))
        parts += _warnings(found)
        yield Group(*(line for part in parts for line in (part, Text())))


def _headline(comparison: PropensityComparison) -> RenderableType:
    said, body = rows.changes(comparison), Table.grid(padding=(0, 1))
    for level, subject, text in said[:SENTENCES] + rows.beside(comparison):
        mark, style = MARKS[level]
        body.add_row(Text(mark, style=style), Text(subject, style="bold").append(f" {text}", style="not bold"))
    if len(said) > SENTENCES:
        body.add_row("", Text(f"… and {len(said) - SENTENCES} more verdicts change: .changes() has them", style="dim"))
    return Panel(
        body,
        title=Text(rows.title(comparison), style="bold", overflow="ellipsis", no_wrap=True),
        title_align="left",
        box=box.ROUNDED,
        border_style="dim",
        padding=(0, 1),
    )


def _shortened(sheet: Sheet, method: str) -> list[RenderableType]:
    parts: list[RenderableType] = [sheet_table(replace(sheet, rows=sheet.rows[:ROWS]))]
    if len(sheet.rows) > ROWS:
        parts.append(Text(f"… and {len(sheet.rows) - ROWS:,} more rows: {method} has them all", style="dim"))
    return parts


def _once(sheet: Sheet) -> Sheet:
    """The name of a model stands once."""
    shown, last = [], ""
    for row in sheet.rows:
        shown.append(("" if row[0] == last else row[0], *row[1:]))
        last = row[0]
    return replace(sheet, rows=tuple(shown))


def _warnings(comparison: PropensityComparison) -> list[RenderableType]:
    found = rows.warnings(comparison)
    if not found:
        return []
    grid = Table.grid(padding=(0, 1))
    for warning in found:
        grid.add_row(Text("!", style="bold yellow"), Text(warning))
    return [Group(Text("Warnings", style="bold"), grid)]
