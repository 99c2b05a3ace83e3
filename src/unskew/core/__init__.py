"""What every part of the house may use, and what a package of others builds on; each name is loaded when it is used.

from unskew.core import Number, option, plain, ShownTable
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unskew.core.atomic import folder, together, write_json, write_text
    from unskew.core.bounds import COUNTLESS, SHARE, Number, Whole, shown
    from unskew.core.errors import InputError, MissingExtraError, RefusedError, UnskewError
    from unskew.core.memory import amount, available
    from unskew.core.parts import Flag, Words, option
    from unskew.core.showing import Shown, ShownTable
    from unskew.core.text import plain, plain_path

_NAMES = {
    "atomic": ("folder", "together", "write_json", "write_text"),
    "bounds": ("COUNTLESS", "SHARE", "Number", "Whole", "shown"),
    "errors": ("InputError", "MissingExtraError", "RefusedError", "UnskewError"),
    "memory": ("amount", "available"),
    "parts": ("Flag", "Words", "option"),
    "text": ("plain", "plain_path"),
    "showing": ("Shown", "ShownTable"),
}

__all__ = [
    "COUNTLESS",
    "SHARE",
    "Flag",
    "InputError",
    "MissingExtraError",
    "Number",
    "RefusedError",
    "Shown",
    "ShownTable",
    "UnskewError",
    "Whole",
    "Words",
    "amount",
    "available",
    "folder",
    "option",
    "plain",
    "plain_path",
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
