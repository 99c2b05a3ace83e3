"""``unskew study``: how well estimators recover the truth, over many models and draws."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import out, progress
from unskew.cli.options import HOW, OUTPUT, File, check_outputs, option
from unskew.errors import InputError

CONFIG = "A TOML file with data, models and questions; --example prints one."
STORE = (
    "A folder that keeps finished fits and answers, so that a stopped run continues; by default in the user's cache."
)
WORKERS = "Processes at once; one per core by default, fewer where memory is short. Numbers do not depend on it."


def study(
    config: Annotated[Path | None, typer.Argument(help=CONFIG)] = None,
    example: Annotated[bool, option("Print a file to start from.", None, "--example")] = False,
    store: Annotated[File, option(STORE, HOW)] = None,
    workers: Annotated[int | None, option(WORKERS, HOW)] = None,
    memory: Annotated[
        str | None, option("Memory for all processes together (8GiB); by default what is free.", HOW)
    ] = None,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table of scores as CSV.", OUTPUT)] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure how well estimators recover the truth: many models, fitted once per draw, asked every question.

    The truth is a random sample beside a skewed log, or a simulated world's. A stopped run continues where it was.
    """
    from unskew.studies.recovery.config import EXAMPLE, read_config

    if example:
        out.print(EXAMPLE, end="", soft_wrap=True)
        return
    if config is None:
        raise InputError("no file is given: unskew study CONFIG.toml. unskew study --example prints one to start from.")
    outputs = {"json": json, "csv": csv, "html": html}
    check_outputs(config, **outputs)  # type: ignore[arg-type]

    from unskew.log.datasets.places import cache
    from unskew.studies.recovery import study as run

    with progress(quiet) as report:
        report("reading", 0, 1)
        asked = read_config(config)
        found = run(
            asked.source,
            asked.models,
            asked.questions,
            **asked.options,
            store=store or cache() / "studies" / "recovery",
            workers=workers or os.cpu_count() or 1,
            memory=None if memory is None else bytes_of(memory),
            progress=report,
        )
    options.show_and_write(found, quiet, **outputs)


def bytes_of(text: str) -> int:
    """``8GiB``, ``500 MB``, ``4000000000``."""
    units = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    units |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
    number = text.strip().rstrip("BbKkMmGgTtIi").strip()
    unit = text.strip()[len(number) :].strip().upper()
    try:
        size = float(number) * units[unit]
    except (ValueError, KeyError):
        raise InputError(f"--memory {text}: write a number with a unit, as in 8GiB or 500MB.") from None
    if not 0 < size < 2**62:
        raise InputError(f"--memory {text}: it must be more than nothing.")
    return int(size)
