"""How do people ask? ``unskew audit``, ``unskew demo``, ``unskew evaluate``, ``unskew parts``, ``unskew sample``, …

Heavy parts are imported inside the commands, so that ``unskew --help`` is quick.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

import unskew
from unskew.cli.audit import audit
from unskew.cli.commands import OpenGroup, command_of
from unskew.cli.console import err, fail, nobody_reads, out, progress
from unskew.cli.cross_validate import cross_validate
from unskew.cli.data import app as data
from unskew.cli.demo import demo
from unskew.cli.doctor import doctor
from unskew.cli.evaluate import evaluate
from unskew.cli.examples import epilog
from unskew.cli.once import OnceCommand
from unskew.cli.options import (
    FOLDER,
    HOW,
    OUTPUT,
    STDOUT,
    File,
    Force,
    Html,
    Json,
    Quiet,
    QuietAlone,
    Texts,
    check_folder,
    check_outputs,
    keep_inputs,
    named,
    option,
    show_and_write,
    written,
)
from unskew.cli.parts import parts
from unskew.cli.plan import plan
from unskew.cli.policies import policy_impact
from unskew.cli.protocols import compare_protocols
from unskew.cli.sample import sample
from unskew.cli.simulate import app as simulate
from unskew.cli.split import split
from unskew.core.outputs import refuse_same, try_drawing, try_filling
from unskew.core.panics import hold_back_panics
from unskew.core.provenance import remember_command
from unskew.core.text import plain

__all__ = [
    "FOLDER",
    "HOW",
    "OUTPUT",
    "STDOUT",
    "File",
    "Force",
    "Html",
    "Json",
    "Quiet",
    "QuietAlone",
    "Texts",
    "check_folder",
    "check_outputs",
    "err",
    "keep_inputs",
    "named",
    "option",
    "out",
    "progress",
    "refuse_same",
    "show_and_write",
    "try_drawing",
    "try_filling",
    "written",
]

app = typer.Typer(
    name="unskew",
    cls=OpenGroup,
    help="Which recommender is really better, when the log only shows what the old one chose to show?",
    no_args_is_help=True,
    epilog=epilog(""),
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


for command in (
    audit, compare_protocols, cross_validate, demo, doctor, evaluate, parts, plan, policy_impact, sample, split,
):  # fmt: skip
    name = command.__name__.replace("_", "-")
    app.command(cls=OnceCommand, epilog=epilog(name))(command_of(command))
app.add_typer(data, name="data")
app.add_typer(simulate, name="simulate")


def main() -> None:
    """The command line's entry point: what may go wrong before a command begins and after it has ended."""
    _tame_streams()
    hold_back_panics()
    remember_command(["unskew", *sys.argv[1:]])
    warnings.formatwarning = lambda message, *place: f"{plain(message, 500)}\n"  # nobody needs the line of code
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except SystemExit:
        _drop_unwritten()
        raise
    except BrokenPipeError:
        nobody_reads()
    except OSError as error:  # a full disk behind > or |
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what could not be written is not tried again at the end
        fail(f"the output cannot be written: {error.strerror}.")
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer has no public class of its errors of usage
            raise
        _explain(getattr(error, "ctx", None), error.format_message())
    sys.exit(code)


def _drop_unwritten() -> None:
    """What could not be written, and was told, is not tried again when the process ends: that would change its code."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end


def _explain(context: Any, message: str) -> NoReturn:
    """An error of usage; without a message the help was shown already."""
    if not message:
        sys.exit(2)
    if context is not None:
        err.print(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n")
    fail(plain(message, 500), code="bad-usage")


def _tame_streams() -> None:
    """A stream that cannot show a character shows a question mark, and what is printed to a closed one is lost.

    So is what the error stream does not take (a full disk behind ``2>``, a reader who left): the result is the same.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        raw = io.BufferedWriter(_Forgiving(sys.stderr.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, sys.stderr.encoding, "replace", line_buffering=True)


class _Forgiving(io.FileIO):
    """A stream for which what cannot be written is written."""

    def write(self, data: Any) -> int:
        """All of it, or into the void."""
        try:
            return super().write(data) or 0
        except OSError:
            return len(data)
