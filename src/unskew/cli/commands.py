"""Commands that installed packages bring: entry points of the group ``unskew.commands``, open to anybody.

    [project.entry-points."unskew.commands"]
    study = "my_package.commands:study"                  # unskew study
    "simulate.shop" = "my_package.commands:shop"         # unskew simulate shop

Each names a function as typer takes them, with the options of ``unskew.cli``. It is loaded when it is asked for, or
listed; what it raises is shown as errors of our own commands are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from unskew.cli.anonymous import with_anonymous
from unskew.cli.completion import complete_parts
from unskew.cli.console import fail, guarded
from unskew.cli.examples import epilog_of
from unskew.cli.once import OnceCommand, OnceGroup
from unskew.core.errors import InputError
from unskew.core.text import plain

GROUP = "unskew.commands"
PAPERS = {"reproduce", "study", "simulate shop-over-time"}  # what the package unskew-papers brings


class OpenGroup(TyperGroup):
    """Commands of ours, and those of installed packages."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return sorted({*super().list_commands(ctx), *brought(self._place(ctx))})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with this name; a package is loaded only if it brings it."""
        if (ours := super().get_command(ctx, cmd_name)) is not None:
            return ours
        place = self._place(ctx)
        if (entry := brought(place).get(cmd_name)) is not None:
            return _command(cmd_name, _loaded(entry))
        if f"{place} {cmd_name}".strip() in PAPERS:
            _not_installed(f"{place} {cmd_name}".strip())
        return None

    def _place(self, ctx: Any) -> str:
        """Below which command this group is: nothing for ``unskew`` itself."""
        return "" if ctx.parent is None else str(self.name)


class OpenOnceGroup(OpenGroup, OnceGroup):
    """The same, with options that are given once."""


@cache
def brought(place: str = "") -> dict[str, EntryPoint]:
    """The commands that installed packages bring below a command of ours."""
    lead = f"{place}." if place else ""
    found = {entry.name.removeprefix(lead): entry for entry in entry_points(group=GROUP) if entry.name.startswith(lead)}
    return {name: entry for name, entry in found.items() if "." not in name}


def command_of(function: Callable[..., None]) -> Callable[..., None]:
    """A command as all of ours are: names of parts complete, pages may be anonymous, errors are one panel."""
    complete_parts(function)
    return guarded(with_anonymous(function))


def _command(name: str, function: Callable[..., None]) -> Any:
    app = typer.Typer(rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False)
    told = epilog_of(getattr(function, "examples", ()))
    app.command(name, cls=OnceCommand, epilog=told)(command_of(function))
    return typer.main.get_command(app)


def _loaded(entry: EntryPoint) -> Callable[..., None]:
    try:
        function: Callable[..., None] = entry.load()
    except Exception as problem:
        error = InputError(
            f"the package behind the command '{plain(entry.name)}' ({plain(entry.value)}) cannot be loaded: "
            f"{plain(problem, 200)}.\nRepair or uninstall it.",
            code="broken-entry-point",
        )
        fail(str(error), code=error.code)
    return function


def _not_installed(name: str) -> NoReturn:
    fail(f"unskew {name} comes with the package unskew-papers: pip install unskew-papers", code="missing-extra")
