"""JSON as we read it back: hostile nesting, repeated names and endless numbers are plain errors."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """The content, or a ``ValueError`` that says what is wrong with the text."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found
