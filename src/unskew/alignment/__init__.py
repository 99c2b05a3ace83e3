"""Bring logs, lists and predictions into one vocabulary of users and items, and write down what happens on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.core.doors import door

if TYPE_CHECKING:
    from unskew.alignment.sources import as_log

__all__ = [
    "as_log",
]

__getattr__ = door(
    __name__,
    {
        "sources": ("as_log",),
    },
)
