"""The recorded calls, as data: themes of named calls. ``"@shop.test"`` is a table of a world (``worlds.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.golden import (
    calls_conversions,
    calls_designs,
    calls_folds,
    calls_implicit,
    calls_parts,
    calls_ratings,
    calls_refusals,
)
from tests.golden.adapter import Found
from tests.golden.adapter import call as ask
from tests.golden.worlds import table

Calls = Mapping[str, Mapping[str, Any]]
THEMES: Mapping[str, Calls] = {
    "implicit": calls_implicit.CALLS,
    "conversions": calls_conversions.CALLS,
    "ratings": calls_ratings.CALLS,
    "designs": calls_designs.CALLS,
    "folds": calls_folds.CALLS,
    "parts": calls_parts.CALLS,
    "refusals": calls_refusals.CALLS,
}


def given(value: Any) -> Any:
    """Arguments with their tables."""
    if isinstance(value, str) and value.startswith("@"):
        return table(value[1:])
    if isinstance(value, Mapping):
        return {name: given(item) for name, item in value.items()}
    return [given(item) for item in value] if isinstance(value, list | tuple) else value


def run(call: Mapping[str, Any], **more: Any) -> Found:
    """What a call gives."""
    return ask(**given({**call, **more}))
