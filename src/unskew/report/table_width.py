"""How wide a table must be to stand as a table; on narrower pages each of its rows becomes a block of its own.

A page has no script that could measure its tables, so widths are estimated from the characters in their cells, a little
too large rather than too small. ``tests/report/test_layout.py`` holds the estimates against a browser.
"""

from __future__ import annotations

from unskew.report.document import Cell, Column, Table

WIDTHS = range(280, 1101, 20)  # tables beyond the last one are always blocks
SIGN, HEAD_SIGN = 8.4, 7.6  # pixels of a character in a cell, and in a heading
PADDING, EDGES = 20, 14
TEXT = 232  # what sentences take at least; they wrap
NAME = 24  # characters of a name that may wrap at its spaces


def width_of(table: Table) -> int:
    """The least of ``WIDTHS`` at which a table fits, or 0 where none does."""
    shown = [place for place, column in enumerate(table.columns) if column.page]
    needed = EDGES + sum(_column(table.columns[n], [row[n] for row in table.rows]) for n in shown)
    return next((width for width in WIDTHS if width >= needed), 0)


def _column(column: Column, cells: list[str | Cell]) -> float:
    head = HEAD_SIGN * max(map(len, column.label.split()), default=0)
    if column.kind in ("text", "aside"):
        body = min(_longest(cells), TEXT)
    elif column.kind == "name":
        whole = _longest(cells)
        words = max((len(word) for cell in cells for word in _text(cell).split()), default=0) * SIGN
        body = max(words, min(whole, NAME * SIGN))
    else:
        body = _longest(cells)
    return PADDING + max(head, body)


def _longest(cells: list[str | Cell]) -> float:
    return max((len(_text(cell)) for cell in cells), default=0) * SIGN


def _text(cell: str | Cell) -> str:
    """A cell with the marks that stand beside it."""
    if isinstance(cell, str):
        return cell
    differs = f" ≠ {cell.differs}  " if cell.flag else ""
    return f"{cell.text}  {differs}" + (f" ({cell.note})" if cell.note else "")
