"""Names of parts for the shell: Tab behind ``--estimator`` shows estimators, behind ``--metric`` metrics.

``unskew --install-completion`` teaches the shell to ask; the answers come from here. Options are known by the name of
their argument, so that every command that has one completes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

FAMILIES = {
    "estimator": "estimators",
    "metric": "metrics",
    "outcome": "outcome",
    "propensity": "propensity",
    "protocol": "split",
    "sample": "sampling",
    "split": "split",
    "splitter": "split",
    "strategy": "sampling",
}


def complete_parts(command: Callable[..., Any]) -> None:
    """Let the options of a command that take parts complete their names.

    Annotations are kept as they are evaluated here: evaluated again, they would be other objects.
    """
    command.__annotations__ = get_type_hints(command, include_extras=True)
    for name, hint in command.__annotations__.items():
        if name in FAMILIES:
            hint.__metadata__[0].autocompletion = names_of(FAMILIES[name])


def names_of(room: str) -> Callable[[str], list[str]]:
    """The parts of a room that begin with what was typed; metrics that need a length are given one."""

    def complete(incomplete: str) -> list[str]:
        from importlib import import_module

        family = import_module(f"unskew.{room}").FAMILY
        found = [name for name in sorted(family.names()) if name.startswith(incomplete.partition("@")[0])]
        if room == "metrics":
            found = [f"{name}@10" if getattr(family.class_of(name), "needs_k", False) else name for name in found]
        return [name for name in found if name.startswith(incomplete)]

    return complete
