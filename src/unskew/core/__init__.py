"""What every part of the house may use, and what a package of others builds on; each name is loaded when it is used.

from unskew.core import Number, option, plain, ShownTable
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unskew.core import strict_json
    from unskew.core.atomic import atomic_file, folder, together, write_json, write_text
    from unskew.core.bounds import COUNTLESS, Number, Whole, check, shown
    from unskew.core.doors import door
    from unskew.core.memory import amount, available, memory_limit, require
    from unskew.core.outputs import files_in, refuse_existing
    from unskew.core.parts import Flag, Words, option
    from unskew.core.showing import ShownTable
    from unskew.core.store import Progress, Store
    from unskew.core.text import plain, plain_path, storable
    from unskew.core.threads import Threads
    from unskew.core.workers import each

_NAMES = {
    "atomic": ("atomic_file", "folder", "together", "write_json", "write_text"),
    "bounds": ("COUNTLESS", "Number", "Whole", "check", "shown"),
    "doors": ("door",),
    "memory": ("amount", "available", "memory_limit", "require"),
    "outputs": ("files_in", "refuse_existing"),
    "parts": ("Flag", "Words", "option"),
    "showing": ("ShownTable",),
    "store": ("Progress", "Store"),
    "text": ("plain", "plain_path", "storable"),
    "threads": ("Threads",),
    "workers": ("each",),
}

__all__ = [
    "COUNTLESS",
    "Flag",
    "Number",
    "Progress",
    "ShownTable",
    "Store",
    "Threads",
    "Whole",
    "Words",
    "amount",
    "atomic_file",
    "available",
    "check",
    "door",
    "each",
    "files_in",
    "folder",
    "memory_limit",
    "option",
    "plain",
    "plain_path",
    "refuse_existing",
    "require",
    "shown",
    "storable",
    "strict_json",
    "together",
    "write_json",
    "write_text",
]


def __getattr__(name: str) -> object:
    from unskew.core.doors import door

    return door(__name__, _NAMES)(name)
