"""A number and its per cent sign stay apart and on one line: "84 %", never "84%" or broken between the two.

Tables and charts do not wrap their cells, and commands are left as they are: they are pasted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar

from unskew.report.document import Cards, Document, Span, Steps, Table, Tables

T = TypeVar("T")
NO_BREAK = "\u00a0"
_PERCENT = re.compile(r"(?<![\w.'=])(\d[\d.,]*)[ \u00a0]?%(?!\w)")  # not '5%', which is to be typed


def kept_together(document: Document, space: str = NO_BREAK) -> Document:
    """The document with this sign before each per cent sign of its texts."""
    texts = {name: _walk(getattr(document, name), f"{space}%") for name in ("title", "subtitle", "summary", "body")}
    return replace(document, **texts)


def _walk(value: T, sign: str) -> T:
    found: Any = value
    if isinstance(value, str):
        found = _PERCENT.sub(rf"\g<1>{sign}", value)
    elif isinstance(value, Span) and value.kind == "name":
        pass
    elif isinstance(value, Steps):
        found = Steps(value.title, tuple((_walk(text, sign), command) for text, command in value.items))
    elif isinstance(value, Cards | Table | Tables):
        pass
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        found = type(value)(*(_walk(item, sign) for item in value))
    elif type(value) in (tuple, list):
        found = type(value)(_walk(item, sign) for item in value)  # type: ignore[attr-defined, call-arg]
    return found  # type: ignore[no-any-return]
