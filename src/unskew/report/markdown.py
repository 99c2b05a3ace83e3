"""Tables for a paper as Markdown that every renderer reads: names are escaped, so that they cannot become markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unskew.report.paper import PaperCell, PaperTable

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_FIRST = re.compile(r"^([#+-]|\d+(?=[.)]))")  # what would make a line a heading or an entry of a list


def markdown(tables: Sequence[PaperTable]) -> str:
    """The tables below each other."""
    return "\n\n".join(map(_table, tables)) + "\n"


def _table(table: PaperTable) -> str:
    head = _line([escaped(text) for text in table.head])
    rule = _line(["---:" if numeric else "---" for numeric in table.numeric])
    rows = [_line([_cell(cell) for cell in row]) for row in table.rows]
    notes = [
        f"- {escaped(mark)} {escaped(text)}" if mark != "!" else f"- {escaped(text)}" for mark, text in table.notes
    ]
    lines = [_FIRST.sub(r"\\\1", escaped(table.caption)), "", *((head, rule, *rows) if table.rows else ()), "", *notes]
    return "\n".join(lines).rstrip()


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: PaperCell) -> str:
    text = escaped(cell.text)
    return (f"**{text}**" if cell.best and text else text) + (f"<sup>{escaped(cell.marks)}</sup>" if cell.marks else "")


def escaped(text: str) -> str:
    """A text on one line in which nothing is markup."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain)
