"""Checks on propensities on the terminal: findings, scores, little reliability bars, clips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unskew.propensity.checks import Checks
from unskew.report import audit_rows
from unskew.report import checks_rows as rows
from unskew.report.sheets import MARKS, sheet_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

WIDER = 120  # propensities have long names


def checks_panel(checks: Checks) -> RenderableType:
    """The checks as something that rich prints, fitted to the width of the terminal."""
    return _Fitted(audit_rows.tidy(checks))


@dataclass(frozen=True)
class _Fitted:
    checks: Checks

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        body = Table.grid(padding=(0, 1))
        for level, name, text in rows.words(self.checks):
            mark, style = MARKS[level]
            body.add_row(Text(mark, style=style), Text(name, style="bold").append(f": {text}", style="not bold"))
        title = Text("Checks on propensities", style="bold")
        panel = Panel(body, title=title, title_align="left", box=box.ROUNDED, border_style="dim", padding=(0, 1))
        yield Group(panel, Text(), *spaced(sheets(self.checks, options.max_width)))


def sheets(checks: Checks, width: int) -> list[RenderableType]:
    """The tables, without the findings: the audit has these among its own."""
    return [sheet_table(s) for s in (rows.scores(checks, wide=width >= WIDER), rows.shapes(checks), rows.clips(checks))]


def spaced(parts: list[RenderableType]) -> list[RenderableType]:
    """An empty line after each part."""
    return [line for part in parts for line in (part, Text())]
