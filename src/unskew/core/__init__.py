"""What every part of the house may use, and what a package of others builds on; each name is loaded when it is used.

from unskew.core import Number, option, plain, ShownTable
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unskew.core.atomic import atomic_file, folder, together, write_json, write_text
    from unskew.core.bounds import COUNTLESS, Number, Whole, check, shown
    from unskew.core.memory import amount, available, require
    from unskew.core.parts import Flag, Words, option
    from unskew.core.showing import ShownTable
    from unskew.core.store import Progress, Store
    from unskew.core.text import plain, plain_path
    from unskew.core.workers import each

_NAMES = {
    "atomic": ("atomic_file", "folder", "together", "write_json", "write_text"),
    "bounds": ("COUNTLESS", "Number", "Whole", "check", "shown"),
    "memory": ("amount", "available", "require"),
    "parts": ("Flag", "Words", "option"),
    "showing": ("ShownTable",),
    "store": ("Progress", "Store"),
    "text": ("plain", "plain_path"),
    "workers": ("each",),
}

__all__ = [
    "COUNTLESS",
    "Flag",
    "Number",
    "Progress",
    "ShownTable",
    "Store",
    "Whole",
    "Words",
    "amount",
    "atomic_file",
    "available",
    "check",
    "each",
    "folder",
    "option",
    "plain",
    "plain_path",
    "require",
    "shown",
    "together",
    "write_json",
    "write_text",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"unskew.core.{module}"), name)
    raise AttributeError(f"module 'unskew.core' has no attribute '{name}'")
