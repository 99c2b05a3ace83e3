"""Whose model is this? Answered by the classes that it comes from, so that no other library is imported to ask."""

from __future__ import annotations

from typing import Any


def comes_from(model: Any, library: str, name: str) -> bool:
    """Whether a class of this name in this library is among the ancestors of the model's class."""
    return any(
        ancestor.__name__ == name and ancestor.__module__.partition(".")[0] == library
        for ancestor in type(model).__mro__
    )
