"""How do people ask? ``unskew audit``, ``unskew demo``, ``unskew evaluate``, ``unskew simulate``.

Heavy parts are imported inside the commands, so that ``unskew --help`` is quick.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import unskew
from unskew.cli.audit import audit
from unskew.cli.console import guarded
from unskew.cli.data import app as data
from unskew.cli.demo import demo
from unskew.cli.evaluate import evaluate
from unskew.cli.reproduce import reproduce
from unskew.cli.simulate import app as simulate

app = typer.Typer(
    name="unskew",
    help="Which recommender is really better, when the log only shows what the old one chose to show?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"unskew {unskew.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Which recommender is really better, when the log only shows what the old one chose to show?"""


for command in (audit, demo, evaluate, reproduce):
    app.command()(guarded(command))
app.add_typer(data, name="data")
app.add_typer(simulate, name="simulate")


def main() -> None:
    """The command line's entry point; a terminal that cannot show a character gets a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
