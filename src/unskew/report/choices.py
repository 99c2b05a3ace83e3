"""What a reader may pick on a page: one metric, one estimator. What is about others is hidden by the style sheet.

A page has no script. Every chart, table and row says by classes what it is about (``of-metric is-1f3a…``), and one rule
per value hides the others while its radio button is checked; where a browser does not know ``:has``, all are shown.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from unskew.report.document import Cell, Chart, Choice, Column, Table


def number_of(value: str) -> str:
    """A short name for a value, for use in a style sheet."""
    return f"{zlib.crc32(value.encode()):08x}"


def classes_of(found: Chart | Table) -> str:
    """The classes of a chart or a table."""
    return _classes(found.about)


def row_classes(row: Sequence[tuple[Column, str | Cell, str]]) -> str:
    """The classes of a row of a table."""
    return _classes((column.label, str(cell)) for column, cell, _ in row if column.pick).strip()


def rules(choices: Iterable[Choice]) -> str:
    """The style sheet of a page's choices."""
    return "\n".join(
        f"body:has(#{choice.name}-{number_of(value)}:checked) "
        f".of-{choice.name}:not(.is-{number_of(value)}) {{ display: none; }}"
        for choice in choices
        for value in choice.values
    )


def _classes(about: Iterable[tuple[str, str]]) -> str:
    return "".join(f" of-{name} is-{number_of(value)}" for name, value in about)
