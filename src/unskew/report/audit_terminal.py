"""An audit on the terminal: the findings, then the numbers with little bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unskew.auditing import Audit
from unskew.report import audit_rows as rows
from unskew.report import checks_terminal
from unskew.report.sheets import MARKS, WIDE, sheet_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


def audit_panel(audit: Audit) -> RenderableType:
    """The audit as something that rich prints, fitted to the width of the terminal."""
    return _Fitted(rows.tidy(audit))


@dataclass(frozen=True)
class _Fitted:
    audit: Audit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        audit, wide = self.audit, options.max_width >= WIDE
        parts: list[RenderableType] = [_findings(audit), sheet_table(rows.spreads(audit, wide=wide)), _bars(audit)]
        sheets = [rows.contrast(audit), *rows.policies(audit, wide=wide), rows.expected(audit), rows.widths(audit)]
        parts += [sheet_table(sheet) for sheet in sheets if sheet is not None]
        if audit.checks:
            parts += checks_terminal.sheets(audit.checks, options.max_width)
        parts += [*(_support(sheet) for sheet in rows.supports(audit)), _advice(audit, options.max_width)]
        yield Group(*(line for part in parts for line in (part, Text())))


def _findings(audit: Audit) -> RenderableType:
    body = Table.grid(padding=(0, 1))
    body.add_row("", Text(rows.said(audit.opening), style="bold"))
    body.add_row("", Text(" · ".join(f"{text} {name}" for name, text in rows.facts(audit)), style="dim"))
    for finding in audit.findings:
        mark, style = MARKS[finding.level]
        body.add_row(Text(mark, style=style), Text(rows.said(finding.text)))
    return Panel(
        body,
        title=Text(f"Audit of {audit.source}", style="bold", overflow="ellipsis", no_wrap=True),
        subtitle=Text(rows.reading(audit), style="dim"),
        title_align="left",
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="dim",
        padding=(0, 1),
    )


def _bars(audit: Audit) -> RenderableType:
    """Little bars for popularity, activity, values, time and propensities, each with its ends and a sentence."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, part in (("items", audit.items), ("users", audit.users)):
        grid.add_row(name, _spark(*rows.sizes(part), f"{name} by their number of rows"))
    grid.add_row("", Text(rows.exponent(audit)))
    if audit.values is not None:
        v = audit.values
        ends = (rows.level(v.minimum, v.minimum), rows.level(v.maximum, v.maximum))
        grid.add_row("values", _spark(ends, [level.rows for level in v.levels], rows.values(audit)))
        if audit.mcar is not None:
            grid.add_row(
                "MCAR", _spark(ends, [value.rows_mcar for value in audit.mcar.values], "the same values there")
            )
    if audit.time is not None:
        t = audit.time
        grid.add_row("time", _spark(rows.span(audit), [period.rows for period in t.periods], ""))
        grid.add_row("", Text(rows.time(audit)))
    if audit.propensity is not None:
        p = audit.propensity
        ends = (f"{p.minimum:.3g}", f"{p.maximum:.3g}")
        grid.add_row("propensity", _spark(ends, list(p.histogram.count), ""))
        grid.add_row("", Text(rows.propensity(audit)))
    return Group(Text("Shape", style="bold"), grid)


def _spark(ends: tuple[str, str], counts: list[int], said: str) -> Text:
    text = Text(f"{ends[0]} ", style="dim").append(rows.spark(counts), style="cyan not dim").append(f" {ends[1]}")
    return text.append(f"  {said}", style="not dim") if said else text


def _advice(audit: Audit, width: int) -> RenderableType:
    """What to do, with commands that can be copied."""
    grid = Table.grid(padding=(0, 1))
    for advice in audit.advice:
        grid.add_row(Text("→", style="bold cyan"), Text(rows.said(advice.text)))
        if advice.command is not None:
            grid.add_row("", Text(rows.command(advice.command, width - 3), style="cyan"))
    return Group(Text("What to do", style="bold"), grid)


def _support(sheet: rows.SupportSheet) -> RenderableType:
    title = Text("What this log supports", style="bold")
    title.append(f"  read as {sheet.reading}; {sheet.propensity} propensities; recall@10", style="dim not bold")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("estimator", overflow="fold")
    for target in sheet.targets:
        table.add_column(target, no_wrap=True)
    for name, marks in sheet.rows:
        cells = [Text("yes", style="green") if not mark else Text(f"no ({mark})", style="red") for mark in marks]
        table.add_row(Text(name), *cells)
    reasons = Table.grid(padding=(0, 1))
    for place, reason in enumerate(sheet.reasons, 1):
        reasons.add_row(Text(f"({place})", style="dim"), Text(reason, style="dim"))
    return Group(title, table, reasons)
