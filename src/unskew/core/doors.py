"""The door of a package: which names it has for others, each loaded from its module when it is first used.

NAMES = {"power": ("NORMAL",)}
__getattr__ = door(__name__, NAMES)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def door(package: str, names: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package with these names, by module."""

    def found(name: str) -> object:
        for module, inside in names.items():
            if name in inside:
                return getattr(import_module(f"{package}.{module}"), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return found
