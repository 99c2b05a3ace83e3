"""A table of texts on the terminal, and the marks of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from unskew.report.audit_rows import Sheet

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDE = 100
MARKS = {"warning": ("!", "bold yellow"), "note": ("·", "bold cyan"), "good": ("✓", "green")}


def sheet_table(sheet: Sheet) -> RenderableType:
    """A sheet under its name: words to the left, numbers to the right."""
    title = Text(sheet.name, style="bold").append(f"  {sheet.note}", style="dim not bold")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for place, name in enumerate(sheet.columns):
        words = place < sheet.names
        table.add_column(
            Text(name),
            justify="left" if words else "right",
            overflow="fold",
            no_wrap=not words,
            min_width=6 if words else 1,
        )
    for row in sheet.rows:
        table.add_row(*(Text(cell) for cell in row))
    return Group(title, table)
