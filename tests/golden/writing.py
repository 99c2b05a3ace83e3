"""Short ways to write calls down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Call = dict[str, Any]


def lists(world: str, *names: str) -> dict[str, str]:
    """Models of a world by their names."""
    return {name: f"@{world}.{name}" for name in names}


def grid(what: str, base: Mapping[str, Any], option: str, values: Mapping[str, Any] | list[Any]) -> dict[str, Call]:
    """A call for every value of one option; of several options where a value is a dictionary of them."""
    named = values if isinstance(values, Mapping) else {str(value): value for value in values}
    wrap = option in ("estimators", "metrics", "target")
    return {
        f"{what}, {name}": {**base, **(value if isinstance(value, Mapping) else {option: [value] if wrap else value})}
        for name, value in named.items()
    }


def each(what: str, base: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]) -> dict[str, Call]:
    """A call for every set of further options."""
    return {f"{what}, {name}": {**base, **more} for name, more in options.items()}
