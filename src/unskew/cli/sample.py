"""``unskew sample``: a fairer test set, as a file that works with any tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import out as console
from unskew.cli.console import progress
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import (
    HOW,
    INPUTS,
    OUTPUT,
    File,
    check_outputs,
    column_map,
    option,
    piped,
    size_of,
    write_outputs,
    written,
)
from unskew.core.atomic import together
from unskew.core.outputs import refuse_same, try_writing
from unskew.core.text import plain_path

STRATEGIES = "full, reg, skew, wtd, wtd_h, 'weighted(user_power=1, item_power=1)', …"


def sample(
    log: Annotated[Path, typer.Argument(help="The log: user, item[, time] and any other columns.")],
    output: Annotated[Path, option("The sample: .parquet or .csv.", OUTPUT, "--out", "-o")],
    train: Annotated[File, option("The training log, on which users and items are counted.", INPUTS)] = None,
    mcar: Annotated[File, option("A log of pairs drawn at random: the target of wtd.", INPUTS)] = None,
    strategy: Annotated[str, option(f"How rows are drawn: {STRATEGIES}", HOW)] = "wtd_h",
    size: Annotated[str | None, option("A share of the rows (0.5), or how many (1000).", HOW)] = None,
    seed: Annotated[int, option("Seed of the sample.", HOW)] = 0,
    columns: options.Columns = None,
    json: options.Json = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Draw a test set whose users and items are less skewed, and say how skewed it still is."""
    check_outputs(log, train, mcar, json=json, html=html)
    try_writing(output)
    files = (("--out", output), ("--json", None if piped(json) else json), ("--html", html))
    refuse_same([(f"{name} {plain_path(path)}", path) for name, path in files if path is not None], [])

    from unskew.sampling import sample_file

    with together():
        with progress(quiet) as report:
            found = sample_file(
                log,
                output,
                strategy,
                train=train,
                size=size_of("--size", size),
                seed=seed,
                mcar=mcar,
                columns=column_map(columns),
                progress=report,
            )
        found = messages_with_flags(found)
        write_outputs(found, json=json, html=html)
    if not (quiet or piped(json)):
        console.print(found)
    written([path for _, path in files if path is not None], quiet)
