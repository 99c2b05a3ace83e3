"""``unskew audit``: what kind of log this is, and what can be estimated from it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import options
from unskew.cli.console import progress
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, File, Text, Texts, check_outputs, column_map, option, show_and_write
from unskew.core.bounds import word
from unskew.core.errors import InputError

CHECKS = "Propensities to check"
KINDS = '"popularity(gamma=1)", "logistic(features=outer)", known, …'


def audit(
    log: Annotated[Path, typer.Argument(help=f"The log: {options.LOG}")],
    propensity: Annotated[Texts, option(f"Check it on held-out pairs: {KINDS} Repeat.", CHECKS)] = None,
    mcar: Annotated[File, option("A log of pairs drawn at random: user, item, value.", INPUTS)] = None,
    user_features: Annotated[File, option("Covariates: user and numbers, for logistic.", CHECKS)] = None,
    item_features: Annotated[File, option("Covariates: item and numbers, for logistic.", CHECKS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[str, option("Of repeated pairs keep first, last or max; or error.", INPUTS)] = "first",
    engine: Annotated[str, option("memory, or spark for Parquet of any size.", HOW)] = "memory",
    master: Annotated[Text, option("With --engine spark: local[2], spark://HOST:7077, yarn, …", HOW)] = None,
    json: options.Json = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Say how skewed a log is, which estimators and targets it supports, and how far propensities can be trusted."""
    check_outputs(log, mcar, user_features, item_features, specs=propensity or [], json=json, html=html)
    mapped = column_map(columns)

    from unskew.auditing import audit as in_memory

    run: Any = in_memory
    covariates = {"user_features": user_features, "item_features": item_features}
    word(engine, ("memory", "spark"), "--engine")
    if engine == "spark":
        run, covariates = _on_spark(master, covariates), {}
    elif master is not None:
        raise InputError("--master says where Spark runs: it goes with --engine spark.", code="conflicting-arguments")
    with progress(quiet) as report:
        found = run(
            log,
            propensities=propensity or (),
            mcar=mcar,
            **covariates,
            feedback=feedback,
            relevant=relevant,
            columns=mapped,
            invalid=invalid,
            duplicates=duplicates,
            progress=report,
        )
    show_and_write(messages_with_flags(found), quiet, json=json, html=html)


def _on_spark(master: str | None, covariates: dict[str, Path | None]) -> Any:
    """Audits by Spark; covariates serve checks of propensities, which are made in memory."""
    if any(covariates.values()):
        raise InputError(
            "--engine spark: covariates are for checks of propensities, which are made in memory: leave them out.",
            code="not-supported",
        )

    from unskew.cli.spark import audit_files

    return partial(audit_files, master=master)
