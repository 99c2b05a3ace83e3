"""Sums that merge: what two sets of users bring, put together field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from typing import Any, Self


class Mergeable:
    """A dataclass of sums: fields are added, unless ``merged_by`` says otherwise; where one is missing, both are."""

    def merge(self, other: Self) -> Self:
        """The sums of both sets of users."""
        own: Any = self
        return type(self)(
            **{f.name: f.metadata.get("by", _added)(getattr(self, f.name), getattr(other, f.name)) for f in fields(own)}
        )


def added_counts(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    """Numbers by name, added; a name that one side lacks counts 0 there."""
    return {name: a.get(name, 0) + b.get(name, 0) for name in dict.fromkeys((*a, *b))}


def merged_by(how: Callable[[Any, Any], Any], default: Any = MISSING) -> Any:
    """A field that is merged by a function such as ``max``."""
    return field(default=default, metadata={"by": how})


def _added(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return None
    if isinstance(a, tuple):
        return tuple(_added(x, y) for x, y in zip(a, b, strict=True))
    return a.merge(b) if hasattr(a, "merge") else a + b
