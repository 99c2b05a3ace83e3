"""Names in tables that are too wide for a terminal: broken between words, inside one only where nothing else is left.

Words end at blanks and before brackets: ``popularity(gamma=1)`` becomes ``popularity`` and ``(gamma=1)``. Where there
is no room for whole words, they may also be broken behind ``_ - . / , = :``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.text import Text

from unskew.report.document import Column

WORDS = re.compile(r"\(?[^\s(]*\s*")
PARTS = re.compile(r"[^\s(_./,=:-]*[(_./,=:-]*\s*")
GAP = 2  # blanks between columns


def folded(columns: Sequence[Column], rows: Sequence[Sequence[Text]], room: int) -> Mapping[int, int]:
    """The widths of the columns that must be narrower than their texts; none where everything fits.

    Headings of numbers are folded first, which costs a line for the whole table, then the widest of the names.
    """
    cells = [[row[place] for row in rows] for place in range(len(columns))]
    heads = [Text(column.label) for column in columns]
    widths = [max(text.cell_len for text in (head, *own)) for head, own in zip(heads, cells, strict=True)]
    room -= GAP * len(columns) - 1
    changed: dict[int, int] = {}
    for place, column in enumerate(columns):
        if sum(widths) > room and column.kind not in ("name", "tag"):
            least = max(_longest(WORDS, heads[place]), *(cell.cell_len for cell in cells[place]), 0)
            if least < widths[place]:
                widths[place] = changed[place] = max(least, widths[place] - (sum(widths) - room))
    names = [place for place, column in enumerate(columns) if column.kind == "name"]
    for pattern in (WORDS, PARTS):
        least_of = {place: max(_longest(pattern, text) for text in (heads[place], *cells[place])) for place in names}
        while sum(widths) > room:
            place = max(names, key=lambda n: widths[n] - least_of[n], default=-1)
            if place < 0 or widths[place] <= least_of[place]:
                break
            widths[place] -= 1
            changed[place] = widths[place]
    return changed if sum(widths) <= room else {n: w for n, w in changed.items() if n not in names}


def broken(text: Text, width: int) -> Text:
    """A text with line breaks between its words, or inside words that are wider than the column."""
    pieces = [match.end() for match in WORDS.finditer(text.plain) if match[0]]
    ends, start = [], 0
    for place, end in enumerate(pieces):
        if _width(text, start, end) <= width:
            continue
        previous = pieces[place - 1] if place else 0
        if previous > start:
            ends.append(previous)
            start = previous
        for part in PARTS.finditer(text.plain, start, end):
            if part[0] and start < part.start() and _width(text, start, part.end()) > width:
                ends.append(part.start())
                start = part.start()
    lines = list(text.divide(ends))
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines) if ends else text


def _width(text: Text, start: int, end: int) -> int:
    return Text(text.plain[start:end].rstrip()).cell_len


def _longest(pattern: re.Pattern[str], text: Text) -> int:
    return max((Text(match[0].rstrip()).cell_len for match in pattern.finditer(text.plain)), default=0)
