"""``unskew parts``: every metric, estimator, propensity, … and its options, read off what the parts declare.

What other packages register is listed too. ``docs/parts.md`` is this page without them (``python docs/parts.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.console import out
from unskew.core.errors import InputError
from unskew.core.text import plain

if TYPE_CHECKING:
    from unskew.core.parts import Family, Option

ROOMS = ("metrics", "estimators", "propensity", "outcome", "models", "split", "sampling")


def parts(
    name: Annotated[str | None, typer.Argument(help="Only this part, or this kind: gs, propensity.")] = None,
) -> None:
    """List metrics, estimators, propensities, outcome models, recommenders, splitters, samplers and their options."""
    from rich.markdown import Markdown

    text = "\n".join(page(name))
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        print(text)


def page(only: str | None = None, *, installed: bool = True) -> Iterator[str]:
    """The reference as lines of Markdown.

    Args:
        only: one part or kind by its name.
        installed: with the parts of other packages.
    """
    families = {room: _family(room) for room in ROOMS}
    known = {each: [*(family.names() if installed else family.built_in)] for each, family in families.items()}
    if only is not None and only not in known and not any(only in names for names in known.values()):
        raise InputError(
            f"there is neither a part nor a kind of parts called '{plain(only)}'. Kinds: {', '.join(ROOMS)}.",
            code="unknown-name",
            name=only,
        )
    for room, names in known.items():
        chosen = [name for name in sorted(names) if only in (None, room, name)]
        if chosen:
            yield f"## {room}\n"
        for name in chosen:
            yield from _part(families[room].class_of(name))


def _family(room: str) -> Family[Any]:
    from importlib import import_module

    family: Family[Any] = import_module(f"unskew.{room}").FAMILY
    return family


def _part(part: Any) -> Iterator[str]:
    """Its name, what it is, and a table of its options."""
    from unskew.core.parts import options_of

    first = (part.__doc__ or "").partition("\n")[0].replace("``", "`")
    yield f"### {part.name}\n\n{first}\n"
    rows = [_option(entry, rule, needed=rule.cut and part.needs_k) for entry, rule in options_of(part)]
    if rows:
        yield "\n".join(["| option | default | may be | what it is |", "|---|---|---|---|", *rows]) + "\n"


def _option(entry: Field[Any], rule: Option, *, needed: bool) -> str:
    from unskew.core.spec import show

    default = entry.default if entry.default_factory is MISSING else entry.default_factory()
    shown = "needed" if needed or default is MISSING else "–" if default is None else f"`{show(default)}`"
    name = f"@{entry.name}" if rule.cut else entry.name
    return f"| `{name}` | {shown} | {rule.kind} | {rule.help} |"
