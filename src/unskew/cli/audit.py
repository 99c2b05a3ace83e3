"""``unskew audit``: what kind of log this is, and what can be estimated from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.console import err, out, progress
from unskew.cli.options import check_outputs, column_map

INPUTS, CHECKS, OUTPUT = "Inputs", "Propensities to check", "Output"


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
    columns: Annotated[
        str | None, typer.Option(help="Our column names = yours: user=customer_id,item=sku.", rich_help_panel=INPUTS)
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option(help="What a row says: implicit, conversions or ratings.", rich_help_panel=INPUTS),
    ] = None,
    relevant: Annotated[
        str | None, typer.Option(help="Threshold on the value, such as '>=4'.", rich_help_panel=INPUTS)
    ] = None,
    invalid: Annotated[
        str, typer.Option(help="Wrong rows: error or drop (counted).", rich_help_panel=INPUTS)
    ] = "error",
    duplicates: Annotated[
        str, typer.Option(help="Of repeated pairs keep the first, last or max; or error.", rich_help_panel=INPUTS)
    ] = "first",
    json: Annotated[Path | None, typer.Option(help="Write everything as JSON.", rich_help_panel=OUTPUT)] = None,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page.", rich_help_panel=OUTPUT)] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Say how skewed a log is, which estimators and targets it supports, and how far propensities can be trusted."""
    check_outputs(log, mcar, user_features, item_features, json=json, html=html)
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
    if not quiet:
        out.print(found)
    for path, write in ((json, found.to_json), (html, found.to_html)):
        if path is not None:
            write(path)
            if not quiet:
                err.print(f"wrote {path}")
