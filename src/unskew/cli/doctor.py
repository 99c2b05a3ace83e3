"""``unskew doctor``: what is installed, what is missing and how to get it, and what this machine offers."""

from __future__ import annotations

import json as to_json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.console import out
from unskew.cli.options import Text, option

if TYPE_CHECKING:
    from unskew.cli.environment import Finding

SIGNS = {True: "✓", False: "✗", None: "–"}


def doctor(
    json: Annotated[Text, option("Write it as JSON to a file; - is standard output.")] = None,
) -> None:
    """Say what is installed, what is missing and how to get it. Exit code 0: everything that is needed works."""
    from unskew.cli.environment import findings, works

    found = findings()
    fine = works(found)
    text = to_json.dumps({"works": fine, "findings": [asdict(each) for each in found]}, indent=1, ensure_ascii=False)
    if json == "-":
        typer.echo(text)
    else:
        if json is not None:
            _write(json, text)
        _show(found, fine)
    raise typer.Exit(0 if fine else 1)


def _show(found: list[Finding], fine: bool) -> None:
    """A table for each kind, and the verdict."""
    from rich.table import Table

    for kind, lines in groupby(found, key=lambda each: each.kind):
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for each in lines:
            remedy = "" if each.fine else each.remedy
            table.add_row(SIGNS[each.fine], each.name, "\n".join(filter(None, (each.found, remedy))))
        out.print(kind, table, "", sep="\n")
    out.print("Everything that is needed works." if fine else "Something that is needed is missing or broken: see ✗.")


def _write(path: str, text: str) -> None:
    from unskew.core.atomic import atomic_file

    with atomic_file(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
