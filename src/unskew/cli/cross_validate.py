"""``unskew cross-validate``: fit models fold by fold, and say which is better over all folds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import folds, options
from unskew.cli.console import err
from unskew.cli.evaluate import COVARIATES, OUTCOMES
from unskew.cli.options import HOW, INPUTS, OUTPUT, WHAT, File, Text, Texts, option
from unskew.cli.split import SPLITTERS
from unskew.core.errors import InputError
from unskew.core.text import plain_path

ESTIMATORS = 'By default naive, and exposure_path without propensities, snips with them; "gs(strata=5)", ips, … Repeat.'
STORE = "Folder that keeps finished folds for the next run; by default in the user's cache."


def cross_validate(
    log: Annotated[Path, typer.Argument(help=f"All interactions: {options.LOG}")],
    split: Annotated[str, option(f"How to split: {SPLITTERS}", HOW)],
    model: folds.Models = None,
    items: Annotated[File, option("The catalogue: item, every one that could be recommended.", INPUTS)] = None,
    mcar: Annotated[File, option("A log of pairs drawn at random, for naive_bayes.", INPUTS)] = None,
    user_features: Annotated[File, option(f"Covariates: user and {COVARIATES}", INPUTS)] = None,
    item_features: Annotated[File, option(f"Covariates: item and {COVARIATES}", INPUTS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    candidates: folds.Candidates = None,
    invalid: options.Invalid = "error",
    duplicates: folds.Duplicates = None,
    metric: folds.Metrics = None,
    estimator: Annotated[Texts, option(ESTIMATORS, WHAT)] = None,
    propensity: folds.Propensity = None,
    outcome: Annotated[Text, option(OUTCOMES, WHAT)] = None,
    in_sample: Annotated[
        bool, option("Fit the outcome model without cross-fitting (as saito20).", HOW, "--in-sample")
    ] = False,
    target: folds.Targets = None,
    refused: Annotated[str, option("What the log cannot support: error, or skip and list it.", WHAT)] = "error",
    level: Annotated[float, option("Level of intervals and verdicts, 0.5 to 0.9999.", HOW)] = 0.95,
    interval: Annotated[str, option("Kind of interval: normal or bootstrap.", HOW)] = "normal",
    replicates: Annotated[int, option("Bootstrap replicates, 50 to 100,000.", HOW)] = 1000,
    seed: Annotated[int, option("Seed of the bootstrap.", HOW)] = 0,
    workers: folds.Workers = None,
    store: Annotated[File, option(STORE, HOW)] = None,
    no_store: Annotated[bool, option("Keep no finished folds.", HOW, "--no-store")] = False,
    json: options.Json = None,
    csv: folds.Csv = None,
    parquet: Annotated[File, option("Write the table as Parquet.", OUTPUT)] = None,
    html: options.Html = None,
    require: options.Require = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit models on every fold of a log, and say which is better over all folds."""
    given = dict(locals())
    given["store"] = kept_in = _store(store, given.pop("no_store"))
    code = folds.judge(_run, given, left=True)
    if not (quiet or no_store):
        err.print(f"finished folds are kept in {kept_in}", soft_wrap=True)
    raise typer.Exit(code)


def _run() -> Callable[..., Any]:
    from unskew.cross_validation.run import cross_validate as run

    return run


def _store(folder: Path | None, keeps_nothing: bool) -> Path | None:
    if keeps_nothing:
        if folder is not None:
            raise InputError(
                f"--store {plain_path(folder)} and --no-store contradict each other: give one of them.",
                code="conflicting-arguments",
            )
        return None
    if folder is None:
        from unskew.log.datasets.places import cache

        return cache() / "folds"
    return folder
