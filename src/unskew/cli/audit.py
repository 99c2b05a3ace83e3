"""``unskew audit``: what kind of log this is, and what can be estimated from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import progress
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import INPUTS, File, Texts, check_outputs, column_map, option, show_and_write

CHECKS = "Propensities to check"
KINDS = '"popularity(gamma=1)", "logistic(features=outer)", known, …'


def audit(
    log: Annotated[Path, typer.Argument(help="The log: user, item[, value][, time][, policy][, propensity].")],
    propensity: Annotated[Texts, option(f"Check it on held-out pairs: {KINDS} Repeat.", CHECKS)] = None,
    mcar: Annotated[File, option("A log of pairs drawn at random: user, item, value.", INPUTS)] = None,
    user_features: Annotated[File, option("Covariates: user and numbers, for logistic.", CHECKS)] = None,
    item_features: Annotated[File, option("Covariates: item and numbers, for logistic.", CHECKS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[str, option("Of repeated pairs keep the first, last or max; or error.", INPUTS)] = "first",
    json: options.Json = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Say how skewed a log is, which estimators and targets it supports, and how far propensities can be trusted."""
    check_outputs(log, mcar, user_features, item_features, specs=propensity or [], json=json, html=html)
    mapped = column_map(columns)

    from unskew.auditing import audit as run

    with progress(quiet) as report:
        found = run(
            log,
            propensities=propensity or (),
            mcar=mcar,
            user_features=user_features,
            item_features=item_features,
            feedback=feedback,
            relevant=relevant,
            columns=mapped,
            invalid=invalid,  # type: ignore[arg-type]
            duplicates=duplicates,  # type: ignore[arg-type]
            progress=report,
        )
    show_and_write(messages_with_flags(found), quiet, json=json, html=html)
