"""``unskew audit``: what kind of log this is, and what can be estimated from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.console import err, out, progress
from unskew.cli.flags import audit_with_flags
from unskew.cli.options import (
    INPUTS,
    Columns,
    Feedback,
    Html,
    Invalid,
    Json,
    Quiet,
    Relevant,
    check_outputs,
    column_map,
    write_outputs,
)

CHECKS = "Propensities to check"


def audit(
    log: Annotated[Path, typer.Argument(help="The log: user, item[, value][, time][, policy][, propensity].")],
    propensity: Annotated[
        list[str] | None,
        typer.Option(
            help='Check it on held-out pairs: "popularity(gamma=1)", "logistic(features=outer)", known, … Repeat.',
            rich_help_panel=CHECKS,
        ),
    ] = None,
    mcar: Annotated[
        Path | None,
        typer.Option(help="A log of pairs drawn at random: user, item, value.", rich_help_panel=INPUTS),
    ] = None,
    user_features: Annotated[
        Path | None, typer.Option(help="Covariates: user and numbers, for logistic.", rich_help_panel=CHECKS)
    ] = None,
    item_features: Annotated[
        Path | None, typer.Option(help="Covariates: item and numbers, for logistic.", rich_help_panel=CHECKS)
    ] = None,
    columns: Columns = None,
    feedback: Feedback = None,
    relevant: Relevant = None,
    invalid: Invalid = "error",
    duplicates: Annotated[
        str, typer.Option(help="Of repeated pairs keep the first, last or max; or error.", rich_help_panel=INPUTS)
    ] = "first",
    json: Json = None,
    html: Html = None,
    quiet: Quiet = False,
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
    found = audit_with_flags(found)
    if not quiet:
        out.print(found)
    for path in write_outputs(found, json=json, html=html):
        if not quiet:
            err.print(f"wrote {path}", markup=False)
