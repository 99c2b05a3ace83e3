"""``unskew study``: how well estimators recover the truth, over many models and draws."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unskew import InputError
from unskew.cli import (
    HOW,
    OUTPUT,
    File,
    Html,
    Json,
    Quiet,
    Texts,
    check_outputs,
    keep_inputs,
    option,
    out,
    progress,
    show_and_write,
)

CONFIG = "A TOML file with data, models and questions; --example prints one."
STORE = (
    "A folder that keeps finished fits and answers, so that a stopped run continues; by default in the user's cache."
)
MODULES = 'A module that the file may take classes from (class = "module:Class"); its code is run. Repeat.'
WORKERS = "Processes at once; one per core by default, fewer where memory is short. Numbers do not depend on it."


def study(
    config: Annotated[Path | None, typer.Argument(help=CONFIG)] = None,
    example: Annotated[bool, option("Print a file to start from.", None, "--example")] = False,
    store: Annotated[File, option(STORE, HOW)] = None,
    workers: Annotated[int | None, option(WORKERS, HOW)] = None,
    memory: Annotated[
        str | None, option("Memory for all processes together (8GiB); by default what is free.", HOW)
    ] = None,
    module: Annotated[Texts, option(MODULES, HOW)] = None,
    json: Json = None,
    csv: Annotated[File, option("Write the table of scores as CSV.", OUTPUT)] = None,
    html: Html = None,
    quiet: Quiet = False,
) -> None:
    """Measure how well estimators recover the truth: many models, fitted once per draw, asked every question.

    The truth is a random sample beside a skewed log, or a simulated world's. A stopped run continues where it was.
    """
    from unskew_papers.recovery.config import EXAMPLE, read_config

    if example:
        out.print(EXAMPLE, end="", soft_wrap=True)
        return
    if config is None:
        raise InputError(
            "no file is given: unskew study CONFIG.toml. unskew study --example prints one to start from.",
            code="missing-argument",
        )
    outputs = {"json": json, "csv": csv, "html": html}
    check_outputs(config, **outputs)  # type: ignore[arg-type]

    from unskew.log.datasets import cache
    from unskew_papers.recovery import study as run

    with progress(quiet) as report:
        report("reading", 0, 1)
        asked = read_config(config, module or [])
        keep_inputs(asked.inputs, **outputs)
        found = run(
            asked.source,
            asked.models,
            asked.questions,
            **asked.options,
            store=store or cache() / "studies" / "recovery",
            workers=workers if workers is not None else os.cpu_count() or 1,
            memory=memory,
            progress=report,
        )
    show_and_write(found, quiet, **outputs)
